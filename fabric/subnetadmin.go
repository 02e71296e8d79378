package fabric

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// RecordOptions are the [ReadRecords] options.
type RecordOptions struct {
	To      umad.Target   // subnet administration; the zero value: the local port's subnet administration
	SMKey   mad.Key       // 0: as an untrusted client, for which M_Keys are 0
	Timeout time.Duration // for each table; 0: 30 s

	// Lean omits port and switch records: the fabric then has only nodes and links.
	Lean bool
}

// Discover reads the records, with the options. It is a [Discoverer] in place of a scan.
// Scan options do not apply.
func (o RecordOptions) Discover(ctx context.Context, c *umad.Client, _ DiscoverOptions) (*Fabric, error) {
	return ReadRecords(ctx, c, o)
}

// errClipped is the error for a table in a single packet.
var errClipped = errors.New("the reply is a single packet: records may be missing")

// ReadRecords reads a fabric from subnet administration, with a request for each record
// kind: nodes, ports, switches and links (InfiniBand Architecture, Volume 1, 15.2.5).
// The fabric is in the state that the subnet manager knows. It has neither NVIDIA's
// ExtendedPortInfo nor attributes for ports without a LID.
//
// Records that contradict others are in the fabric's conflicts.
func ReadRecords(ctx context.Context, c *umad.Client, o RecordOptions) (*Fabric, error) {
	t := tables{client: c, opts: o}
	r := recordSet{local: c.Local()}
	err := errors.Join(read(ctx, &t, &r.nodes), read(ctx, &t, &r.links))
	if err == nil && !o.Lean {
		err = errors.Join(read(ctx, &t, &r.ports), read(ctx, &t, &r.switches))
	}
	if err == nil && len(r.nodes) == 0 {
		err = errors.New("got no NodeRecord")
	}
	if err != nil {
		return nil, fmt.Errorf("query subnet administration: %w", err)
	}
	f := r.assemble()
	f.Failures = append(f.Failures, t.failures...)
	f.Stats = c.Stats()
	return f, nil
}

// tables requests record tables.
type tables struct {
	client   *umad.Client
	opts     RecordOptions
	failures []Failure
	failed   bool
}

// read requests all records of a kind, unless a request has failed before.
func read[T any, R interface {
	*T
	mad.Attribute
}](ctx context.Context, t *tables, all *[]T) error {
	if t.failed {
		return nil
	}
	kind := R(new(T))
	table, err := t.client.GetTable(ctx, &umad.TableRequest{To: t.opts.To, Match: kind, SMKey: t.opts.SMKey, Timeout: t.opts.Timeout})
	if err == nil {
		if table.Clipped {
			t.failures = append(t.failures, Failure{LID: t.opts.To.LID, Attr: kind.Spec().ID, Err: fmt.Errorf("%s: %w", mad.AttributeName(kind), errClipped)})
		}
		*all, err = umad.Records[T, R](table)
	}
	t.failed = err != nil
	return err
}

// A recordSet is a subnet's records.
type recordSet struct {
	nodes    []mad.NodeRecord
	ports    []mad.PortInfoRecord
	switches []mad.SwitchInfoRecord
	links    []mad.LinkRecord
	local    umad.PortAttr

	byGUID    map[ib.GUID][]*Node
	order     []*Node
	ends      map[ib.LID]*Port // by base LID: the ports with a LID, port 0 on switches
	conflicts []Conflict
}

// assemble makes the fabric.
func (r *recordSet) assemble() *Fabric {
	r.byGUID, r.ends = map[ib.GUID][]*Node{}, map[ib.LID]*Port{}
	for i := range r.nodes {
		r.addNode(&r.nodes[i])
	}
	r.addPorts()
	r.addSwitches()
	r.addLinks()
	start := r.start()
	f := Assemble(r.order, start)
	f.Conflicts = append(f.Conflicts, r.conflicts...)
	f.noExtendedPortInfo = true
	return f
}

func (r *recordSet) conflict(guid ib.GUID, port uint8, format string, args ...any) {
	r.conflicts = append(r.conflicts, Conflict{guid, port, "subnet administration: " + fmt.Sprintf(format, args...)})
}

