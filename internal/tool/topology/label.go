package topology

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
)

// separators end the parts of a name.
const separators = "-_./: "

// title returns the name that switches have in common: the whole name of a single
// switch, "pod1" for pod1-leaf1 and pod1-leaf2, "" without such a name.
func (p *Picture) title(switches []*fabric.Node) string {
	if len(switches) == 1 {
		return p.Names.Name(switches[0])
	}
	prefix := p.prefix(switches)
	if i := strings.LastIndexAny(prefix, separators); i >= 0 {
		return strings.TrimRight(prefix[:i], separators)
	}
	return prefix
}

// prefix returns the beginning that nodes' names have in common. It ends before a
// number that differs, not within the number.
func (p *Picture) prefix(nodes []*fabric.Node) string {
	if len(nodes) == 0 {
		return ""
	}
	first := p.Names.Name(nodes[0])
	prefix := first
	for _, n := range nodes[1:] {
		name := p.Names.Name(n)
		for !strings.HasPrefix(name, prefix) {
			r := []rune(prefix)
			prefix = string(r[:len(r)-1])
		}
	}
	if prefix == first && len(nodes) > 1 {
		return "" // a name would be empty
	}
	return strings.TrimRight(prefix, "0123456789")
}

// shorten sets the nodes' labels where their names are too long: names without the
// part that end nodes below a switch, or switches side by side, have in common.
func (p *Picture) shorten() {
	for _, nodes := range p.families() {
		prefix := p.prefix(nodes)
		prefix = prefix[:strings.LastIndexAny(prefix, separators)+1]
		for _, n := range nodes {
			if prefix != "" {
				p.short[n] = strings.TrimPrefix(p.Names.Name(n), prefix)
			}
		}
	}
}

// families returns the nodes that are side by side: end nodes below a switch, and
// switches on a level, or on a level in a pod or dragonfly group.
func (p *Picture) families() [][]*fabric.Node {
	type key struct {
		pod   int
		level int
	}
	pod := map[*fabric.Node]int{}
	if parts := p.parts(); p.Shape.Name == "dragonfly" || p.Shape.Name == "fat tree" && p.Levels.Count > 2 {
		for i, part := range parts {
			for _, n := range part {
				pod[n] = i + 1
			}
		}
	}
	ranks := map[key][]*fabric.Node{}
	for _, n := range p.switches() {
		k := key{pod[n], p.Levels.Level[n]}
		ranks[k] = append(ranks[k], n)
	}
	families := slices.Collect(maps.Values(ranks))
	return slices.AppendSeq(families, maps.Values(p.below))
}

// label returns a node's label with at most a number of characters.
func (p *Picture) label(n *fabric.Node, most int) string {
	name := p.Names.Name(n)
	if len([]rune(name)) > most {
		name = cmp.Or(p.short[n], name)
	}
	return cutMiddle(name, most)
}

// cutMiddle shortens a text in its middle, because names differ at their end.
func cutMiddle(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	head := (most - 1) / 3
	return string(r[:head]) + "…" + string(r[len(r)-(most-1-head):])
}
