package counters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/resolve"
)

// A selection has the selected ports of nodes; nil: all ports of the node.
type selection map[*fabric.Node]map[uint8]bool

func (s selection) hasNode(n *fabric.Node) bool {
	_, ok := s[n]
	return ok
}

func (s selection) hasPort(p *fabric.Port) bool {
	ports, ok := s[p.Node]
	return ok && (ports == nil || ports[p.Number])
}

// addNode selects all ports of a node.
func (s selection) addNode(n *fabric.Node) { s[n] = nil }

// addPort selects a port. Port 0 of a switch stands for all of its ports.
func (s selection) addPort(p *fabric.Port) {
	if isSwitch(p.Node) && p.Number == 0 {
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

// find returns the ports of a fabric with the addresses of the targets.
func (s *session) find(ctx context.Context, f *fabric.Fabric) (selection, error) {
	o := s.Resolve
	o.Mode, o.Scanned = resolve.LookupNodes, f
	r := resolve.New(s.client, s.local, o)
	found := selection{}
	for _, a := range s.Targets {
		if err := found.find(ctx, r, f, a, o.Names); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// find adds the ports with an address.
func (s selection) find(ctx context.Context, r *resolve.Resolver, f *fabric.Fabric, a resolve.Address, names *fabric.NameMap) error {
	switch a.Kind {
	case resolve.LID:
		return s.addLIDs(f, a)
	case resolve.Route:
		return s.addRoute(f, a)
	}
	ports, err := r.Find(ctx, a)
	if err != nil {
		if found, portErr := s.addPortOfSwitch(ctx, r, f, a); found {
			return portErr
		}
		return err
	}
	for _, p := range ports {
		switch {
		case p.Node != nil && f.NodeByGUID(p.Node.NodeGUID) != nil:
			n := f.NodeByGUID(p.Node.NodeGUID)
			if node, isZero := strings.CutSuffix(a.Name, "/0"); isZero && isSwitch(n) && !strings.HasSuffix(names.Name(n), "/0") {
				return fabric.NoPortError(node, 0, int(n.Info.NumPorts)) // not all ports
			}
			number, _ := p.Number()
			if int(number) < len(n.Ports) && n.Ports[number] != nil {
				s.addPort(n.Ports[number])
			}
		case p.PortGUID != 0 && f.PortByGUID(p.PortGUID) != nil:
			s.addPort(f.PortByGUID(p.PortGUID))
		default:
			return fmt.Errorf("find %v %s: the port is not in the scanned fabric", a.Kind, a.Text)
		}
	}
	return nil
}

// addPortOfSwitch adds a port of a switch with an address such as leaf1/3. found reports
// that the address has the name of a switch and a number; the error, that the switch does
// not have this port.
func (s selection) addPortOfSwitch(ctx context.Context, r *resolve.Resolver, f *fabric.Fabric, a resolve.Address) (found bool, err error) {
	i := strings.LastIndexByte(a.Name, '/')
	if a.Kind != resolve.Name || i < 0 {
		return false, nil
	}
	number, err := strconv.ParseUint(a.Name[i+1:], 10, 8)
	if err != nil {
		return false, nil
	}
	a.Name = a.Name[:i]
	ports, err := r.Find(ctx, a)
	if err != nil {
		return false, nil
	}
	added := false
	for _, p := range ports {
		if p.Node == nil {
			continue
		}
		n := f.NodeByGUID(p.Node.NodeGUID)
		switch {
		case n == nil || !isSwitch(n):
		case number > 0 && number <= uint64(n.Info.NumPorts):
			s.addNumber(n, uint8(number))
			added = true
		default:
			found, err = true, fabric.NoPortError(a.Name, int(number), int(n.Info.NumPorts))
		}
	}
	if added {
		return true, nil
	}
	return found, err
}

// addLIDs adds the ports with a range of LIDs.
func (s selection) addLIDs(f *fabric.Fabric, a resolve.Address) error {
	found := false
	for p := range portsByLID(f, a.First, a.Last) {
		s.addPort(p)
		found = true
	}
	if !found {
		err := cmp.Or(resolve.CheckPort(a.First), resolve.CheckPort(a.Last), errNoPort)
		return fmt.Errorf("find LID %s: %w", a.Text, err)
	}
	return nil
}

var errNoPort = errors.New("no port of the fabric has it")

// portsByLID yields the ports with a LID in a range.
func portsByLID(f *fabric.Fabric, from, to ib.LID) iter.Seq[*fabric.Port] {
	return func(yield func(*fabric.Port) bool) {
		for _, n := range f.Nodes {
			for _, p := range n.Ports {
				if p == nil || p.Info == nil || p.Info.LID == 0 || isSwitch(n) && p.Number != 0 {
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

// addRoute adds the port at the end of a directed route from the start of the scan.
func (s selection) addRoute(f *fabric.Fabric, a resolve.Address) error {
	fail := func(err error) error { return fmt.Errorf("find route %s: %w", a.Text, err) }
	n, entry := f.Start, f.StartPort
	if a.First != 0 {
		p := portByLID(f, a.First)
		if p == nil {
			return fail(fmt.Errorf("no port of the fabric has LID %d", a.First))
		}
		n, entry = p.Node, p.Number
	}
	for i := range a.Route.Hops() {
		exit := a.Route[i]
		if int(exit) >= len(n.Ports) || n.Ports[exit] == nil || n.Ports[exit].Peer == nil {
			return fail(fmt.Errorf("port %d of 0x%016x leads to no node", exit, uint64(n.GUID)))
		}
		peer := n.Ports[exit].Peer
		n, entry = peer.Node, peer.Number
	}
	if isSwitch(n) {
		s.addNode(n)
		return nil
	}
	s.addNumber(n, entry)
	return nil
}
