package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// Check checks a fabric's LIDs, GUIDs and descriptions: they must be unique and not zero, and
// a port's LID range must fit its LMC. A blind scan is a finding, too.
func Check(f *fabric.Fabric, names *fabric.NameMap) []report.Finding {
	c := checker{names: names}
	if blind := f.Blind(); blind != nil {
		c.add(report.Blind, []*fabric.Port{{Node: f.Start, Number: f.StartPort}}, "%v", blind)
	}
	c.lids(f)
	c.nodeGUIDs(f)
	c.systemGUIDs(f)
	c.portGUIDs(f)
	c.emptyNames(f)
	c.defects = append(c.defects, duplicateNames(f, names, func(*fabric.Node) bool { return true })...)
	return findings(c.defects)
}

type checker struct {
	names   *fabric.NameMap
	defects []defect
}

// add adds a finding about ports.
func (c *checker) add(k report.Kind, ports []*fabric.Port, format string, args ...any) {
	f := defect{Kind: k, Detail: fmt.Sprintf(format, args...), ports: ports}
	for _, p := range ports {
		f.Ends = append(f.Ends, endOf(p, c.names))
	}
	c.defects = append(c.defects, f)
}

// addNodes adds a finding about nodes.
func (c *checker) addNodes(k report.Kind, nodes []*fabric.Node, format string, args ...any) {
	f := defect{Kind: k, Detail: fmt.Sprintf(format, args...)}
	for _, n := range nodes {
		f.Ends = append(f.Ends, nodeEnd(n, c.names))
	}
	if len(nodes) == 1 {
		f.node = &nodes[0].GUID
	}
	c.defects = append(c.defects, f)
}

// endPorts returns the ports with their own LIDs.
func endPorts(f *fabric.Fabric) []*fabric.Port {
	var ports []*fabric.Port
	for _, n := range f.Nodes {
		for _, p := range n.Ports {
			if p != nil && (!n.IsSwitch() || p.IsManagement()) {
				ports = append(ports, p)
			}
		}
	}
	return ports
}

func (c *checker) lids(f *fabric.Fabric) {
	parts := parts(f)
	var ranges []endPort
	for _, p := range endPorts(f) {
		if p.Info == nil || !p.IsManagement() && p.Peer == nil {
			continue
		}
		first, lmc := p.Info.LID, p.Info.LMC
		last := int(first) + 1<<lmc - 1
		switch {
		case first == 0:
			c.add(report.ZeroLID, []*fabric.Port{p}, "%s has LID 0", portText(p, c.names))
			continue
		case int(first)&(1<<lmc-1) != 0:
			c.add(report.LIDRange, []*fabric.Port{p}, "%s has base LID %d, not a multiple of %d (LMC %d)", portText(p, c.names), first, 1<<lmc, lmc)
		case last > int(ib.MaxUnicastLID):
			c.add(report.LIDRange, []*fabric.Port{p}, "%s has LIDs %d to %d (LMC %d), beyond the last unicast LID %d", portText(p, c.names), first, last, lmc, ib.MaxUnicastLID)
		}
		ranges = append(ranges, endPort{p, first, ib.LID(min(last, 0xffff)), partOf(parts, p)})
	}
	slices.SortStableFunc(ranges, func(a, b endPort) int { return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.first, b.first)) })
	var a endPort // the port before b with the highest last LID
	for _, b := range ranges {
		if a.Port != nil && a.part != b.part {
			a = endPort{}
		}
		if b.first <= a.last { // not each pair: all ports may have the same LID
			c.add(report.DuplicateLID, []*fabric.Port{a.Port, b.Port}, "%s and %s have %s", portText(a.Port, c.names), portText(b.Port, c.names), common(a, b))
		}
		if b.last > a.last {
			a = b
		}
	}
}

// partOf returns the part of the fabric that a port is in: parts without a connection are
// separate subnets, with LIDs of their own. It is -1 for a port without a link to a switch.
func partOf(parts map[*fabric.Node]int, p *fabric.Port) int {
	if part, known := parts[p.Node]; known {
		return part
	}
	if p.Peer != nil {
		if part, known := parts[p.Peer.Node]; known {
			return part
		}
	}
	return -1
}

