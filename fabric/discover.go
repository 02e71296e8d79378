package fabric

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// DiscoverOptions are the [Discover] options. The zero value scans the whole subnet
// from the local port.
type DiscoverOptions struct {
	// From is the scan's first node. The zero value is the local port.
	From umad.Target

	// MaxHops limits the scan to nodes within this many links from the start; 0 sets no
	// limit.
	MaxHops int

	// NoExtendedPortInfo omits the vendor attribute that distinguishes FDR10
	// from QDR.
	NoExtendedPortInfo bool

	// OmitDownPorts omits PortInfo for ports that their switch's state table reports as
	// down. Switches without such a table are scanned in full. See [Port.Omitted].
	OmitDownPorts bool

	// Lean implies OmitDownPorts, and omits what is not needed to find nodes and their
	// LIDs: node descriptions, SwitchInfo, and PortInfo for switch ports that are up
	// according to the state table or the link's other end. [Fabric.ReadPorts] reads
	// these.
	Lean bool

	// Answered, if not nil, is called for each port whose PortInfo was received,
	// by the goroutine that called Discover. It may submit requests to the client,
	// which run in parallel with the scan; Discover returns after they have ended.
	Answered func(*Port)

	// Progress, if not nil, is called during the scan, by the goroutine that
	// called Discover.
	Progress func(Progress)
}

// Progress counts a discovery's results so far.
type Progress struct {
	Nodes    int
	Ports    int
	Answered int // requests that have ended, with or without a response
	Waiting  int // requests queued or in flight
}

// A Discoverer returns the fabric at a client's port, as [Discover] does.
type Discoverer func(context.Context, *umad.Client, DiscoverOptions) (*Fabric, error)

// progressEvery is how many requests end between two Progress calls.
const progressEvery = 256

// Discover scans a subnet with directed-route requests: NodeInfo from the start,
// PortInfo of every port of each switch, NodeInfo through every port with a link that
// is up, and so on outward.
//
// The requests run in parallel, so a node or port that does not respond costs one
// timeout; the result lists it in Failures. Discover returns an error without a
// fabric if the start does not respond. It returns an error and the partial
// fabric if ctx ends or the local port fails during the scan. The client must not
// be used by another goroutine at the same time.
func Discover(ctx context.Context, c *umad.Client, o DiscoverOptions) (*Fabric, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &scan{
		client: c,
		stop:   stop,
		opts:   o,
		fabric: &Fabric{Bounded: o.MaxHops > 0, noExtendedPortInfo: o.NoExtendedPortInfo, from: o.From.LID},
		nodes:  map[ib.GUID][]*scanNode{},
	}
	if o.From.Route.IsNone() {
		o.From.Route = mad.Local // of the local port, or of the port with the LID
	}
	s.queryNodeInfo(nil, 0, o.From)
	err := c.Run(ctx)
	for round := 0; err == nil && s.recheck(round); round++ {
		err = c.Run(ctx)
	}
	err = cmp.Or(s.tooMany, err)
	s.linkInvalid()
	switch {
	case s.fabric.Start == nil && err != nil:
		return nil, fmt.Errorf("scan fabric: %w", err)
	case s.fabric.Start == nil:
		return nil, fmt.Errorf("scan fabric: start of the scan: %w", s.fabric.Failures[0].Err)
	case err != nil:
		err = fmt.Errorf("scan fabric: ended early, with %s found: %w", plural.Count(len(s.order), "node", "nodes"), err)
		s.fabric.Aborted = err
	}
	s.checkBlind()
	for _, n := range s.order {
		s.fabric.Nodes = append(s.fabric.Nodes, n.Node)
	}
	s.fabric.Stats = c.Stats()
	s.fabric.finish()
	return s.fabric, err
}

// scan is a discovery's state. Only the goroutine that runs the client uses it: all
// methods are called from Done functions, never two at a time.
type scan struct {
	client *umad.Client
	opts   DiscoverOptions
	fabric *Fabric

	nodes map[ib.GUID][]*scanNode // by GUID; several for duplicate GUIDs
	order []*scanNode             // in discovery order
	ports int

	sweeps []sweep // switches with ports that were not queried yet

	suspects []suspect // to be checked again
	looked   []suspect // being checked again

	invalid []invalidEnd // links to ports that do not exist

	stop    func() // ends the scan early
	tooMany error  // the reason

	free              []*query // for reuse
	answered, waiting int
}

// scanNode is a node while it is being scanned.
type scanNode struct {
	*Node
	target umad.Target // scan's route to the node
	entry  uint8       // port through which packets to the target arrive
	depth  int         // link count to the start
	probed []bool      // by port number: NodeInfo was queried through the port

	checked []bool // by port number: PortInfo was queried a second time

	capsEnded bool // PortInfo for a switch's port 0 was received, or failed

	states []ib.PortState // by port number, from a switch's state table; nil: unknown

	ports []Port         // backing for Node.Ports: an allocation per node
	infos []mad.PortInfo // backing for Port.Info
}

// query is a scan request with its subject.
type query struct {
	req  umad.Request
	scan *scan
	node *scanNode // the destination, or the node before it; nil for the start
	port uint8
	then func(*scan, *query, *umad.Reply)
}

// submit sends a request; then is called with the reply unless the whole scan
// ended early.
func (s *scan) submit(to umad.Target, attr mad.AttrID, modifier uint32, node *scanNode, port uint8, then func(*scan, *query, *umad.Reply)) {
	var a *query
	if last := len(s.free) - 1; last >= 0 {
		a, s.free = s.free[last], s.free[:last]
	} else {
		a = &query{scan: s}
		a.req.Done = a.done
	}
	a.req.To, a.req.Attr, a.req.Modifier = to, attr, modifier
	a.node, a.port, a.then = node, port, then
	s.waiting++
	s.client.Submit(&a.req)
}

func (a *query) done(_ *umad.Request, r *umad.Reply) {
	s := a.scan
	s.waiting--
	s.answered++
	if errors.Is(r.Err, umad.ErrDeviceRemoved) || errors.Is(r.Err, context.Canceled) || errors.Is(r.Err, context.DeadlineExceeded) {
		s.sweeps = nil // the whole scan ended early, and Run returns the reason
	} else {
		a.then(s, a, r)
	}
	s.sweep()
	if s.opts.Progress != nil && s.answered%progressEvery == 0 {
		s.opts.Progress(Progress{Nodes: len(s.order), Ports: s.ports, Answered: s.answered, Waiting: s.waiting})
	}
	s.free = append(s.free, a)
}

// fail adds a request to the failures.
func (s *scan) fail(a *query, err error) {
	s.fabric.Failures = append(s.fabric.Failures, s.failure(a, err))
	if a.node != nil && a.req.Attr == mad.AttrPortInfo {
		if a.node.lost == nil {
			a.node.lost = map[uint8]error{}
		}
		a.node.lost[a.port] = err
	}
}

// failure returns a request's failure.
func (s *scan) failure(a *query, err error) Failure {
	f := Failure{
		Route:    a.req.To.Route,
		LID:      a.req.To.LID,
		Attr:     a.req.Attr,
		Modifier: a.req.Modifier,
		Err:      err,
	}
	if a.node != nil {
		f.NodeGUID, f.Port = a.node.GUID, a.port
	}
	return f
}

// decode decodes the attribute in a reply. If it is missing or truncated,
// decode adds a failure and returns false.
func (s *scan) decode(a *query, r *umad.Reply, attr mad.Attribute) bool {
	err := r.Err
	if err == nil {
		err = r.MAD.Decode(attr)
	}
	if err != nil {
		s.fail(a, err)
		return false
	}
	return true
}
