package route

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// Kinds are a routing's finding kinds.
var Kinds = []report.Kind{
	report.Unreachable, report.ForwardingLoop, report.NotActive, report.CreditLoop, report.Unbalanced, report.Multicast, report.SamePath,
	report.BeyondSwitch, report.DuplicateLID, report.Changing,
}

// FindingData is the [report.Finding.Data] for a routing's findings.
type FindingData struct {
	Count   uint64          `json:"count"`             // paths, channels, destinations, members or entries, by kind
	Ports   []ReportPort    `json:"ports,omitempty"`   // a loop's output ports
	Balance []ReportBalance `json:"balance,omitempty"` // uneven link groups, the worst first
}

// A namer names nodes.
type namer struct{ names *fabric.NameMap }

func (w namer) node(n *Node) string { return w.names.LabelOf(n.GUID, n.Desc) }

// name is a node's name in a report, which has its GUID, too.
func (w namer) name(n *Node) string { return w.names.NameOf(n.GUID, n.Desc) }

func (w namer) port(p *Port) string { return fabric.PortName(w.node(p.Node), int(p.Number)) }

// path names a path's ends as an example.
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

// finding returns a finding without a single node.
func (w namer) finding(kind report.Kind, count uint64, format string, args ...any) report.Finding {
	f := report.New(kind, "", fmt.Sprintf(format, args...))
	f.Data = &FindingData{Count: count}
	return f
}

// at returns a node finding, or with a number other than [NoRoute] a finding for its
// port.
func (w namer) at(kind report.Kind, n *Node, port uint8, count uint64, format string, args ...any) report.Finding {
	f := w.finding(kind, count, format, args...)
	f.Subject = w.place(n, port)
	if port == NoRoute {
		return f.At(n.GUID, -1)
	}
	return f.At(n.GUID, int(port))
}

// Findings lists the findings of an analysis, by kind and the worst of each kind first.
// names may be nil.
func (a *Analysis) Findings(names *fabric.NameMap) []report.Finding {
	w := namer{names}
	findings := slices.Concat(a.unreachable(w), a.loops(w), a.inactive(w), a.unbalanced(w), a.multicast(w))
	if d := a.Disjoint; d != nil && d.Same > 0 {
		findings = append(findings, w.finding(report.SamePath, uint64(d.Same),
			"all LIDs have the same path in %d of %d pairs of a switch and a port, for example from %s to %s", d.Same, d.Groups, w.node(d.From), w.node(d.To.Node)))
	}
	for _, f := range a.AdaptiveFaults {
		kind := report.Unreachable
		if f.Cause == InLoop {
			kind = report.ForwardingLoop
		}
		findings = append(findings, w.at(kind, f.Switch, f.Port, uint64(f.LIDs),
			"a port of adaptive routing: %v: %s, for example %s", f.Cause, counted(f.LIDs, "LID"), w.path(nil, f.LID, f.To)))
	}
	for _, e := range a.Excess {
		findings = append(findings, w.at(report.BeyondSwitch, e.Switch, NoRoute, uint64(e.Count), "%s", e.Detail))
	}
	for _, d := range a.Duplicates {
		findings = append(findings, w.finding(report.DuplicateLID, 1, "LID %d: %s and %s", d.LID, w.port(d.A), w.port(d.B)))
	}
	for _, n := range a.Routing.Changing {
		findings = append(findings, w.at(report.Changing, n, NoRoute, 1, "its tables changed during each of %d reads", maxReads))
	}
	return findings
}

func (a *Analysis) unreachable(w namer) (findings []report.Finding) {
	for _, f := range a.Faults {
		switch f.Cause {
		case Unseen: // the routing is partial
		case Unattached:
			findings = append(findings, w.at(report.Unreachable, f.From.Node, f.From.Number, f.Paths, "no link to a switch"))
		default:
			findings = append(findings, w.at(report.Unreachable, f.Switch, f.Port, f.Paths, "%v: %s to %s end, for example %s",
				f.Cause, counted(f.Paths, "path"), counted(f.LIDs, "LID"), w.path(f.From, f.LID, f.To)))
		}
	}
	return findings
}

func (a *Analysis) loops(w namer) (findings []report.Finding) {
	add := func(kind report.Kind, count uint64, hops []CreditHop, lanes bool, detail string) {
		f := w.finding(kind, count, "%s%s", w.cables(hops, lanes), detail)
		for _, h := range hops {
			p := w.report(h.Port)
			if lanes {
				p.VL = new(h.VL)
			}
			f.Data.(*FindingData).Ports = append(f.Data.(*FindingData).Ports, p)
		}
		findings = append(findings, f)
	}
	for _, l := range a.Loops {
		hops := make([]CreditHop, len(l.Ports))
		for i, p := range l.Ports {
			hops[i].Port = p
		}
		add(report.ForwardingLoop, l.Paths, hops, false,
			fmt.Sprintf(": %s to %s, for example %s", counted(l.Paths, "path"), counted(l.LIDs, "LID"), w.path(l.From, l.LID, l.To)))
	}
	for _, l := range a.CreditLoops {
		detail := ""
		if l.Channels > len(l.Hops) {
			detail += fmt.Sprintf(" (%d of %d channels that depend on each other)", len(l.Hops), l.Channels)
		}
		if a.Lanes == LanesUnknown {
			detail += ", if all paths use a single virtual lane"
		}
		if h := l.Hops[0]; h.From != nil {
			detail += "; its first cable is on the path from " + w.path(h.From, h.LID, h.To)
		}
		add(report.CreditLoop, uint64(l.Channels), l.Hops, a.Lanes == LanesKnown, detail)
	}
	return findings
}

// cables lists a loop's cables.
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

func (a *Analysis) inactive(w namer) (findings []report.Finding) {
	for _, l := range a.Inactive {
		p := l.Port
		findings = append(findings, w.at(report.NotActive, p.Node, p.Number, l.Paths,
			"%s cross a link without data (%v at this end, %v at %s)", counted(l.Paths, "path"), p.State, p.Peer.State, w.port(p.Peer)))
	}
	return findings
}

func (a *Analysis) multicast(w namer) (findings []report.Finding) {
	for i := range a.Trees {
		t := &a.Trees[i]
		add := func(count int, format string, args ...any) {
			f := w.finding(report.Multicast, uint64(count), format, args...)
			f.Subject = fmt.Sprintf("LID 0x%x", uint16(t.LID))
			findings = append(findings, f)
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
