package trap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// names are the nodes behind ports. Nodes that left the fabric stay, because notices about
// their end name them.
type names struct {
	mode   lookup.Mode
	byLID  map[ib.LID]*Node
	byGUID map[ib.GUID]known // by port GUID

	// unknown are the addresses without a subnet administration record.
	unknown map[Place]bool
}

// known is a port's node, and its LID.
type known struct {
	node *Node
	lid  ib.LID
}

func (x *names) init(mode lookup.Mode) {
	x.mode = mode
	x.byLID, x.byGUID, x.unknown = map[ib.LID]*Node{}, map[ib.GUID]known{}, map[Place]bool{}
}

// load reads all node names.
func (x *names) load(ctx context.Context, c *umad.Client, sa umad.Target) error {
	if x.mode != lookup.ModeNodes {
		clipped, err := x.loadRecords(ctx, c, sa)
		if !clipped && err == nil || x.mode == lookup.ModeSA || ctx.Err() != nil {
			return err
		}
	}
	f, err := fabric.Discover(ctx, c, fabric.DiscoverOptions{NoExtendedPortInfo: true})
	if f == nil {
		return fmt.Errorf("scan the fabric: %w", err)
	}
	for _, n := range f.Nodes {
		node := &Node{n.GUID, n.Desc}
		for _, p := range n.Ports {
			if p != nil && (p.Number == 0 || !n.IsSwitch()) {
				x.add(p.LID(), p.GUID, node)
			}
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("scan the fabric: %w", err)
	case f.Partial():
		return fmt.Errorf("scan the fabric: %w", f.Incomplete())
	}
	return nil
}

// loadRecords reads all node names from subnet administration.
func (x *names) loadRecords(ctx context.Context, c *umad.Client, sa umad.Target) (clipped bool, err error) {
	table, err := c.GetTable(ctx, &umad.TableRequest{To: sa, Match: &mad.NodeRecord{}})
	if err != nil {
		return false, err
	}
	records, err := umad.Records[mad.NodeRecord](table)
	for i := range records {
		x.addRecord(&records[i])
	}
	return table.Clipped, err
}

func (x *names) add(lid ib.LID, guid ib.GUID, n *Node) {
	if lid != 0 {
		x.byLID[lid] = n
	}
	x.byGUID[guid] = known{n, lid}
}

// nodes returns all nodes, by GUID.
func (x *names) nodes() []*Node {
	byGUID := map[ib.GUID]*Node{}
	for _, k := range x.byGUID {
		byGUID[k.node.GUID] = k.node
	}
	var all []*Node
	for _, guid := range slices.Sorted(maps.Keys(byGUID)) {
		all = append(all, byGUID[guid])
	}
	return all
}

func (x *names) addRecord(r *mad.NodeRecord) {
	x.add(r.LID, r.NodeInfo.PortGUID, &Node{r.NodeInfo.NodeGUID, r.Description})
}

// complete fills in a notice's nodes. It queries subnet administration for nodes that are
// not known, and for nodes with names that may have changed.
func (x *names) complete(ctx context.Context, c *umad.Client, sa umad.Target, n *Notice) {
	if n.Notice.Generic != 0 {
		switch n.Notice.TrapNumber {
		case mad.TrapGIDInService:
			delete(x.byGUID, n.Subject.GID.GUID())
			clear(x.unknown)
		case mad.TrapCapabilities:
			x.renew(ctx, c, n.Subject.LID)
		}
	}
	for _, p := range []*Place{&n.Subject, &n.Issuer} {
		if x.fill(p); p.Node == nil && !p.GID.IsMulticast() {
			x.query(ctx, c, sa, *p)
			x.fill(p)
		}
	}
}

// renew replaces the name of a node that has changed. The node returns the new name; the
// subnet administration record still has the old name until the manager has read it.
func (x *names) renew(ctx context.Context, c *umad.Client, lid ib.LID) {
	old := x.byLID[lid]
	delete(x.byLID, lid)
	if x.mode == lookup.ModeSA || old == nil {
		return
	}
	var d mad.NodeDescription
	if c.Get(ctx, umad.Target{LID: lid}, &d) != nil {
		return
	}
	now := &Node{old.GUID, d} // notices that were passed on have the old name
	x.byLID[lid] = now
	for guid, k := range x.byGUID {
		if k.node == old {
			x.byGUID[guid] = known{now, k.lid}
		}
	}
}

// fill fills in a place's node if it is known.
func (x *names) fill(p *Place) {
	if p.GID.IsZero() {
		p.Node = x.byLID[p.LID]
		return
	}
	port := x.byGUID[p.GID.GUID()]
	p.Node = port.node
	if p.LID == 0 {
		p.LID = port.lid
	}
}

// query requests the record for a place's node.
func (x *names) query(ctx context.Context, c *umad.Client, sa umad.Target, p Place) {
	var r mad.NodeRecord
	var mask mad.ComponentMask
	switch {
	case !p.GID.IsZero():
		r.NodeInfo.PortGUID = p.GID.GUID()
		mask = mad.Components(&r, &r.NodeInfo.PortGUID)
	case p.LID != 0:
		r.LID = p.LID
		mask = mad.Components(&r, &r.LID)
	}
	key := Place{LID: r.LID, GID: p.GID}
	if mask == 0 || x.unknown[key] {
		return
	}
	if _, err := c.Call(ctx, &umad.Request{To: sa, Value: &r, Mask: mask}); err != nil {
		if !errors.Is(err, context.Canceled) && len(x.unknown) < maxPending {
			x.unknown[key] = true
		}
		return
	}
	x.addRecord(&r)
}
