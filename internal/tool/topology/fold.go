package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
)

// A group is the nodes that a large fabric's picture shows as a single box: a pod, a
// dragonfly group, or a switch with its end nodes.
type group struct {
	title    string
	switches []*fabric.Node
	ends     []*fabric.Node
	cables   []int // with at least one end in the group
}

// mostTop is the largest number of top switches that a folded tree shows individually.
const mostTop = 40

// fold divides a large fabric's switches into groups.
func (p *Picture) fold() {
	p.groupOf = map[*fabric.Node]*group{}
	if len(p.Fabric.Nodes) <= foldNodes && len(p.switches()) <= foldSwitches {
		return
	}
	noun := "group"
	if p.Shape.Name == "fat tree" {
		noun = "pod"
	}
	p.addGroups(p.parts(), noun)
	p.addGroups(p.planes(), "plane")
}

// parts returns the switches that belong together: pods of a tree, groups of a
// dragonfly, otherwise each switch.
func (p *Picture) parts() [][]*fabric.Node {
	switch p.Shape.Name {
	case "fat tree":
		return p.pods()
	case "dragonfly":
		return p.Shape.Groups
	}
	var parts [][]*fabric.Node
	for _, n := range p.switches() {
		parts = append(parts, []*fabric.Node{n})
	}
	return parts
}

// pods returns the connected parts of a tree below the top level, in name order.
func (p *Picture) pods() [][]*fabric.Node {
	var pods [][]*fabric.Node
	known := map[*fabric.Node]bool{}
	for _, first := range p.switches() {
		if known[first] || p.isTop(first) {
			continue
		}
		pod := []*fabric.Node{first}
		known[first] = true
		for i := 0; i < len(pod); i++ {
			for _, port := range linked(pod[i]) {
				if n := port.Peer.Node; n.IsSwitch() && !known[n] && !p.isTop(n) {
					known[n] = true
					pod = append(pod, n)
				}
			}
		}
		slices.SortStableFunc(pod, p.byName)
		pods = append(pods, pod)
	}
	return pods
}

func (p *Picture) isTop(n *fabric.Node) bool { return p.Levels.Level[n] == p.Levels.Count-1 }

// planes returns the top switches of a tree that are linked to the same switches, or no
// planes if the picture has room for each switch.
func (p *Picture) planes() [][]*fabric.Node {
	top := slices.DeleteFunc(p.switches(), func(n *fabric.Node) bool { return !p.isTop(n) })
	if p.Shape.Name != "fat tree" || len(top) <= mostTop {
		return nil
	}
	var planes [][]*fabric.Node
	index := map[string]int{}
	for _, n := range top {
		var guids []string
		for _, port := range linked(n) {
			guids = append(guids, port.Peer.Node.GUID.String())
		}
		slices.Sort(guids)
		key := strings.Join(slices.Compact(guids), " ")
		i, known := index[key]
		if !known {
			i = len(planes)
			index[key] = i
			planes = append(planes, nil)
		}
		planes[i] = append(planes[i], n)
	}
	return planes
}

// addGroups adds groups of switches with their end nodes. Titles that are not unique get
// a number, empty titles the noun and a number.
func (p *Picture) addGroups(parts [][]*fabric.Node, noun string) {
	titles := make([]string, len(parts))
	uses, numbers := map[string]int{"": 2}, map[string]int{}
	for i, switches := range parts {
		titles[i] = p.title(switches)
		uses[titles[i]]++
	}
	for i, switches := range parts {
		title := titles[i]
		if uses[title] > 1 {
			numbers[title]++
			title = fmt.Sprintf("%s %d", cmp.Or(title, noun), numbers[title])
		}
		p.addGroup(title, switches)
	}
}

func (p *Picture) addGroup(title string, switches []*fabric.Node) {
	g := &group{title: title, switches: switches}
	for _, n := range switches {
		g.ends = append(g.ends, p.below[n]...)
	}
	known := map[int]bool{}
	for _, n := range slices.Concat(g.switches, g.ends) {
		p.groupOf[n] = g
		for _, i := range p.cableOf[n] {
			if !known[i] {
				known[i] = true
				g.cables = append(g.cables, i)
			}
		}
	}
	p.groups = append(p.groups, g)
}
