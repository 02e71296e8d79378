package top

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/top"
	"github.com/ibkit/ibkit/report"
)

// The lines of a screen: two of the summary, one for the state, the table, and one for keys.
const (
	summaryLine = 0
	stateLine   = 2
	firstLine   = 3
	keyLines    = 1
)

// pageRows returns the number of rows of a table for a height of the screen.
func pageRows(height int) int { return max(height-firstLine-1-keyLines, 1) }

// draw draws the screen.
func (u *ui) draw(on canvas) {
	p := &pen{on, u.styles}
	width, height := p.Size()
	for y := range height {
		p.blank(0, y, width, u.styles[plain])
	}
	if u.help {
		u.drawHelp(p)
		return
	}
	u.drawKeys(p)
	s := u.state.Sample()
	if s == nil {
		p.put(0, summaryLine, "ibkit top", title)
		p.put(0, stateLine, u.status, plain)
		return
	}
	u.drawSummary(p, s)
	switch u.view().kind {
	case linksView:
		u.drawLinks(p)
	case nodeView:
		u.drawNode(p)
	case portView:
		u.drawPort(p)
	case pathView:
		u.drawPath(p)
	}
}

// drawSummary draws the lines above the tables.
func (u *ui) drawSummary(p *pen, s *top.Sample) {
	width, _ := p.Size()
	clock := s.Time.Format("15:04:05")
	at, of := u.state.Position()
	switch {
	case u.state.Paused():
		clock += fmt.Sprintf("  sample %d of %d, %s ago", at, of, seconds(u.now().Sub(s.Time)))
	case s.Window > 0:
		clock += "  window " + seconds(s.Window)
	default:
		clock += "  first window"
	}
	if !u.state.Paused() && s.Interval > 0 {
		clock += ", every " + seconds(s.Interval)
	}
	x := p.put(0, summaryLine, "ibkit top", title)
	x = p.put(x+2, summaryLine, fmt.Sprintf("%s, %s", plural.Count(s.Summary.Nodes, "node", "nodes"), plural.Count(s.Summary.Links, "link", "links")), plain)
	if start := width - len(clock); start > x+1 {
		r := plain
		if u.state.Paused() {
			r = chosen
		}
		p.put(start, summaryLine, clock, r)
	}
	x = p.put(0, summaryLine+1, "hosts send "+bitRate(s.Totals.Xmit)+"  links:", plain)
	for _, part := range []struct {
		count int
		text  string
		role  role
	}{{s.Totals.Erring, "with errors", bad}, {s.Totals.Waiting, "waiting", warn}, {s.Summary.Problems, "faulty", bad}} {
		r := part.role
		if part.count == 0 {
			r = plain
		}
		x = p.put(x+1, summaryLine+1, fmt.Sprintf("%d %s", part.count, part.text), r)
		x = p.put(x, summaryLine+1, ",", plain)
	}
	p.put(x-1, summaryLine+1, " ", plain)
	if s.Failed > 0 {
		x = p.put(x+1, summaryLine+1, fmt.Sprintf("not read: %d", s.Failed), warn)
	}
	if len(s.Missing) > 0 {
		p.put(x+1, summaryLine+1, "missing: "+missingText(s.Missing), bad)
	}
	if trouble := u.trouble(); trouble != "" {
		p.put(0, stateLine, trouble, bad)
	}
}

// missingText counts and names missing nodes, the last ones first.
func missingText(nodes []top.MissingNode) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[len(nodes)-1-i] = n.Name
	}
	return fmt.Sprintf("%d (%s)", len(nodes), strings.Join(names, ", "))
}

// trouble returns the reason why the sample is old, or not of the whole fabric, or "".
func (u *ui) trouble() string {
	if u.problem != nil {
		return "no new samples: " + messageOf(u.problem)
	}
	if s := u.state.Sample(); s != nil && s.Fabric.Blind() != nil {
		return messageOf(s.Fabric.Blind())
	}
	return ""
}

// caption draws the line above the table, unless it has a problem.
func (u *ui) caption(p *pen, text string) {
	if u.trouble() == "" {
		p.put(0, stateLine, text, faint)
	}
}

