package route

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Adaptive is a switch's adaptive routing: the switch selects a packet's output port
// from a port group.
//
// NVIDIA documents the table layouts (ib_types.h), but not their whole meaning. A table is
// therefore used only if it agrees with the linear forwarding table, which contains a port
// from each group.
type Adaptive struct {
	// Unconfirmed is the reason why the groups are not known; "": they are known.
	Unconfirmed string

	Groups []mad.PortMask
	ByLID  []uint16 // group of each LID, or NoGroup; LIDs beyond the end have no group
}

// NoGroup stands for a LID that is routed by the linear forwarding table.
const NoGroup = 0xffff

// Group returns the ports for a LID; nil: only the linear forwarding table's port.
func (a *Adaptive) Group(lid ib.LID) *mad.PortMask {
	if a == nil || a.Unconfirmed != "" || int(lid) >= len(a.ByLID) || a.ByLID[lid] == NoGroup {
		return nil
	}
	return &a.Groups[a.ByLID[lid]]
}

// The vendors of switches with these attributes.
const (
	vendorNVIDIA = 0x2c9
	vendorBull   = 0x119f
)

// readAdaptive reads switches' adaptive routing for the LIDs in their tables. A switch
// without the attributes has no adaptive routing.
func (s *session) readAdaptive(ctx context.Context, nodes []*Node) error {
	vendors := map[ib.GUID]uint32{}
	for _, n := range s.fabric.Nodes {
		vendors[n.GUID] = n.Info.VendorID
	}
	for _, n := range nodes {
		if v := vendors[n.GUID]; v == vendorNVIDIA || v == vendorBull {
			(&adaptiveReader{client: s.client, node: n}).start()
		}
	}
	if err := s.client.Run(ctx); err != nil {
		return fmt.Errorf("read adaptive routing: %w", err)
	}
	return nil
}

// An adaptiveReader reads a switch's tables.
type adaptiveReader struct {
	client  *umad.Client
	node    *Node
	info    mad.AdaptiveRoutingInfo
	masks   []mad.PortMask // of the group table
	entries []mad.ARForwarding
	known   []bool // of masks: blocks that were read
	waiting int
	failure string
}

// get requests a switch attribute.
func (r *adaptiveReader) get(a mad.Attribute, modifier uint32, done func(error)) {
	r.client.SubmitGet(umad.Target{Route: r.node.Route}, a, done, umad.Modifier(modifier))
}

// start requests the settings, and the tables if adaptive routing is on.
func (r *adaptiveReader) start() {
	r.node.Adaptive = nil
	r.get(&r.info, 0, func(err error) {
		if err != nil || r.info.Enabled == 0 {
			return
		}
		r.node.Adaptive = &Adaptive{Unconfirmed: "its tables were not read"}
		var private mad.PrivateLFTInfo
		r.get(&private, 0, func(err error) {
			if err == nil && private.ActiveMode != 0 {
				r.node.Adaptive.Unconfirmed = "private forwarding tables are in use"
				return
			}
			r.tables()
		})
	})
}

// tables requests both tables' blocks. Blocks for LIDs without an entry in the forwarding
// table are not needed.
func (r *adaptiveReader) tables() {
	groups := int(r.info.GroupTop) + 1
	r.masks, r.known = make([]mad.PortMask, 2*groups), make([]bool, groups)
	top := int(min(r.node.Tables.Top, ib.MaxUnicastLID))
	perBlock := len(mad.ARLinearForwardingTable{}.Entries)
	r.entries = make([]mad.ARForwarding, (top/perBlock+1)*perBlock)
	var blocks []int
	for block := range len(r.entries) / perBlock {
		if r.node.Tables.hasEntry(block*perBlock, perBlock) {
			blocks = append(blocks, block)
		}
	}
	r.waiting = groups + len(blocks)
	for block := range groups {
		var a mad.ARGroupTable
		r.get(&a, uint32(block), func(err error) {
			if r.known[block] = err == nil; err == nil {
				copy(r.masks[2*block:], a.SubGroups[:])
			}
			r.next()
		})
	}
	for _, block := range blocks {
		var a mad.ARLinearForwardingTable
		r.get(&a, uint32(block), func(err error) {
			if err != nil {
				r.failure = fmt.Sprintf("block %d of its table was not read", block)
			}
			copy(r.entries[block*perBlock:], a.Entries[:])
			r.next()
		})
	}
}

// hasEntry reports whether any LID among count LIDs from first on has an output port.
func (t *Tables) hasEntry(first, count int) bool {
	for lid := first; lid < first+count; lid++ {
		if t.Lookup(ib.LID(lid)) != NoRoute {
			return true
		}
	}
	return false
}

