package route

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// A Kind is a kind of finding, of a routing or of a path.
type Kind string

// The kinds of findings of both routings and paths.
const (
	KindUnreachable Kind = "unreachable"     // paths end before their destination
	KindLoop        Kind = "forwarding-loop" // tables forward packets in a loop
	KindInactive    Kind = "not-active"      // a link that paths cross carries no data
)

// The other kinds of findings of a routing.
const (
	KindCredit     Kind = "credit-loop"   // buffers can wait for each other for ever
	KindUnbalanced Kind = "unbalanced"    // links of a switch have uneven numbers of destinations
	KindMulticast  Kind = "multicast"     // a group has a loop, or does not reach all members
	KindSamePath   Kind = "same-path"     // all LIDs of a port have the same path
	KindExcess     Kind = "beyond-switch" // a table exceeds the switch
	KindDuplicate  Kind = "duplicate-lid" // two ports have one LID
	KindChanging   Kind = "changing"      // tables changed while they were read
)

// Kinds are the kinds of findings of a routing.
var Kinds = []Kind{
	KindUnreachable, KindLoop, KindInactive, KindCredit, KindUnbalanced, KindMulticast, KindSamePath, KindExcess, KindDuplicate, KindChanging,
}

// A Finding is a defect of a routing.
type Finding struct {
	Kind   Kind
	Node   *Node // the switch; nil: the finding has no single one
	Count  uint64
	Detail string

	// Ports are the output ports of a loop with their virtual lanes.
	Ports []CreditHop

	// Balance are the uneven groups of links of [KindUnbalanced], the worst first.
	Balance []PortGroup
}

// A namer names nodes.
type namer struct{ names *fabric.NameMap }

func (w namer) node(n *Node) string { return w.names.LabelOf(n.GUID, n.Desc) }

// name is the name of a node in a report, which has its GUID, too.
func (w namer) name(n *Node) string { return w.names.NameOf(n.GUID, n.Desc) }

func (w namer) port(p *Port) string { return fabric.PortName(w.node(p.Node), int(p.Number)) }

// path names the ends of a path as an example.
func (w namer) path(from *Port, lid ib.LID, to *Port) string {
	end := fmt.Sprintf("LID %d", lid)
	if to != nil {
		end = fmt.Sprintf("%s (LID %d)", w.node(to.Node), lid)
	}
	if from == nil {
		return "to " + end
	}
	return w.node(from.Node) + " to " + end
}

// Findings lists the findings of an analysis, by kind and the worst of each kind first.
// names may be nil.
func (a *Analysis) Findings(names *fabric.NameMap) []Finding {
	w := namer{names}
	findings := slices.Concat(a.unreachable(w), a.loops(w), a.inactive(w), a.unbalanced(w), a.multicast(w))
	if d := a.Disjoint; d != nil && d.Same > 0 {
		findings = append(findings, Finding{Kind: KindSamePath, Node: d.From, Count: uint64(d.Same), Detail: fmt.Sprintf(
			"all LIDs have the same path in %d of %d pairs of a switch and a port, for example from %s to %s", d.Same, d.Groups, w.node(d.From), w.node(d.To.Node))})
	}
	for _, f := range a.AdaptiveFaults {
		kind := KindUnreachable
		if f.Cause == InLoop {
			kind = KindLoop
		}
		findings = append(findings, Finding{Kind: kind, Node: f.Switch, Count: uint64(f.LIDs), Detail: fmt.Sprintf(
			"%s[%d], a port of adaptive routing: %v: %s, for example %s", w.node(f.Switch), f.Port, f.Cause, counted(f.LIDs, "LID"), w.path(nil, f.LID, f.To))})
	}
	for _, e := range a.Excess {
		findings = append(findings, Finding{Kind: KindExcess, Node: e.Switch, Count: uint64(e.Count), Detail: w.node(e.Switch) + ": " + e.Detail})
	}
	for _, d := range a.Duplicates {
		findings = append(findings, Finding{Kind: KindDuplicate, Count: 1, Detail: fmt.Sprintf("LID %d: %s and %s", d.LID, w.port(d.A), w.port(d.B))})
	}
	for _, n := range a.Routing.Changing {
		findings = append(findings, Finding{Kind: KindChanging, Node: n, Count: 1, Detail: w.node(n) + ": its tables changed during each of " + fmt.Sprint(maxReads) + " reads"})
	}
	return findings
}