// drawKeys draws the last line: a prompt, a message or the keys.
func (u *ui) drawKeys(p *pen) {
	_, height := p.Size()
	y := height - 1
	switch {
	case u.prompt != nil:
		x := p.put(0, y, u.prompt.label+string(u.prompt.text), title)
		p.put(x, y, " ", chosen)
	case u.message != "":
		p.put(0, y, u.message, warn)
	default:
		keys := "q quit ? keys Enter port n node p paths / filter s sort x problems Space pause"
		if u.view().kind != linksView {
			keys = "q quit ? keys Esc back Enter port n node p paths e export Space pause"
		}
		p.put(0, y, keys, faint)
	}
}

// drawHelp draws the list of keys.
func (u *ui) drawHelp(p *pen) {
	p.put(0, 0, "ibkit top: keys", title)
	for i, b := range bindings {
		p.put(0, i+2, b.keys, title)
		p.put(24, i+2, b.text, plain)
	}
	p.put(0, len(bindings)+3, "any key returns", faint)
}

// drawLinks draws the screen of links.
func (u *ui) drawLinks(p *pen) {
	rows := u.state.Rows()
	s := u.state.Sample()
	text := fmt.Sprintf("%s by %v", plural.Count(len(rows), "link", "links"), u.state.Order)
	if u.state.Reverse {
		text += ", reversed"
	}
	if u.state.Filter != "" {
		text += fmt.Sprintf(", filter %q", u.state.Filter)
	}
	if u.state.Problems {
		text += ", only links with errors or findings"
	}
	if u.most > 0 && len(rows) > u.most {
		text = fmt.Sprintf("%d of %s (--limit 0: all)", u.most, text)
	}
	u.caption(p, text)
	_, height := p.Size()
	u.table(p, firstLine, pageRows(height), len(rows), func(i int) top.ReportLink { return s.ReportLink(rows[i]) })
}

// missing is the text of a node or port that the sample does not have.
const missing = "not in this sample"

// drawNode draws the screen of a node.
func (u *ui) drawNode(p *pen) {
	r := u.report(0)
	if r == nil {
		u.caption(p, missing)
		return
	}
	n := r.Node
	text := fmt.Sprintf("%s  %s %v", n.Name, n.Type, n.GUID)
	if n.LID != nil {
		text += fmt.Sprintf("  LID %d", *n.LID)
	}
	text += fmt.Sprintf("  %d of %s up", len(n.Links), plural.Count(n.Ports, "port", "ports"))
	u.caption(p, text)
	_, height := p.Size()
	u.table(p, firstLine, pageRows(height), len(n.Links), func(i int) top.ReportLink { return n.Links[i] })
}

// A column is a column of numbers of a table.
type column struct {
	name  string
	width int
	value func([]byte, *top.ReportLink) []byte
}

var columns = []column{
	{"RATE", 8, func(b []byte, l *top.ReportLink) []byte { return append(b, render.Show(l.Rate)...) }},
	{"ERR/s", 5, func(b []byte, l *top.ReportLink) []byte { return appendRate(b, number(l.Errors)) }},
	{"OUT%", 5, func(b []byte, l *top.ReportLink) []byte { return appendPercent(b, number(l.Transmit)) }},
	{"IN%", 5, func(b []byte, l *top.ReportLink) []byte { return appendPercent(b, number(l.Receive)) }},
	{"WAIT%", 5, func(b []byte, l *top.ReportLink) []byte { return appendPercent(b, number(l.Wait)) }},
}

// sortedColumn returns the index of the column of an order, -1 for an order without a column.
func sortedColumn(o top.Order) int {
	if i, ok := map[top.Order]int{top.ByErrors: 1, top.ByUtilization: 2, top.ByWait: 4}[o]; ok {
		return i
	}
	return -1
}

// linkWidth returns the width of the column of names.
func (u *ui) linkWidth(width int) int {
	const least = 16
	return max(min(width*2/5, u.state.Sample().Widest), least)
}

// table draws the rows of a table around the selected one.
func (u *ui) table(p *pen, y, height, count int, row func(int) top.ReportLink) {
	v := u.view()
	v.selected = max(min(v.selected, count-1), 0)
	v.scroll = max(min(v.scroll, v.selected), v.selected-height+1, 0)
	v.scroll = max(min(v.scroll, count-height), 0)
	u.tableHeader(p, y)
	for i := v.scroll; i < min(v.scroll+height, count); i++ {
		u.row(p, y+1+i-v.scroll, row(i), i == v.selected)
	}
	if count == 0 {
		p.put(0, y+1, "no links", faint)
	}
}

