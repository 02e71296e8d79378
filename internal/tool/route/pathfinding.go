package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ranges"
	"github.com/ibkit/ibkit/report"
)

// PathKinds are a path's finding kinds.
var PathKinds = slices.Concat([]report.Kind{
	report.Unreachable, report.ForwardingLoop, report.NotActive, report.Unchecked, report.Detour, report.OtherRecord, report.LaneDropped,
}, linkKinds, []report.Kind{report.Asymmetric, report.Adaptive})

// linkKinds are the kinds of link findings that files have no data for.
var linkKinds = []report.Kind{
	report.NoReply, report.NoPeer, report.OneSided, report.Unstable, report.Invalid, report.Narrow, report.Slow, report.Uneven, report.Limited,
	report.Disabled, report.Exceeded,
}

// Unchecked returns the finding kinds that need data which files lack: port attributes,
// subnet administration records, service levels. It is nil for a scan.
func (r *PathsResult) Unchecked() []report.Kind {
	if r.Fabric != nil {
		return nil
	}
	kinds := slices.Concat([]report.Kind{report.OtherRecord}, linkKinds)
	if !r.Routing.hasStates() {
		kinds = append(kinds, report.NotActive)
	}
	if r.Routing.PathSLs == nil {
		kinds = append(kinds, report.LaneDropped)
	}
	return kinds
}

// A PathPlace is the [report.Finding.Data] for a path's findings.
type PathPlace struct {
	Pair    int  `json:"pair"` // index in the document's pairs
	Reverse bool `json:"reverse"`
	Hop     *int `json:"hop"` // index in Hops; null: the whole path
}

// Findings lists a path's problems. names may be nil.
func (p *Path) Findings(names *fabric.NameMap) []report.Finding {
	w := namer{names}
	var findings []report.Finding
	add := func(kind report.Kind, format string, args ...any) {
		findings = append(findings, p.finding(w, kind, format, args...))
	}
	switch end := w.place(p.End, p.EndPort); {
	case p.Cause == 0 && p.Shortest >= 0 && len(p.Hops) > p.Shortest:
		add(report.Detour, "%d links; a shortest path has %d", len(p.Hops), p.Shortest)
	case p.Cause == Unattached:
		add(report.Unreachable, "%s has no link", w.port(p.From))
	case p.Cause == Unconnected:
		add(report.Unreachable, "no links connect the ports")
	case p.Cause == Unseen && p.Group == 0 && p.End.Tables != nil && p.End.Tables.Incomplete:
		add(report.Unchecked, "the table of %s was read in part only, without LID %d", w.node(p.End), p.LID)
	case p.Cause == Unseen:
		add(report.Unchecked, "the table of %s was not read", w.node(p.End))
	case p.Cause == Silent:
		add(report.Unchecked, "the node behind %s did not respond", end)
	case p.Cause == InLoop:
		add(report.ForwardingLoop, "packets return to %s", w.node(p.End))
	case p.Cause == NotMember:
		add(report.Unreachable, "packets of group 0x%x do not reach the port", uint16(p.Group))
	case p.Cause != 0:
		add(report.Unreachable, "the path ends at %s: %s", end, p.reason())
	}
	if p.Circle != nil {
		add(report.ForwardingLoop, "packets of group 0x%x return to %s through %s", uint16(p.Group), w.node(p.Circle.Peer.Node), w.port(p.Circle))
	}
	for i, h := range p.Hops {
		at := func(kind report.Kind, port *Port, format string, args ...any) {
			findings = append(findings, w.hopFinding(kind, i, port, format, args...))
		}
		if end := h.Output.Inactive(); end != nil {
			text := end.State.String()
			if far := h.Output.Peer; far != end && far.inactive() {
				text += fmt.Sprintf(", %v at %s", far.State, w.port(far))
			}
			at(report.NotActive, end, "state %s", text)
		}
		if detail := p.adaptive(h.Output); detail != "" {
			at(report.Adaptive, h.Output, "%s", detail)
		}
		if lanes := h.Output.VLs.Lanes(); h.VL != nil && (*h.VL == vlDropped || lanes > 0 && int(*h.VL) >= lanes) {
			at(report.LaneDropped, h.Output, "VL %d of SL %d is not operational: packets are dropped", *h.VL, *p.SL)
		}
	}
	return append(findings, p.compareRecord(w)...)
}

