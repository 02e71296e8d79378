package lookup

import (
	"context"
	"errors"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// known is a port with a subnet administration record.
type known struct {
	lid  ib.LID
	node mad.NodeInfo
	desc mad.NodeDescription
}

func (k *known) port() *Port {
	node, desc := k.node, k.desc
	return &Port{
		To: umad.Target{LID: k.lid}, FoundBy: FromSA,
		PortGUID: node.PortGUID, Node: &node, Description: &desc, DescribedBy: FromSA,
	}
}

var errClipped = errors.New("subnet administration returned one packet, which does not hold all records")

// isNoRecord reports whether subnet administration has no such record. The status for
// an unknown GID may be that the GID is invalid.
func isNoRecord(err error) bool {
	var status mad.StatusError
	if !errors.As(err, &status) {
		return false
	}
	switch mad.Status(status) {
	case mad.StatusNoRecords, mad.StatusInvalidGID:
		return true
	}
	return false
}

// noteAbsence records that there is no subnet administration, so that later requests
// do not wait for it again.
func (r *Resolver) noteAbsence(err error) {
	if errors.Is(err, umad.ErrTimeout) || errors.Is(err, umad.ErrNoSM) {
		r.noSA = err
	}
}

// path requests the path to a GID.
func (r *Resolver) path(ctx context.Context, gid ib.GID) (*Port, error) {
	if r.noSA != nil {
		return nil, r.noSA
	}
	path, err := r.client.Path(ctx, gid, r.opts.SMLID)
	if err != nil {
		r.noteAbsence(err)
		return nil, err
	}
	return &Port{To: umad.Target{LID: path.DLID, SL: path.SL}, FoundBy: FromSA}, nil
}

// withGUID returns the port with a GUID, or else the ports on the node with it.
func (r *Resolver) withGUID(ctx context.Context, guid ib.GUID) ([]*Port, error) {
	if ports, err := r.ofPort(ctx, guid); err != nil || len(ports) > 0 {
		return ports, err
	}
	return r.ofNode(ctx, guid)
}

// ofPort returns the port with a GUID.
func (r *Resolver) ofPort(ctx context.Context, guid ib.GUID) ([]*Port, error) {
	if r.hasTable {
		return r.fromTable(func(k *known) bool { return k.node.PortGUID == guid }), nil
	}
	q := mad.NodeRecord{NodeInfo: mad.NodeInfo{PortGUID: guid}}
	ports, err := r.records(ctx, &q, mad.Components(&q, &q.NodeInfo.PortGUID))
	if len(ports) > 0 && errors.Is(err, errClipped) {
		err = nil // there is only a single port
	}
	return ports, err
}

// ofNode returns a node's ports.
func (r *Resolver) ofNode(ctx context.Context, guid ib.GUID) ([]*Port, error) {
	if r.hasTable {
		return r.fromTable(func(k *known) bool { return k.node.NodeGUID == guid }), nil
	}
	q := mad.NodeRecord{NodeInfo: mad.NodeInfo{NodeGUID: guid}}
	return r.records(ctx, &q, mad.Components(&q, &q.NodeInfo.NodeGUID))
}

func (r *Resolver) records(ctx context.Context, match *mad.NodeRecord, mask mad.ComponentMask) ([]*Port, error) {
	all, err := r.nodeRecords(ctx, match, mask)
	ports := make([]*Port, len(all))
	for i := range all {
		ports[i] = all[i].port()
	}
	return ports, err
}

// nodes reads the table with all ports once.
func (r *Resolver) nodes(ctx context.Context) error {
	if !r.hasTable && r.tableErr == nil {
		table, err := r.nodeRecords(ctx, &mad.NodeRecord{}, 0)
		if err != nil && ctx.Err() != nil {
			return err
		}
		r.table, r.tableErr = table, err
		r.hasTable = err == nil
	}
	return r.tableErr
}

func (r *Resolver) fromTable(wanted func(*known) bool) []*Port {
	var ports []*Port
	for i := range r.table {
		if k := &r.table[i]; wanted(k) {
			ports = append(ports, k.port())
		}
	}
	return ports
}

func (r *Resolver) nodeRecords(ctx context.Context, match *mad.NodeRecord, mask mad.ComponentMask) ([]known, error) {
	if r.noSA != nil {
		return nil, r.noSA
	}
	t, err := r.client.GetTable(ctx, &umad.TableRequest{To: umad.Target{LID: r.opts.SMLID}, Match: match, Mask: mask})
	if isNoRecord(err) {
		return nil, nil
	}
	if err != nil {
		r.noteAbsence(err)
		return nil, err
	}
	all := make([]known, t.Len())
	for i := range all {
		var record mad.NodeRecord
		if err := t.Record(i, &record); err != nil {
			return nil, err
		}
		all[i] = known{record.LID, record.NodeInfo, record.Description}
	}
	if t.Clipped {
		return all, errClipped
	}
	return all, nil
}