// next confirms the tables after the last block.
func (r *adaptiveReader) next() {
	if r.waiting--; r.waiting > 0 {
		return
	}
	a, err := r.confirm()
	if err != nil {
		a = &Adaptive{Unconfirmed: err.Error()}
	}
	r.node.Adaptive = a
}

// confirm compares the tables with the linear forwarding table. The group table has one or
// two entries per group, which the switch does not report: only a single reading may
// agree.
func (r *adaptiveReader) confirm() (*Adaptive, error) {
	if r.failure != "" {
		return nil, errors.New(r.failure)
	}
	byLID := make([]uint16, int(min(r.node.Tables.Top, ib.MaxUnicastLID))+1)
	for lid := range byLID {
		byLID[lid] = NoGroup
		e, port := r.entries[lid], r.node.Tables.Lookup(ib.LID(lid))
		switch {
		case lid == 0 || port == NoRoute:
			continue
		case e.Port != port:
			return nil, fmt.Errorf("LID %d has port %d there, and %d in the forwarding table", lid, e.Port, port)
		case e.State == mad.ARStatic:
			continue
		case e.State > mad.ARStatic:
			return nil, fmt.Errorf("LID %d has the unknown state %v", lid, e.State)
		case e.Table != 0:
			return nil, fmt.Errorf("LID %d uses group table %d", lid, e.Table)
		case e.Group > r.info.GroupTop:
			return nil, fmt.Errorf("LID %d has group %d, beyond the highest group, %d", lid, e.Group, r.info.GroupTop)
		}
		byLID[lid] = e.Group
	}
	one, errOne := r.groups(1, byLID)
	two, errTwo := r.groups(2, byLID)
	switch {
	case errOne != nil && errTwo != nil:
		return nil, errOne
	case errOne != nil:
		return &Adaptive{Groups: two, ByLID: byLID}, nil
	case errTwo == nil && !slices.Equal(one, two):
		return nil, errors.New("two readings of the group table are possible")
	}
	return &Adaptive{Groups: one, ByLID: byLID}, nil
}

// groups returns each group's ports. A group has a number of table entries. Groups that no
// LID uses are empty.
func (r *adaptiveReader) groups(entries int, byLID []uint16) ([]mad.PortMask, error) {
	groups := make([]mad.PortMask, int(r.info.GroupTop)+1)
	used := make([]bool, len(groups))
	for lid, g := range byLID {
		if g == NoGroup {
			continue
		}
		mask := &groups[g]
		if !used[g] {
			used[g] = true
			for i := int(g) * entries; i < (int(g)+1)*entries; i++ {
				if !r.known[i/2] {
					return nil, fmt.Errorf("group %d was not read", g)
				}
				for k, b := range r.masks[i] {
					mask[k] |= b
				}
			}
			for port := range 256 {
				if mask.Has(uint8(port)) && (port == 0 || port >= len(r.node.Ports)) {
					return nil, fmt.Errorf("group %d has port %d, which does not exist", g, port)
				}
			}
		}
		if port := r.node.Tables.Lookup(ib.LID(lid)); !mask.Has(port) {
			return nil, fmt.Errorf("group %d lacks port %d, LID %d's port in the forwarding table", g, port, lid)
		}
	}
	return groups, nil
}

// An AdaptiveSummary counts the switches with adaptive routing.
type AdaptiveSummary struct {
	Switches int // with adaptive routing on

	// Static counts the switches with unknown groups, and Example is such a switch: the
	// analysis uses only their linear forwarding tables.
	Static  int
	Example *Node
}

// hasGroups reports whether a switch's groups are known.
func (s AdaptiveSummary) hasGroups() bool { return s.Switches > s.Static }

// adaptive returns a routing's summary.
func (r *Routing) adaptive() (s AdaptiveSummary) {
	for _, n := range r.Nodes {
		if n.Adaptive == nil {
			continue
		}
		s.Switches++
		if n.Adaptive.Unconfirmed != "" {
			if s.Static++; s.Example == nil {
				s.Example = n
			}
		}
	}
	return s
}

// Text returns the summary in words, "" without adaptive routing. names may be nil.
func (s AdaptiveSummary) Text(names *fabric.NameMap) string {
	switch {
	case s.Switches == 0:
		return ""
	case s.Static > 0:
		return fmt.Sprintf("adaptive routing on: static view (%d of %d switches, for example %s: %s)",
			s.Static, s.Switches, namer{names}.node(s.Example), s.Example.Adaptive.Unconfirmed)
	}
	return fmt.Sprintf("adaptive routing on (switches: %d): reachability and loops include all ports of the groups, load is that of the forwarding tables", s.Switches)
}
