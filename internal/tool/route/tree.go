package route

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/enum"
)

// A Cause is the reason why packets do not arrive.
type Cause uint8

// The causes. A packet's path ends at the switch with the cause.
const (
	NoEntry     Cause = iota + 1 // the table has no port for the LID
	BeyondTop                    // the LID is above the highest LID in use
	NoSuchPort                   // the port does not exist
	DeadEnd                      // the port has no link
	WrongEnd                     // the port leads to another end port
	WrongZero                    // port 0, but the LID is not the switch's LID
	InLoop                       // the tables forward the packet in a loop
	Unattached                   // the source has no link to a switch
	Unseen                       // the table was not read: the path is unknown
	Silent                       // the port's peer did not respond: the path is unknown
	NotMember                    // the group's tables do not lead to the destination
	Unconnected                  // no links connect the ports
	causes
)

var causeNames = [...]string{"", "no entry", "beyond top", "no such port", "dead end", "wrong end", "wrong port 0", "loop", "unattached", "unseen", "silent", "not a member", "unconnected"}

// String returns the cause in words.
func (c Cause) String() string { return causeNames[c] }

// MarshalText returns the [Cause.String] text. The error is always nil.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText parses a cause's text.
func (c *Cause) UnmarshalText(text []byte) error {
	return enum.Parse(c, NoEntry, causes-1, "cause", text)
}

// arrived is the next hop at a path's last switch. Other negative next hops are the
// cause, negated and less 1.
const arrived int32 = -1

func failed(c Cause) int32 { return -1 - int32(c) }

// A tree is all switches' paths to a single destination LID. The buffers serve many
// destinations.
type tree struct {
	graph *graph
	out   []uint8 // output port by switch
	next  []int32 // next switch, arrived, or a cause

	// own has the source count at each switch, load also counts sources with paths that
	// lead through it.
	own, load []int32

	degree []int32 // count of switches that are still to be added to load
	order  []int32 // switches that are not in a loop, each before its next switch
	depth  []int32 // links between switches to the last switch; -1: the path does not arrive

	target int32 // destination's switch, -1: unknown
	dest   int32 // its number as an end port, or a negative owner
}

func newTree(g *graph) *tree {
	n := len(g.switches)
	return &tree{
		graph: g, next: make([]int32, n), own: make([]int32, n), load: make([]int32, n),
		degree: make([]int32, n), order: make([]int32, 0, n), depth: make([]int32, n),
	}
}

// build computes the paths to a LID. out has the LID's entry in each switch's table.
// extra is 1 if switches are sources, too.
func (t *tree) build(lid ib.LID, out []uint8, extra int32) {
	g := t.graph
	t.out = out
	t.dest = g.owner[lid]
	for s := range g.switches {
		t.own[s] = g.hosts[s] + extra
	}
	t.target = -1
	if t.dest >= 0 {
		if t.target = g.ends[t.dest].sw; t.target >= 0 {
			t.own[t.target]--
		}
	} else {
		t.target = -2 - t.dest
		t.own[t.target] -= extra
	}
	clear(t.degree)
	for s := range g.switches {
		n := t.hop(int32(s), lid)
		t.next[s] = n
		if n >= 0 {
			t.degree[n]++
		}
	}
	copy(t.load, t.own)
	t.sort()
}

// hop returns a switch's next hop.
func (t *tree) hop(s int32, lid ib.LID) int32 {
	g, port := t.graph, int32(t.out[s])
	if port > 0 && port < g.radix[s] && int32(lid) <= g.top[s] && !g.gaps[s] {
		c := g.base[s] + port
		if n := g.to[c]; n >= 0 {
			return n
		}
		if t.dest >= 0 && g.end[c] == t.dest {
			return arrived
		}
	}
	return t.otherHop(s, lid)
}

// otherHop is hop for entries other than entries that lead to another switch or to the
// destination, and for tables with gaps.
func (t *tree) otherHop(s int32, lid ib.LID) int32 {
	g, port, n := t.graph, t.out[s], t.graph.switches[s]
	switch {
	case g.top[s] < 0 || n.Tables.IsMissing(lid):
		return failed(Unseen)
	case int32(lid) > g.top[s]:
		return failed(BeyondTop)
	case port == NoRoute:
		return failed(NoEntry)
	case int(port) >= len(n.Ports):
		return failed(NoSuchPort)
	case port == 0 && t.dest == -2-s:
		return arrived
	case port == 0:
		return failed(WrongZero)
	}
	c := g.base[s] + int32(port)
	switch {
	case g.to[c] >= 0:
		return g.to[c]
	case t.dest >= 0 && g.end[c] == t.dest:
		return arrived
	case n.Ports[port].Peer == nil:
		return failed(DeadEnd)
	}
	return failed(WrongEnd)
}

// IsMissing reports whether a LID's block was not read, or its entry is missing in a damaged
// file.
func (t *Tables) IsMissing(lid ib.LID) bool {
	if t.Incomplete && t.Lookup(lid) == NoRoute {
		return true
	}
	for _, block := range t.Missing {
		if int(block) == int(lid)/lftBlock {
			return true
		}
	}
	return false
}

// sort orders the switches along the paths and adds up the loads, then finds the
// depths from the destination.
func (t *tree) sort() {
	order := t.order[:0]
	for s := range t.degree {
		t.depth[s] = -1
		if t.degree[s] == 0 {
			order = append(order, int32(s))
		}
	}
	for i := 0; i < len(order); i++ {
		s := order[i]
		n := t.next[s]
		if n < 0 {
			continue
		}
		t.load[n] += t.load[s]
		if t.degree[n]--; t.degree[n] == 0 {
			order = append(order, n)
		}
	}
	for i := len(order) - 1; i >= 0; i-- {
		s := order[i]
		switch n := t.next[s]; {
		case n == arrived:
			t.depth[s] = 0
		case n >= 0 && t.depth[n] >= 0:
			t.depth[s] = t.depth[n] + 1
		}
	}
	t.order = order
}

// looping reports whether a switch is in a loop.
func (t *tree) looping(s int32) bool { return t.degree[s] > 0 }