// common describes the LIDs that two ports have.
func common(a, b endPort) string {
	first, last := max(a.first, b.first), min(a.last, b.last)
	if first == last {
		return fmt.Sprintf("LID %d", first)
	}
	return fmt.Sprintf("LIDs %d to %d", first, last)
}

func (c *checker) nodeGUIDs(f *fabric.Fabric) {
	for _, group := range groups(f.Nodes, func(n *fabric.Node) ib.GUID { return n.GUID }) {
		switch guid := group[0].GUID; {
		case guid == 0:
			for _, n := range group {
				c.addNodes(report.ZeroGUID, []*fabric.Node{n}, "%s has node GUID 0", c.names.Name(n))
			}
		case len(group) > 1:
			c.addNodes(report.DuplicateGUID, group, "%d nodes have node GUID %v", len(group), guid)
		}
	}
}

// systemGUIDs reports nodes without a system image GUID. The specification permits it
// (InfiniBand Architecture, Volume 1, 14.2.5.3), but no program can find the nodes of a
// chassis or a card then.
func (c *checker) systemGUIDs(f *fabric.Fabric) {
	for _, n := range f.Nodes {
		if n.Info.SystemGUID == 0 && n.GUID != 0 {
			c.addNodes(report.ZeroGUID, []*fabric.Node{n}, "%s has system image GUID 0", c.names.Label(n))
			c.defects[len(c.defects)-1].Severity = report.Warning
		}
	}
}

func (c *checker) portGUIDs(f *fabric.Fabric) {
	ports := endPorts(f)
	for _, group := range groups(ports, func(p *fabric.Port) ib.GUID { return p.GUID }) {
		switch guid := group[0].GUID; {
		case guid == 0:
			for _, p := range group {
				c.add(report.ZeroGUID, []*fabric.Port{p}, "%s has port GUID 0", portText(p, c.names))
			}
		case len(group) > 1 && !slices.ContainsFunc(group, func(p *fabric.Port) bool { return p.Node.Duplicate }):
			c.add(report.DuplicateGUID, group, "%d ports have port GUID %v", len(group), guid)
		}
	}
	for _, p := range ports {
		if n := f.NodeByGUID(p.GUID); p.GUID != 0 && n != nil && n.GUID != p.Node.GUID {
			c.add(report.DuplicateGUID, []*fabric.Port{p}, "port GUID %v of %s is the node GUID of %s", p.GUID, portText(p, c.names), c.names.Name(n))
		}
	}
}

// emptyNames reports nodes with an empty description, except nodes that did not respond.
func (c *checker) emptyNames(f *fabric.Fabric) {
	unknown := map[ib.GUID]bool{}
	for _, failure := range f.Failures {
		if failure.Attr == mad.AttrNodeDescription {
			unknown[failure.NodeGUID] = true
		}
	}
	for _, n := range f.Nodes {
		if n.Desc.Clean() == "" && !unknown[n.GUID] {
			c.addNodes(report.EmptyName, []*fabric.Node{n}, "node %v has an empty description", n.GUID)
		}
	}
}

// duplicateNames reports nodes that share a description, if any of them is of interest.
// Switches' aggregation nodes have the same description by default.
func duplicateNames(f *fabric.Fabric, names *fabric.NameMap, isOfInterest func(*fabric.Node) bool) []defect {
	c := checker{names: names}
	for _, group := range groups(f.Nodes, func(n *fabric.Node) string { return n.Desc.Clean() }) {
		if len(group) < 2 || group[0].Desc.Clean() == "" || group[0].IsAggregation() || !slices.ContainsFunc(group, isOfInterest) {
			continue
		}
		guids := make([]string, len(group))
		for i, n := range group {
			guids[i] = n.GUID.String()
		}
		c.addNodes(report.DuplicateName, group, "%d nodes have the description %q", len(group), group[0].Desc.Clean())
		c.defects[len(c.defects)-1].Job = "give different descriptions to the nodes " + strings.Join(guids, ", ")
	}
	return c.defects
}

// groups groups elements by key, in the order of each group's first element.
func groups[E any, K comparable](elements []E, key func(E) K) [][]E {
	index := map[K]int{}
	var list [][]E
	for _, e := range elements {
		k := key(e)
		i, ok := index[k]
		if !ok {
			i = len(list)
			index[k] = i
			list = append(list, nil)
		}
		list[i] = append(list[i], e)
	}
	return list
}
