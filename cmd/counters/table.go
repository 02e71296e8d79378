package counters

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/counters"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
)

// A table prints ports as lines.
type table struct {
	names    *fabric.NameMap
	colour   *render.Palette
	window   bool // two samples
	data     bool // traffic
	ber      bool
	findings bool
	chosen   []counters.Counter
}

// print writes the rows.
func (t *table) print(out *render.Output, rows []row) {
	if len(rows) > 0 {
		render.Columns(out, t.columns(), rows)
	}
}

func (t *table) columns() []render.Column[row] {
	columns := []render.Column[row]{
		{Header: "NODE", Append: func(b []byte, w row) []byte { return t.names.AppendName(b, w.Node) }},
		{Header: "PORT", Append: func(b []byte, w row) []byte { return strconv.AppendUint(b, uint64(w.Number), 10) }},
		{Header: "PEER", Append: t.appendPeer},
		{Header: "PEER PORT", Append: appendPeerPort},
	}
	switch {
	case t.data && t.window:
		columns = append(columns,
			column("OUT Gb/s", rate(counters.XmitData)),
			column("OUT %", utilization(counters.XmitData)),
			column("IN Gb/s", rate(counters.RcvData)),
			column("IN %", utilization(counters.RcvData)),
			column("WAIT %", waitPercent))
	case t.data:
		columns = append(columns,
			column("OUT", amount(counters.XmitData)),
			column("IN", amount(counters.RcvData)),
			column("OUT PACKETS", t.value(counters.XmitPkts)),
			column("IN PACKETS", t.value(counters.RcvPkts)))
	}
	for _, c := range t.chosen {
		columns = append(columns, column(c.String(), t.value(c)))
		if t.window {
			columns = append(columns, column("/s", perSecond(c)))
		}
	}
	if t.ber {
		columns = append(columns, column("BIT ERROR RATE", bitErrors))
		for _, r := range counters.BERRules {
			columns = append(columns, column(fmt.Sprintf("%.0e", r.Limit), verdict(r)))
		}
	}
	if t.findings {
		columns = append(columns,
			column("CAUSE", t.class),
			column("WORST COUNTER", t.worst))
		if t.window {
			columns = append(columns, column("PER SECOND", worstRate))
		}
		columns = append(columns, column("MEANING", t.meaning))
	}
	return columns
}

// column returns a column with the text of a row.
func column(header string, text func(row) string) render.Column[row] {
	return render.Column[row]{Header: header, Append: func(b []byte, w row) []byte { return append(b, text(w)...) }}
}

func (t *table) appendPeer(b []byte, w row) []byte {
	if w.Peer == nil {
		return append(b, render.Absent...)
	}
	return t.names.AppendName(b, w.Peer.Node)
}

func appendPeerPort(b []byte, w row) []byte {
	if w.Peer == nil {
		return append(b, render.Absent...)
	}
	return strconv.AppendUint(b, uint64(w.Peer.Number), 10)
}

// percent returns a part of 1 in percent.
func percent(v float64, ok bool) string {
	if !ok {
		return render.Absent
	}
	return strconv.FormatFloat(v*100, 'f', 1, 64)
}

func rate(c counters.Counter) func(row) string {
	return func(w row) string {
		if w.delta == nil {
			return render.Absent
		}
		bytes, ok := w.delta.BytesPerSecond(c)
		if !ok {
			return render.Absent
		}
		return strconv.FormatFloat(bytes*8/1e9, 'f', 2, 64)
	}
}

func utilization(c counters.Counter) func(row) string {
	return func(w row) string {
		if w.delta == nil {
			return render.Absent
		}
		return percent(w.Utilization(w.delta, c))
	}
}

func waitPercent(w row) string {
	if w.delta == nil {
		return render.Absent
	}
	return percent(w.LostBandwidth(w.delta))
}

// amount returns the value of a counter of data in bytes.
func amount(c counters.Counter) func(row) string {
	return func(w row) string {
		if w.Now == nil {
			return render.Absent
		}
		v, ok := w.Now.Value(c)
		if !ok {
			return render.Absent
		}
		text := bytesText(float64(v.N) * 4)
		if v.Saturated() {
			text += " (saturated)"
		}
		return text
	}
}

// bytesText returns an amount of data with a unit of powers of 1000.
func bytesText(v float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB"}
	i := 0
	for ; v >= 1000 && i < len(units)-1; i++ {
		v /= 1000
	}
	if i == 0 {
		return fmt.Sprintf("%.0f B", v)
	}
	return fmt.Sprintf("%.2f %s", v, units[i])
}

// value returns a counter, or its increase in a window.
func (t *table) value(c counters.Counter) func(row) string {
	return func(w row) string {
		if w.Now == nil {
			return render.Absent
		}
		v, ok := w.Now.Value(c)
		switch {
		case !ok:
			return render.Absent
		case v.Saturated():
			return strconv.FormatUint(v.N, 10) + " (saturated)"
		case !t.window:
			return strconv.FormatUint(v.N, 10)
		case w.delta == nil:
			return render.Absent
		}
		ch, ok := w.delta.Change(c)
		if !ok {
			return render.Absent
		}
		return "+" + strconv.FormatUint(ch.Increase, 10)
	}
}