func (a *Analysis) unreachable(w namer) (findings []Finding) {
	for _, f := range a.Faults {
		example := w.path(f.From, f.LID, f.To)
		switch f.Cause {
		case Unseen:
			continue // the routing is partial
		case Unattached:
			findings = append(findings, Finding{Kind: KindUnreachable, Count: f.Paths, Detail: fmt.Sprintf("%s: no link to a switch", w.port(f.From))})
			continue
		}
		at := w.node(f.Switch)
		if f.Port != NoRoute {
			at = fabric.PortName(at, int(f.Port))
		}
		findings = append(findings, Finding{Kind: KindUnreachable, Node: f.Switch, Count: f.Paths, Detail: fmt.Sprintf(
			"%s: %v: %s to %s end, for example %s", at, f.Cause, counted(f.Paths, "path"), counted(f.LIDs, "LID"), example)})
	}
	return findings
}

func (a *Analysis) loops(w namer) (findings []Finding) {
	for _, l := range a.Loops {
		hops := make([]CreditHop, len(l.Ports))
		for i, p := range l.Ports {
			hops[i].Port = p
		}
		findings = append(findings, Finding{Kind: KindLoop, Node: l.Ports[0].Node, Count: l.Paths, Ports: hops, Detail: fmt.Sprintf(
			"%s: %s to %s, for example %s", w.cables(hops, false), counted(l.Paths, "path"), counted(l.LIDs, "LID"), w.path(l.From, l.LID, l.To))})
	}
	for _, l := range a.CreditLoops {
		detail := w.cables(l.Hops, a.Lanes == LanesKnown)
		if l.Channels > len(l.Hops) {
			detail += fmt.Sprintf(" (%d of %d channels that depend on each other)", len(l.Hops), l.Channels)
		}
		if a.Lanes == LanesUnknown {
			detail += ", if all paths use one virtual lane"
		}
		if h := l.Hops[0]; h.From != nil {
			detail += "; its first cable is on the path from " + w.path(h.From, h.LID, h.To)
		}
		findings = append(findings, Finding{Kind: KindCredit, Node: l.Hops[0].Port.Node, Count: uint64(l.Channels), Ports: l.Hops, Detail: detail})
	}
	return findings
}

// cables lists the cables of a loop.
func (w namer) cables(hops []CreditHop, lanes bool) string {
	var b strings.Builder
	for _, h := range hops {
		b.WriteString(w.port(h.Port))
		if lanes {
			fmt.Fprintf(&b, " VL %d", h.VL)
		}
		b.WriteString(" → ")
	}
	b.WriteString(w.node(hops[0].Port.Node))
	return b.String()
}

func (a *Analysis) inactive(w namer) (findings []Finding) {
	for _, l := range a.Inactive {
		p := l.Port
		findings = append(findings, Finding{Kind: KindInactive, Node: p.Node, Count: l.Paths, Detail: fmt.Sprintf(
			"%s: %s cross a link without data (%v at this end, %v at %s)", w.port(p), counted(l.Paths, "path"), p.State, p.Peer.State, w.port(p.Peer))})
	}
	return findings
}

func (a *Analysis) multicast(w namer) (findings []Finding) {
	for i := range a.Trees {
		t := &a.Trees[i]
		add := func(count int, format string, args ...any) {
			findings = append(findings, Finding{Kind: KindMulticast, Count: uint64(count), Detail: fmt.Sprintf("LID 0x%x: ", uint16(t.LID)) + fmt.Sprintf(format, args...)})
		}
		if t.Loop != nil {
			add(1, "a loop through %s", w.port(t.Loop))
		}
		if n := len(t.Apart); n > 0 {
			add(n, "packets of other members do not reach %d of %d members, for example %s", n, t.Members, w.node(t.Apart[0].Node))
		}
		if n := len(t.Unreached); n > 0 {
			add(n, "no entry leads to %d of %d members, for example %s", n, t.Joined, w.node(t.Unreached[0].Node))
		}
		if n := len(t.Cut); n > 0 {
			add(n, "no entry at the switch of %s, for example of %s", counted(n, "sender"), w.node(t.Cut[0].Node))
		}
		if n := len(t.Strangers); n > 0 {
			add(n, "entries for %s without a membership, for example of %s", counted(n, "port"), w.node(t.Strangers[0].Node))
		}
		if n := len(t.OneWay); n > 0 {
			add(n, "%s without an entry in the opposite direction, for example %s", counted(n, "link"), w.port(t.OneWay[0]))
		}
		if n := len(t.Dead); n > 0 {
			add(n, "%s without a link, for example %s", counted(n, "output port"), w.port(t.Dead[0]))
		}
	}
	return findings
}

// counted returns a number with its noun.
func counted[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
