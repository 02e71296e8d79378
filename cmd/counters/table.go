package counters

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/registers"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
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

	registers *registers.Reader // nil: not read
}

// print writes the rows.
func (t *table) print(out *render.Output, rows []row) {
	if len(rows) > 0 {
		render.Columns(out, t.columns(), rows)
	}
}

func (t *table) columns() []render.Column[row] {
	columns := []render.Column[row]{
		column("NODE", func(b []byte, w row) []byte { return t.names.AppendName(b, w.Node) }),
		column("PORT", func(b []byte, w row) []byte { return strconv.AppendUint(b, uint64(w.Number), 10) }),
		column("PEER", t.appendPeer),
		column("PEER PORT", appendPeerPort),
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
	if t.registers != nil {
		measured := func(text func(phy.ReportEnd) string) func(row) string {
			return func(w row) string { return text(t.registers.End(w.Port.Port)) }
		}
		columns = append(columns, render.TextColumn("RAW BER", measured(registers.RawBER)),
			render.TextColumn("EFFECTIVE BER", measured(registers.EffectiveBER)), render.TextColumn("SYMBOL BER", measured(registers.SymbolBER)))
	} else if t.ber {
		columns = append(columns, render.TextColumn("BIT ERROR RATE", bitErrors))
	}
	if t.ber {
		for _, r := range counters.BERRules {
			columns = append(columns, render.TextColumn(fmt.Sprintf("%.0e", r.Limit), verdict(r)))
		}
	}
	if t.findings {
		columns = append(columns,
			render.TextColumn("CAUSE", t.class),
			render.TextColumn("WORST COUNTER", worst))
		if t.window {
			columns = append(columns, column("PER SECOND", worstRate))
		}
		columns = append(columns, render.TextColumn("MEANING", meaning))
	}
	return columns
}

// column returns a column that text appends.
func column(header string, text func([]byte, row) []byte) render.Column[row] {
	return render.Column[row]{Header: header, Append: text}
}

func (t *table) appendPeer(b []byte, w row) []byte {
	if w.Peer == nil {
		return appendAbsent(b)
	}
	return t.names.AppendName(b, w.Peer.Node)
}

func appendPeerPort(b []byte, w row) []byte {
	if w.Peer == nil {
		return appendAbsent(b)
	}
	return strconv.AppendUint(b, uint64(w.Peer.Number), 10)
}

func appendAbsent(b []byte) []byte { return append(b, render.Absent...) }

// appendPercent appends a part of 1 in percent.
func appendPercent(b []byte, v float64, ok bool) []byte {
	if !ok {
		return appendAbsent(b)
	}
	return strconv.AppendFloat(b, v*100, 'f', 1, 64)
}

func rate(c counters.Counter) func([]byte, row) []byte {
	return func(b []byte, w row) []byte {
		if w.delta == nil {
			return appendAbsent(b)
		}
		bytes, ok := w.delta.BytesPerSecond(c)
		if !ok {
			return appendAbsent(b)
		}
		return strconv.AppendFloat(b, bytes*8/1e9, 'f', 2, 64)
	}
}

func utilization(c counters.Counter) func([]byte, row) []byte {
	return func(b []byte, w row) []byte {
		if w.delta == nil {
			return appendAbsent(b)
		}
		v, ok := w.Utilization(w.delta, c)
		return appendPercent(b, v, ok)
	}
}

func waitPercent(b []byte, w row) []byte {
	if w.delta == nil {
		return appendAbsent(b)
	}
	v, ok := w.LostBandwidth(w.delta)
	return appendPercent(b, v, ok)
}

const saturated = " (saturated)"

// amount appends the value of a counter of data in bytes.
func amount(c counters.Counter) func([]byte, row) []byte {
	return func(b []byte, w row) []byte {
		if w.Now == nil {
			return appendAbsent(b)
		}
		v, ok := w.Now.Value(c)
		if !ok {
			return appendAbsent(b)
		}
		b = appendBytes(b, float64(v.N)*4)
		if v.Saturated() {
			b = append(b, saturated...)
		}
		return b
	}
}

// byteUnits are the units of amounts of data: powers of 1000.
var byteUnits = [...]string{"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB"}

// appendBytes appends an amount of data with a unit.
func appendBytes(b []byte, v float64) []byte {
	i := 0
	for ; v >= 1000 && i < len(byteUnits)-1; i++ {
		v /= 1000
	}
	decimals := 2
	if i == 0 {
		decimals = 0
	}
	b = append(strconv.AppendFloat(b, v, 'f', decimals, 64), ' ')
	return append(b, byteUnits[i]...)
}

// value appends a counter, or its increase in a window.
func (t *table) value(c counters.Counter) func([]byte, row) []byte {
	return func(b []byte, w row) []byte {
		if w.Now == nil {
			return appendAbsent(b)
		}
		v, ok := w.Now.Value(c)
		switch {
		case !ok:
			return appendAbsent(b)
		case v.Saturated():
			return append(strconv.AppendUint(b, v.N, 10), saturated...)
		case !t.window:
			return strconv.AppendUint(b, v.N, 10)
		case w.delta == nil:
			return appendAbsent(b)
		}
		ch, ok := w.delta.Change(c)
		if !ok {
			return appendAbsent(b)
		}
		return strconv.AppendUint(append(b, '+'), ch.Increase, 10)
	}
}

func perSecond(c counters.Counter) func([]byte, row) []byte {
	return func(b []byte, w row) []byte {
		if w.delta == nil {
			return appendAbsent(b)
		}
		v, ok := w.delta.PerSecond(c)
		if !ok {
			return appendAbsent(b)
		}
		return append(b, rateText(v)...)
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

func worst(w row) string {
	if len(w.findings) == 0 {
		return render.Absent
	}
	return w.findings[0].Text()
}

func worstRate(b []byte, w row) []byte {
	if len(w.findings) == 0 || !w.findings[0].InWindow {
		return appendAbsent(b)
	}
	return perSecond(w.findings[0].Counter)(b, w)
}

// meaning returns the meaning of the worst finding, and the others.
func meaning(w row) string {
	if len(w.findings) == 0 {
		return render.Absent
	}
	text := w.findings[0].Meaning
	var others []string
	for _, f := range w.findings[1:] {
		if text := f.Text(); text != w.findings[0].Text() && !slices.Contains(others, text) {
			others = append(others, text)
		}
	}
	if len(others) > 0 {
		text += "; also " + strings.Join(others, ", ")
	}
	return text
}

// A summary counts the ports of a result.
type summary struct {
	switches, adapters, routers int
	ports, listed               int // read on their own or as a part of sums; with an entry
	missing                     int
	compared                    bool           // with an earlier sample
	problems                    int            // ports
	causes                      map[string]int // ports by the cause of their worst problem

	// Of ports with a measured bit error rate: those without errors, and the one with
	// the largest bound.
	clean  int
	bound  counters.BER
	window time.Duration
	until  time.Time // end of one of several windows, or zero
}

// summarize counts the nodes of a result. add counts their ports.
func summarize(r *counters.Result) *summary {
	s := &summary{causes: map[string]int{}, missing: len(r.Missing)}
	for _, n := range r.Nodes {
		switch n.Info.NodeType {
		case mad.NodeTypeSwitch:
			s.switches++
		case mad.NodeTypeRouter:
			s.routers++
		default:
			s.adapters++
		}
		s.ports += n.NumRead()
		s.listed += len(n.Ports)
	}
	return s
}

func (s *summary) add(w row) {
	if i := slices.IndexFunc(w.findings, counters.Finding.IsProblem); i >= 0 {
		s.problems++
		s.causes[causeOf(w.findings[i])]++
	}
	s.compared = s.compared || w.Before != nil
	if w.delta == nil {
		return
	}
	s.window = max(s.window, w.delta.Window())
	b, ok := w.SymbolBER(w.delta)
	if !ok || b.Errors > 0 {
		return
	}
	s.clean++
	if s.clean == 1 || b.Rate() > s.bound.Rate() {
		s.bound = b
	}
}

// hasProblems reports whether a port has a problem or is no longer in the fabric.
func (s *summary) hasProblems() bool { return s.problems > 0 || s.missing > 0 }

// print writes the summary.
func (s *summary) print(out *render.Output, r *counters.Result, colour *render.Palette) {
	for _, m := range r.Missing {
		fmt.Fprintf(out, "%s %s is in the baseline, but not in the fabric\n", colour.Warn("missing:"), fabric.PortName(m.Node.String(), int(m.Port)))
	}
	if s.window > 0 {
		fmt.Fprintf(out, "window %v", s.window.Round(10*time.Millisecond))
		if !s.until.IsZero() {
			fmt.Fprintf(out, " until %s", s.until.Format(time.TimeOnly))
		}
		if s.clean > 0 {
			fmt.Fprintf(out, "; %s without symbol errors: bit error rate below %.1e at %.0f Gb/s%s",
				plural.Count(s.clean, "port", "ports"), s.bound.Rate(), s.bound.BitRate()/1e9, s.unproved())
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%s, %s", plural.Count(s.switches, "switch", "switches"), plural.Count(s.adapters, "channel adapter", "channel adapters"))
	if s.routers > 0 {
		fmt.Fprintf(out, ", %s", plural.Count(s.routers, "router", "routers"))
	}
	fmt.Fprintf(out, ", %s: ", plural.Count(s.ports, "port", "ports"))
	verdict, mark := "no findings", colour.Good
	if s.ports == 0 {
		verdict, mark = "no port was read", colour.Warn
	}
	if s.problems > 0 {
		verdict, mark = plural.Count(s.problems, "port with findings", "ports with findings")+s.byCause(), colour.Bad
	}
	if s.missing > 0 {
		verdict, mark = verdict+", "+plural.Count(s.missing, "port missing", "ports missing"), colour.Bad
	}
	if r.Partial() {
		verdict, mark = cmdutil.PartialVerdict(r.Fabric.Blind(), s.problems+s.missing, verdict), colour.Bad
	}
	fmt.Fprintln(out, mark(verdict))
}

// unproved returns a remark if the window is too short for the first rule.
func (s *summary) unproved() string {
	rule := counters.BERRules[0]
	if s.bound.Judge(rule) == counters.BERProved {
		return ""
	}
	return fmt.Sprintf("; too short to claim %.0e, which needs %v", rule.Limit, rule.Needs(s.bound.BitRate()).Round(time.Second))
}

// causeOf returns the class of a finding, or its kind if it has no class.
func causeOf(f counters.Finding) string {
	if f.Class == 0 {
		return string(f.Kind)
	}
	return f.Class.String()
}

func (s *summary) byCause() string {
	order := []string{string(report.Disappeared), string(report.Cleared)}
	for i, class := range counters.Classes {
		order = slices.Insert(order, i, class.String())
	}
	var parts []string
	for _, cause := range order {
		if n := s.causes[cause]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, cause))
		}
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