func perSecond(c counters.Counter) func(row) string {
	return func(w row) string {
		if w.delta == nil {
			return render.Absent
		}
		v, ok := w.delta.PerSecond(c)
		if !ok {
			return render.Absent
		}
		return rateText(v)
	}
}

// rateText returns a rate with four significant digits.
func rateText(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func bitErrors(w row) string {
	if w.delta == nil {
		return render.Absent
	}
	b, ok := w.SymbolBER(w.delta)
	switch {
	case !ok:
		return render.Absent
	case b.Errors == 0:
		return fmt.Sprintf("below %.1e", b.Rate())
	}
	return fmt.Sprintf("%.1e", b.Rate())
}

func verdict(r counters.BERRule) func(row) string {
	return func(w row) string {
		if w.delta == nil {
			return render.Absent
		}
		b, ok := w.SymbolBER(w.delta)
		if !ok {
			return render.Absent
		}
		return b.Judge(r).String()
	}
}

func (t *table) class(w row) string {
	if len(w.findings) == 0 || w.findings[0].Class == 0 {
		return render.Absent
	}
	text := w.findings[0].Class.String()
	if w.findings[0].Class == counters.Cable {
		return t.colour.Bad(text)
	}
	return t.colour.Warn(text)
}

func (t *table) worst(w row) string {
	if len(w.findings) == 0 {
		return render.Absent
	}
	return w.findings[0].Text()
}

func worstRate(w row) string {
	if len(w.findings) == 0 || !w.findings[0].InWindow {
		return render.Absent
	}
	return perSecond(w.findings[0].Counter)(w)
}

// meaning returns the meaning of the worst finding, and the others.
func (t *table) meaning(w row) string {
	if len(w.findings) == 0 {
		return render.Absent
	}
	text := w.findings[0].Meaning
	var others []string
	for _, f := range w.findings[1:] {
		others = append(others, f.Text())
	}
	if len(others) > 0 {
		text += "; also " + strings.Join(others, ", ")
	}
	return text
}

// A summary counts the ports of a result.
type summary struct {
	switches, adapters, routers, ports int
	problems                           int // ports
	classes                            map[counters.Class]int
	failures                           int

	// Of ports with a measured bit error rate: those without errors, and the one with
	// the largest bound.
	clean  int
	bound  float64
	rate   float64
	window time.Duration
}

func summarize(r *counters.Result) summary {
	s := summary{classes: map[counters.Class]int{}}
	for _, n := range r.Nodes {
		switch n.Info.NodeType {
		case mad.NodeTypeSwitch:
			s.switches++
		case mad.NodeTypeRouter:
			s.routers++
		default:
			s.adapters++
		}
		s.failures += len(n.Failures)
		s.ports += n.NumRead()
		for _, p := range n.Ports {
			s.add(p, r.Findings(p))
		}
	}
	return s
}

func (s *summary) add(p *counters.Port, findings []counters.Finding) {
	if i := slices.IndexFunc(findings, counters.Finding.IsProblem); i >= 0 {
		s.problems++
		if class := findings[i].Class; class != 0 {
			s.classes[class]++
		}
	}
	d := p.Delta()
	if d == nil {
		return
	}
	s.window = max(s.window, d.Window())
	b, ok := p.SymbolBER(d)
	if !ok || b.Errors > 0 {
		return
	}
	s.clean++
	if b.Rate() > s.bound {
		s.bound, s.rate = b.Rate(), b.Bits/b.Window.Seconds()
	}
}

// print writes the summary.
func (s *summary) print(out *render.Output, r *counters.Result, colour *render.Palette) {
	for _, m := range r.Missing {
		fmt.Fprintf(out, "%s %v port %d is in the baseline, but not in the fabric\n", colour.Warn("missing:"), m.Node, m.Port)
	}
	if s.window > 0 {
		fmt.Fprintf(out, "window %v", s.window.Round(10*time.Millisecond))
		if s.clean > 0 {
			fmt.Fprintf(out, "; %s without symbol errors: bit error rate below %.1e at %.0f Gb/s%s",
				render.Count(s.clean, "port", "ports"), s.bound, s.rate/1e9, s.unproved())
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%s, %s", render.Count(s.switches, "switch", "switches"), render.Count(s.adapters, "channel adapter", "channel adapters"))
	if s.routers > 0 {
		fmt.Fprintf(out, ", %s", render.Count(s.routers, "router", "routers"))
	}
	fmt.Fprintf(out, ", %s: ", render.Count(s.ports, "port", "ports"))
	verdict, mark := "no findings", colour.Good
	if s.problems > 0 {
		verdict, mark = render.Count(s.problems, "port with findings", "ports with findings")+s.byClass(), colour.Bad
	}
	if r.Partial() {
		verdict, mark = "partial result, "+verdict, colour.Bad
	}
	fmt.Fprintln(out, mark(verdict))
}

// unproved returns a remark if the window is too short for the first rule.
func (s *summary) unproved() string {
	limit := counters.BERRules[0].Limit
	if s.bound <= limit {
		return ""
	}
	needs := time.Duration(1 / limit / s.rate * float64(time.Second))
	return fmt.Sprintf("; a claim of %.0e needs %v", limit, needs.Round(time.Second))
}

func (s *summary) byClass() string {
	var parts []string
	for _, class := range counters.Classes {
		if n := s.classes[class]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n, class))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + cmp.Or(strings.Join(parts, ", ")) + ")"
}