// addNode adds a NodeRecord's port. There is a record for each switch, and a record for
// each port on another node.
func (r *recordSet) addNode(record *mad.NodeRecord) {
	p := r.port(record)
	switch other := r.ends[record.LID]; {
	case record.LID == 0:
		r.conflict(p.Node.GUID, p.Number, "port %d of %v has LID 0", p.Number, p.Node.GUID)
	case other == nil:
		r.ends[record.LID] = p
	case other != p:
		r.conflict(p.Node.GUID, p.Number, "port %d of %v has LID %d, as %v has", p.Number, p.Node.GUID, record.LID, other.Node.GUID)
	}
}

// port returns a NodeRecord's port, and adds its node if it is new.
func (r *recordSet) port(record *mad.NodeRecord) *Port {
	info := &record.NodeInfo
	number := info.LocalPort
	if info.IsSwitch() {
		number = 0
	}
	for _, n := range r.byGUID[info.NodeGUID] {
		if known := n.PortAt(number); sameIdentity(&n.Info, info) && (known == nil || known.GUID == info.PortGUID) {
			p := n.At(number)
			p.GUID = info.PortGUID
			return p
		}
	}
	n := NewNode(*info, record.Description)
	r.byGUID[n.GUID] = append(r.byGUID[n.GUID], n)
	r.order = append(r.order, n)
	if len(r.byGUID[n.GUID]) > 1 {
		r.conflict(n.GUID, number, "two nodes have GUID %v", n.GUID)
	}
	return n.At(number)
}

// end returns the port with a LID and a number, nil if no node has it.
func (r *recordSet) end(lid ib.LID, number uint8) *Port {
	p := r.ends[lid]
	switch {
	case p == nil:
		return nil
	case p.Number == number:
		return p
	case p.Node.IsSwitch() && number <= p.Node.Info.NumPorts:
		return p.Node.At(number)
	}
	return nil
}

func (r *recordSet) addPorts() {
	unknown := 0
	for i := range r.ports {
		record := &r.ports[i]
		switch p := r.end(record.LID, record.PortNum); {
		case p != nil:
			p.Info = &record.PortInfo
		case record.PortInfo.State != ib.PortDown: // an adapter port without a link has no LID
			unknown++
		}
	}
	r.unrelated(unknown, "PortInfoRecords of unknown ports")
}

func (r *recordSet) addSwitches() {
	unknown := 0
	for i := range r.switches {
		record := &r.switches[i]
		if p := r.ends[record.LID]; p != nil && p.Node.IsSwitch() {
			p.Node.Switch = &record.SwitchInfo
		} else {
			unknown++
		}
	}
	r.unrelated(unknown, "SwitchInfoRecords of unknown switches")
}

// addLinks joins ports. There is a LinkRecord for each link direction.
func (r *recordSet) addLinks() {
	unknown := 0
	for _, l := range r.links {
		a, b := r.end(l.FromLID, l.FromPort), r.end(l.ToLID, l.ToPort)
		switch {
		case a == nil || b == nil || a == b || !a.linkable() || !b.linkable():
			unknown++
		case a.Peer == nil && b.Peer == nil:
			a.Peer, b.Peer = b, a
		case a.Peer != b || b.Peer != a:
			r.conflict(a.Node.GUID, a.Number, "port %d of %v has two links", a.Number, a.Node.GUID)
		}
	}
	r.unrelated(unknown, "LinkRecords of unknown ports")
}

// unrelated adds a conflict for records that belong to no NodeRecord.
func (r *recordSet) unrelated(count int, what string) {
	if count > 0 {
		r.conflict(0, 0, "%d %s", count, what)
	}
}

// start returns the local port, nil if there is no record for it. Its node's NodeInfo
// becomes this port's NodeInfo, as in a scan.
func (r *recordSet) start() *Port {
	for _, n := range r.byGUID[r.local.NodeGUID] {
		if p := n.PortAt(r.local.Number); p != nil {
			n.Info.LocalPort, n.Info.PortGUID = p.Number, p.GUID
			return p
		}
	}
	r.conflict(r.local.NodeGUID, r.local.Number, "the local port has no NodeRecord")
	return nil
}
