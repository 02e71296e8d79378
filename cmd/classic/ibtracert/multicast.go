package ibtracert

import (
	"fmt"
	"os"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A groupNode is a node that packets to a multicast LID reach.
type groupNode struct {
	node
	port     port
	at       place
	up       *groupNode // the node before it; nil: the first node
	entry    int        // port through which packets arrive
	exit     int        // port on the node before it
	distance int        // -1: the destination
}

// A search is a breadth-first search along a multicast LID's tables.
type search struct {
	*tracer
	target ib.GUID // destination port GUID
	known  map[ib.GUID]bool
	levels [maxHops + 1][]*groupNode // by distance, the node found last first
}

// followMulticast follows packets to the multicast LID from a place.
func (t *tracer) followMulticast(from, to *place) error {
	const function = "get_route"
	if t.mlid < uint32(ib.MinMulticastLID) {
		t.Ibwarn(function, "invalid MLID; must be 0xc000 or larger")
	}
	s := &search{tracer: t, known: map[ib.GUID]bool{}}
	var target node
	var targetPort port
	if !t.node(&target, &targetPort, to) {
		t.Ibwarn("find_target_portguid", "can't find to port\n")
		targetPort.guid = ^ib.GUID(0)
	}
	if s.target = targetPort.guid; s.target == 0 {
		t.Ibwarn(function, "can't reach target lid %d", to.lid)
		return errRoute
	}
	end := s.run(from)
	if end == nil {
		t.Ibwarn(function, "can't find a multicast route from src to dest")
		return errRoute
	}
	t.printPath(end)
	return nil
}

// add adds a node. found reports that it is the destination, known that it was reached
// before.
func (s *search) add(n *groupNode, at place, distance int) (found, known bool) {
	if n.port.guid == s.target {
		n.distance = -1
		s.printIfVerbose("found target", n)
		return true, false
	}
	if s.known[n.guid] {
		return false, true
	}
	s.known[n.guid] = true
	s.verbose("new_node", "insert dist %d port %d lid %d", distance, n.port.number, n.port.lid)
	n.distance, n.at = distance, at
	s.levels[distance] = append([]*groupNode{n}, s.levels[distance]...)
	return false, false
}

// verbose prints a -v line. The C tool's lines have the node's memory address, too.
func (s *search) verbose(function, format string, args ...any) {
	if s.Verbose > 0 {
		fmt.Fprintf(s.out, "[%d] %s: %s\n", os.Getpid(), function, fmt.Sprintf(format, args...))
	}
}

func (s *search) printIfVerbose(prompt string, n *groupNode) {
	s.printEnd(level(min(s.Verbose, int(full))), prompt, &n.node, &n.port)
}

// ports reads the multicast LID's output ports. It reports false if they are unknown.
func (s *search) ports(n *groupNode, at *place) (mask mad.PortMask, ok bool) {
	var info mad.SwitchInfo
	if !s.get(at, &info, 0) {
		return mask, false
	}
	index := int32(s.mlid) - int32(ib.MinMulticastLID)
	if index >= int32(info.MulticastFDBCap) {
		return mask, false
	}
	for group := range (n.ports + 15) / 16 {
		var block mad.MulticastForwardingTable
		size := int32(len(block.Masks))
		if !s.get(at, &block, uint32(index/size)|uint32(group)<<28) {
			return mask, false
		}
		for bit := range 16 {
			if block.Masks[s.mlid%uint32(size)]>>bit&1 != 0 {
				mask.Add(uint8(group*16 + bit))
				s.verbose("switch_mclookup", "Switch guid 0x%x: mlid 0x%x is forwarded to port %d", uint64(n.guid), s.mlid, group*16+bit)
			}
		}
	}
	return mask, true
}

// run returns the destination, with the nodes before it; nil if it was not reached.
func (s *search) run(from *place) *groupNode {
	const function = "find_mcpath"
	first := &groupNode{}
	if !s.node(&first.node, &first.port, from) {
		s.Ibwarn(function, "can't reach node %s", from.id().Text)
		return nil
	}
	if found, _ := s.add(first, *from, 0); found {
		if first.kind != mad.NodeTypeSwitch {
			s.Ibwarn(function, "ibtracert from CA to CA is unsupported")
			return nil
		}
		if mask, ok := s.ports(first, from); !ok || !mask.Has(0) {
			return nil
		}
		first.distance = 0
		return first
	}
	leaf := 0 // the first switch's port that leads to the first node
	for distance := range maxHops {
		for _, n := range s.levels[distance] {
			s.verbose(function, "dist %d", distance)
			s.printIfVerbose("processing", n)
			var mask mad.PortMask
			if n.kind != mad.NodeTypeSwitch {
				if distance > 0 {
					continue
				}
				if n.at.route.Hops() > 0 {
					leaf = int(n.at.route.Exit())
				}
				mask.Add(uint8(n.port.number))
				n.entry = 0
			} else {
				if distance == 1 && leaf != 0 {
					n.entry = leaf
				}
				var ok bool
				if mask, ok = s.ports(n, &n.at); !ok {
					s.Ibwarn(function, "skipping bad Switch 0x%x", uint64(n.guid))
					continue
				}
			}
			if end, failed := s.expand(n, mask, distance, leaf, from); end != nil || failed {
				return end
			}
		}
	}
	return nil
}

// expand adds the nodes behind a node's output ports.
func (s *search) expand(n *groupNode, mask mad.PortMask, distance, leaf int, from *place) (end *groupNode, failed bool) {
	const function = "find_mcpath"
	for i := 1; i <= n.ports; i++ {
		if !mask.Has(uint8(i)) || i == n.entry {
			continue
		}
		at, exit := n.at, i
		if distance == 0 && leaf != 0 {
			exit = n.port.number
			if from.route.Hops() > 0 {
				at.route = at.route.Parent()
			}
		} else {
			var info mad.PortInfo
			if !s.get(&at, &info, uint32(i)) {
				s.Ibwarn(function, "can't reach node %s port %d", at.id().Text, i)
				return nil, true
			}
			s.verbose("get_port", "portid %s portnum %d: lid %d state %d physstate %d", at.id().Text, i, info.LID, uint8(info.State), uint8(info.PhysState))
			if info.PhysState != ib.PhysLinkUp {
				continue
			}
			if !at.extend(i) {
				return nil, true
			}
		}
		next := &groupNode{up: n, exit: exit}
		if !s.node(&next.node, &next.port, &at) {
			s.Ibwarn(function, "NodeInfo on %s port %d failed, skipping port", at.id().Text, i)
			continue
		}
		next.entry = next.port.number
		found, known := s.add(next, at, distance+1)
		switch {
		case found:
			return next, false
		case !known:
			s.printIfVerbose("new remote", next)
		case next.kind == mad.NodeTypeSwitch:
			s.printEnd(full, "ERR: circle discovered at", &next.node, &next.port)
		}
	}
	return nil, false
}

// printPath prints the nodes from the first node to a node.
func (t *tracer) printPath(n *groupNode) {
	if n.up != nil {
		t.printPath(n.up)
	}
	name := t.names.NameOf(n.guid, n.desc)
	if n.distance == 0 {
		fmt.Fprintf(t.out, "From %s 0x%x port %d lid %d-%d \"%s\"\n", typeName(n.kind), uint64(n.guid), n.port.number, n.port.lid, lastLID(&n.port), name)
		return
	}
	if t.level() == brief {
		fmt.Fprintf(t.out, "[%d] -> %s {%v}[%d]\n", n.exit, typeName(n.kind), n.guid, n.entry)
	} else {
		fmt.Fprintf(t.out, "[%d] -> %s 0x%x[%d] lid %d \"%s\"\n", n.exit, typeName(n.kind), uint64(n.guid), n.entry, n.port.lid, name)
	}
	if n.distance < 0 {
		fmt.Fprintf(t.out, "To %s 0x%x port %d lid %d-%d \"%s\"\n", typeName(n.kind), uint64(n.guid), n.port.number, n.port.lid, lastLID(&n.port), name)
	}
}