// finding returns a finding about the whole path.
func (p *Path) finding(w namer, kind report.Kind, format string, args ...any) report.Finding {
	to := fmt.Sprintf("LID %d", p.LID)
	if p.To != nil {
		to = w.node(p.To.Node)
	}
	f := report.New(kind, w.node(p.From.Node)+" to "+to, fmt.Sprintf(format, args...))
	f.Data = &PathPlace{}
	return f
}

// hopFinding returns a finding about a hop's port.
func (w namer) hopFinding(kind report.Kind, hop int, p *Port, format string, args ...any) report.Finding {
	f := report.New(kind, w.port(p), fmt.Sprintf(format, args...)).At(p.Node.GUID, int(p.Number))
	f.Data = &PathPlace{Hop: &hop}
	return f
}

// adaptive describes adaptive routing at an output port on the path, "" without it.
func (p *Path) adaptive(output *Port) string {
	a := output.Node.Adaptive
	switch group := a.Group(p.LID); {
	case p.Group != 0 || a == nil:
		return ""
	case a.Unconfirmed != "":
		return "adaptive routing on: static view: " + a.Unconfirmed
	case group != nil:
		return "one of ports " + strings.ReplaceAll(ranges.Format(group.Ports()), ",", ", ")
	}
	return ""
}

// reason returns the cause at a path's end in words.
func (p *Path) reason() string {
	switch p.Cause {
	case NoEntry:
		return "the table has no entry"
	case BeyondTop:
		return fmt.Sprintf("the LID is above %d, the highest LID in use", p.End.Tables.Top)
	case NoSuchPort:
		return "the port does not exist"
	case DeadEnd:
		if p.End.Ports[p.EndPort].State == ib.PortDown {
			return "the port is down"
		}
		return "the port has no link"
	case WrongEnd:
		return "it leads to another end port"
	case WrongZero:
		return "the LID is not that of the switch"
	}
	return p.Cause.String()
}

// place names an output port, or the node if the table has no port.
func (w namer) place(n *Node, port uint8) string {
	switch {
	case n == nil:
		return ""
	case port == NoRoute:
		return w.node(n)
	}
	return fabric.PortName(w.node(n), int(port))
}

// A PathRecord is a path's or multicast group's properties according to subnet
// administration.
type PathRecord struct {
	Found bool // false: there is no record
	SL    uint8
	MTU   ib.MTU
	Rate  ib.Rate
}

// compareRecord compares the path with its record. A path's MTU and rate are the lowest
// among its links. A group's values may be lower, and the values for a path from or to a
// switch, too: opensm includes port 0's values.
func (p *Path) compareRecord(w namer) (findings []report.Finding) {
	add := func(format string, args ...any) {
		findings = append(findings, p.finding(w, report.OtherRecord, format, args...))
	}
	r := p.Record
	switch {
	case r == nil || p.Cause == Unseen || p.Cause == Silent:
		return nil
	case !r.Found && p.Group != 0:
		add("subnet administration has no group with LID 0x%x", uint16(p.Group))
		return findings
	case !r.Found && p.Cause == 0:
		add("subnet administration has no record of the path")
		return findings
	case !r.Found:
		return nil
	case p.Cause != 0:
		if p.Group == 0 {
			add("subnet administration has a record of the path")
		}
		return findings
	case len(p.Hops) == 0:
		return nil
	}
	exact := p.Group == 0 && !p.From.Node.IsSwitch() && !p.To.Node.IsSwitch()
	if mtu := p.mtu(); mtu != 0 && r.MTU != mtu && (exact || r.MTU > mtu) {
		add("the record has MTU %v; the links have %v", r.MTU, mtu)
	}
	if rate := p.rate(); rate != 0 && r.Rate != rate && (exact || r.Rate.Compare(rate) > 0) {
		add("the record has a rate of %v; the slowest link has %v", r.Rate, rate)
	}
	return findings
}

// mtu returns the links' lowest MTU, 0 if any is unknown.
func (p *Path) mtu() ib.MTU {
	return slices.MinFunc(p.Hops, func(a, b Hop) int { return cmp.Compare(a.Output.MTU, b.Output.MTU) }).Output.MTU
}

// rate returns the links' lowest rate, 0 if any is unknown.
func (p *Path) rate() ib.Rate {
	var lowest ib.Rate
	for i, h := range p.Hops {
		rate := ib.RateOf(h.Output.Width, h.Output.Speed)
		if rate == 0 {
			return 0
		}
		if i == 0 || rate.Compare(lowest) < 0 {
			lowest = rate
		}
	}
	return lowest
}