func (u *ui) tableHeader(p *pen, y int) {
	width, _ := p.Size()
	p.blank(0, y, width, u.styles[header])
	x := u.linkWidth(width) + 1
	p.put(0, y, "LINK", header)
	for i, c := range columns {
		r := header
		if u.view().kind == linksView && i == sortedColumn(u.state.Order) {
			r = chosen
		}
		p.put(x+c.width-len(c.name), y, c.name, r)
		x += c.width + 1
	}
	p.put(x, y, "FINDING", header)
}

// row draws one link.
func (u *ui) row(p *pen, y int, l top.ReportLink, selected bool) {
	width, _ := p.Size()
	style := func(r role) tcell.Style {
		if selected {
			return u.styles[chosen]
		}
		return u.styles[r]
	}
	p.blank(0, y, width, style(plain))
	w := u.linkWidth(width)
	p.text(0, y, w, clipLink(linkName(&l), w), style(plain))
	x := w + 1
	var buf [16]byte
	for i, c := range columns {
		text := string(c.value(buf[:0], &l))
		r := plain
		switch {
		case i == 1 && number(l.Errors) > 0:
			r = bad
		case i == 4 && number(l.Wait) >= warnWait:
			r = warn
		}
		p.text(x+max(c.width-len(text), 0), y, width, text, style(r))
		x += c.width + 1
	}
	if len(l.Findings) == 0 {
		p.text(x, y, width, render.Absent, style(faint))
		return
	}
	p.text(x, y, width, clip(findingsText(l.Findings), width-x), style(bad))
}

// warnWait is the part of lost bandwidth that is marked.
const warnWait = 0.01

func linkName(l *top.ReportLink) string {
	near := placeName(&l.Near)
	if l.Far == nil {
		return near + " - ?"
	}
	return near + " - " + placeName(l.Far)
}

func placeName(p *report.NodePort) string { return fabric.PortName(p.Name, int(p.Port)) }

// findingsText returns all findings of a link, and a single finding with its values: "narrow,
// SymbolError +45" or "narrow: 2X, but both ends have 4X enabled".
func findingsText(findings []string) string {
	if len(findings) == 1 {
		return shortFinding(findings[0])
	}
	var links, counters []string
	for _, f := range findings {
		if kind, _, isLink := strings.Cut(f, ": "); !isLink {
			counters = append(counters, shortFinding(f))
		} else if !slices.Contains(links, kind) {
			links = append(links, kind)
		}
	}
	return strings.Join(append(links, counters...), ", ")
}

// shortFinding shortens names of counters: "SymbolError +45" for "SymbolErrorCounter +45".
func shortFinding(text string) string {
	name, rest, _ := strings.Cut(text, " ")
	name = strings.TrimSuffix(strings.TrimPrefix(name, "Port"), "Counter")
	return strings.TrimSpace(name + " " + rest)
}

// drawPort draws the screen of a port: both ends, and the recent values.
func (u *ui) drawPort(p *pen) {
	r := u.report(0)
	if r == nil {
		u.caption(p, missing)
		return
	}
	l := &r.Port.Link
	u.caption(p, fmt.Sprintf("%s  %s  %s", linkName(l), render.Show(l.Rate), render.Show(l.State)))
	width, height := p.Size()
	const label = 28
	half := (width - label) / 2
	p.blank(0, firstLine, width, u.styles[header])
	for i := range r.Port.Ends {
		p.text(label+i*half, firstLine, label+(i+1)*half-1, clipPort(placeName(&r.Port.Ends[i].NodePort), half-1), u.styles[header])
	}
	y := firstLine + 1
	line := func(name string, r role, text func(i int) string) {
		p.put(0, y, clip(name, label-1), plain)
		for i := range 2 {
			p.text(label+i*half, y, label+(i+1)*half-1, text(i), u.styles[r])
		}
		y++
	}
	ends := r.Port.Ends
	values := func(f func(*top.ReportEnd) string) func(int) string {
		return func(i int) string {
			if i >= len(ends) {
				return ""
			}
			return f(&ends[i])
		}
	}
	line("errors per second", plain, values(func(e *top.ReportEnd) string { return string(appendRate(nil, number(e.Errors))) }))
	line("sent, % of the rate", plain, values(func(e *top.ReportEnd) string { return string(appendPercent(nil, number(e.Transmit))) }))
	line("received, % of the rate", plain, values(func(e *top.ReportEnd) string { return string(appendPercent(nil, number(e.Receive))) }))
	line("lost by waiting, %", plain, values(func(e *top.ReportEnd) string { return string(appendPercent(nil, number(e.Wait))) }))
	switch v := u.view(); {
	case v.registers != nil:
		line("cable", plain, values(func(e *top.ReportEnd) string { return phyText(e, cableText) }))
		line("temperature, °C", plain, values(func(e *top.ReportEnd) string { return phyText(e, celsiusText) }))
		line("lowest light in, out, dBm", plain, values(func(e *top.ReportEnd) string { return phyText(e, lightText) }))
		line("BER raw, after correction", plain, values(func(e *top.ReportEnd) string { return phyText(e, berText) }))
		line("findings of ibkit phy", bad, values(func(e *top.ReportEnd) string { return phyText(e, kindsText) }))
	case v.fault != "":
		p.put(0, y, clip("registers: "+v.fault, width), faint)
		y++
	}
	for _, name := range counterNames(ends) {
		line(name, bad, values(func(e *top.ReportEnd) string { return counterText(e, name) }))
	}
	for i := range ends {
		for _, f := range ends[i].Findings {
			if y < height-7 {
				p.put(0, y, clip(placeName(&ends[i].NodePort)+": "+f, width), bad)
				y++
			}
		}
	}
	u.drawHistory(p, y+1, r.Port.History)
}

