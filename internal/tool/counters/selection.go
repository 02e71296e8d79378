package counters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
)

// A selection has the selected ports on nodes; nil: all ports on the node.
type selection map[*fabric.Node]map[uint8]bool

func (s selection) hasNode(n *fabric.Node) bool {
	_, ok := s[n]
	return ok
}

func (s selection) hasPort(p *fabric.Port) bool {
	ports, ok := s[p.Node]
	return ok && (ports == nil || ports[p.Number])
}

// addNode selects all ports on a node.
func (s selection) addNode(n *fabric.Node) { s[n] = nil }

// addPort selects a port. A switch's port 0 stands for all its ports.
func (s selection) addPort(p *fabric.Port) {
	if p.Node.IsSwitch() && p.Number == 0 {
		s.addNode(p.Node)
		return
	}
	s.addNumber(p.Node, p.Number)
}

func (s selection) addNumber(n *fabric.Node, number uint8) {
	ports, ok := s[n]
	switch {
	case ok && ports == nil:
		return // all are selected
	case !ok:
		ports = map[uint8]bool{}
		s[n] = ports
	}
	ports[number] = true
}

// find returns a fabric's ports with the targets' addresses.
func (s *session) find(ctx context.Context, f *fabric.Fabric) (selection, error) {
	o := s.Resolve
	o.Mode, o.Scanned = lookup.ModeNodes, f
	r := lookup.New(s.client, s.local, o)
	found := selection{}
	for _, a := range s.Targets {
		if err := found.find(ctx, r, f, a, o.Names); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// find adds the ports with an address.
func (s selection) find(ctx context.Context, r *lookup.Resolver, f *fabric.Fabric, a lookup.Address, names *fabric.NameMap) error {
	switch a.Kind {
	case lookup.LID:
		return s.addLIDs(f, a)
	case lookup.Route:
		return s.addRoute(f, a)
	}
	ports, err := r.Find(ctx, a)
	if failed, ok := errors.AsType[*lookup.PortError](err); ok && failed.External {
		return s.addExternal(ctx, r, f, failed)
	}
	if err != nil {
		return err
	}
	for _, p := range ports {
		switch {
		case p.Node != nil && f.NodeByGUID(p.Node.NodeGUID) != nil:
			n := f.NodeByGUID(p.Node.NodeGUID)
			if node, number, ok := fabric.CutPort(a.Name); ok && number == 0 && n.IsSwitch() && names.Name(n) != a.Name && n.Desc.Clean() != a.Name {
				return fabric.NoPortError(node, 0, int(n.Info.NumPorts)) // not all ports
			}
			number, _ := p.Number()
			switch {
			case n.PortAt(number) != nil:
				s.addPort(n.PortAt(number))
			case p.Err != nil:
				return fmt.Errorf("find %v %s: the LID is unknown: %w", a.Kind, a.Text, p.Err)
			}
		case p.PortGUID != 0 && f.PortByGUID(p.PortGUID) != nil:
			s.addPort(f.PortByGUID(p.PortGUID))
		default:
			return fmt.Errorf("find %v %s: the port is not in the scanned fabric", a.Kind, a.Text)
		}
	}
	return nil
}

// addExternal adds a switch port with an address such as leaf1[3].
func (s selection) addExternal(ctx context.Context, r *lookup.Resolver, f *fabric.Fabric, failed *lookup.PortError) error {
	a := failed.Address
	a.Name = failed.Node
	ports, err := r.Find(ctx, a)
	if err != nil {
		return err
	}
	for _, p := range ports {
		n := f.NodeByGUID(p.Node.NodeGUID)
		if n != nil && n.IsSwitch() && failed.Number <= int(n.Info.NumPorts) {
			s.addNumber(n, uint8(failed.Number))
		}
	}
	return nil
}

// addLIDs adds the ports with a LID range.
func (s selection) addLIDs(f *fabric.Fabric, a lookup.Address) error {
	found := false
	for p := range portsByLID(f, a.First, a.Last) {
		s.addPort(p)
		found = true
	}
	if !found {
		if err := cmp.Or(lookup.CheckPort(a.First), lookup.CheckPort(a.Last)); err != nil {
			return fmt.Errorf("find LID %s: %w", a.Text, err)
		}
		return lookup.NotFound(a, lookup.FromScan, nil, lookup.GapOf(f, nil))
	}
	return nil
}

// portsByLID yields the ports with a LID in a range.
func portsByLID(f *fabric.Fabric, from, to ib.LID) iter.Seq[*fabric.Port] {
	return func(yield func(*fabric.Port) bool) {
		for _, n := range f.Nodes {
			for _, p := range n.Ports {
				if p == nil || p.Info == nil || p.Info.LID == 0 || n.IsSwitch() && p.Number != 0 {
					continue
				}
				first, last := int(p.Info.LID), int(p.Info.LID)+1<<p.Info.LMC-1
				if first <= int(to) && last >= int(from) && !yield(p) {
					return
				}
			}
		}
	}
}

// portByLID returns the first port with a LID, or nil.
func portByLID(f *fabric.Fabric, lid ib.LID) *fabric.Port {
	for p := range portsByLID(f, lid, lid) {
		return p
	}
	return nil
}

// addRoute adds the port at the end of a directed route from the scan's start.
func (s selection) addRoute(f *fabric.Fabric, a lookup.Address) error {
	fail := func(err error) error { return fmt.Errorf("find route %s: %w", a.Text, err) }
	n, entry := f.Start, f.StartPort
	if a.First != 0 {
		p := portByLID(f, a.First)
		if p == nil {
			return fail(fmt.Errorf("no port of the fabric has LID %d", a.First))
		}
		n, entry = p.Node, p.Number
	}
	for _, exit := range a.Route.Ports() {
		p := n.PortAt(exit)
		if p == nil || p.Peer == nil {
			return fail(fmt.Errorf("port %d of 0x%016x leads to no node", exit, uint64(n.GUID)))
		}
		n, entry = p.Peer.Node, p.Peer.Number
	}
	if n.IsSwitch() {
		s.addNode(n)
		return nil
	}
	s.addNumber(n, entry)
	return nil
}