// counterNames returns the error counters that increased at either end.
func counterNames(ends []top.ReportEnd) (names []string) {
	for i := range ends {
		for _, c := range ends[i].Counters {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// counterText returns the increase of a counter and its value.
func counterText(e *top.ReportEnd, name string) string {
	for _, c := range e.Counters {
		if c.Name == name {
			return fmt.Sprintf("+%d (%d)", c.Increase, c.Value)
		}
	}
	return "0"
}

// drawHistory draws the recent values of a port.
func (u *ui) drawHistory(p *pen, y int, history []top.ReportHistory) {
	width, _ := p.Size()
	if len(history) < 2 {
		return
	}
	p.put(0, y, fmt.Sprintf("%d samples from %s to %s", len(history), history[0].Time.Format("15:04:05"), history[len(history)-1].Time.Format("15:04:05")), title)
	for i, series := range []struct {
		name   string
		value  func(*top.ReportHistory) *float64
		format func([]byte, float64) []byte
		unit   string
	}{
		{"errors", func(h *top.ReportHistory) *float64 { return h.Errors }, appendRate, "/s"},
		{"sent", func(h *top.ReportHistory) *float64 { return h.Transmit }, appendPercent, "%"},
		{"received", func(h *top.ReportHistory) *float64 { return h.Receive }, appendPercent, "%"},
		{"waiting", func(h *top.ReportHistory) *float64 { return h.Wait }, appendPercent, "%"},
	} {
		values := make([]float64, len(history))
		largest := math.NaN()
		for j := range history {
			values[j] = number(series.value(&history[j]))
			if !(values[j] <= largest) && !math.IsNaN(values[j]) {
				largest = values[j]
			}
		}
		p.put(0, y+1+i, series.name, plain)
		p.put(9, y+1+i, "max "+string(series.format(nil, largest))+series.unit, faint)
		p.put(22, y+1+i, sparkline(values, width-22), plain)
	}
}

// drawPath draws the screen of paths.
func (u *ui) drawPath(p *pen) {
	r := u.report(0)
	v := u.view()
	if r == nil {
		u.caption(p, fmt.Sprintf("paths between %s and %s: reading the forwarding tables", v.ends[0].Text, v.ends[1].Text))
		return
	}
	u.caption(p, fmt.Sprintf("paths between %s and %s, tables read at %s", v.ends[0].Text, v.ends[1].Text, r.Path.Read.Format("15:04:05")))
	v.selected = max(min(v.selected, u.rows()-1), 0)
	u.tableHeader(p, firstLine)
	y, first := firstLine+1, 0
	for _, path := range []*top.PathLinks{&r.Path.Forward, r.Path.Reverse} {
		if path == nil {
			continue
		}
		text, style := fmt.Sprintf("%s to %s, LID %d", path.From, render.OrAbsent(path.To), path.LID), title
		switch {
		case path.Arrives == nil:
			text, style = text+": incomplete: "+render.Show(path.Cause), warn
		case !*path.Arrives:
			text, style = text+": does not arrive: "+render.Show(path.Cause), bad
		}
		p.put(0, y, text, style)
		y++
		for i := range path.Links {
			u.row(p, y, path.Links[i], first+i == v.selected)
			y++
		}
		first += len(path.Links)
		y++
	}
}
