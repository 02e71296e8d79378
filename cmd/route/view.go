package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/errorcounters"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
)

// print writes the selected view.
func (c *command) print(out *render.Output, head *route.ReportPathsHead, reports []route.ReportPair, problems int) {
	switch {
	case c.json:
		render.WriteMembers(out, '{', head)
		render.WriteArray(out, "pairs", reports, func(p route.ReportPair) any { return p })
		out.WriteString("\n}\n")
	case c.csv:
		c.writeCSV(out, reports)
	default:
		for i := range reports {
			if i > 0 {
				out.WriteByte('\n')
			}
			c.printPair(out, &reports[i])
		}
		if slices.ContainsFunc(reports, hasSlowest) {
			out.WriteString("* slowest link of the path\n")
		}
		c.printSummary(out, len(reports), problems)
		if len(c.unchecked) > 0 {
			fmt.Fprintf(out, "not checked, for lack of data in files: %s\n", kindNames(c.unchecked))
		}
	}
}

// hasSlowest reports whether a link of a pair is marked as the slowest link of its path.
func hasSlowest(p route.ReportPair) bool {
	return p.Forward.Slowest != nil || p.Reverse != nil && p.Reverse.Slowest != nil
}

// printSummary prints the number of problems of several pairs, and whether the result is
// partial.
func (c *command) printSummary(out *render.Output, reports, problems int) {
	var parts []string
	if c.partial {
		parts = append(parts, "partial result")
	}
	several := c.pairs+c.unknown > 1
	if several {
		parts = append(parts, fmt.Sprintf("%d with problems", problems))
	}
	if several && c.unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d with an unknown port", c.unknown))
	}
	if len(parts) == 0 {
		return
	}
	if reports > 0 {
		out.WriteByte('\n')
	}
	fmt.Fprintf(out, "%s: %s\n", plural.Count(c.pairs+c.unknown, "pair", "pairs"), strings.Join(parts, ", "))
}

func (c *command) printPair(out *render.Output, p *route.ReportPair) {
	c.printPath(out, &p.Forward)
	if p.Reverse != nil {
		c.printPath(out, p.Reverse)
	}
	if isAsymmetric(p) {
		c.printFinding(out, report.Asymmetric, asymmetric)
	}
}

// printFinding prints a finding about a path.
func (c *command) printFinding(out *render.Output, k report.Kind, detail string) {
	word := "note"
	if c.isProblem(k) {
		word = "problem"
	}
	fmt.Fprintf(out, "%s: %s: %s\n", word, k, detail)
}

// printPath prints the links of a path in a table, and the findings about the path.
func (c *command) printPath(out *render.Output, p *route.ReportPath) {
	c.printLinks(out, p)
	for _, f := range p.Details {
		if f.Data.(*route.PathPlace).Hop == nil {
			c.printFinding(out, f.Kind, f.Detail)
		}
	}
}

// heading returns the ends of a path and its service level.
func (c *command) heading(p *route.ReportPath) string {
	var b strings.Builder
	b.WriteString(p.From.Name)
	if p.To != nil {
		b.WriteString(" to " + p.To.Name)
	}
	if c.options.Group != 0 {
		fmt.Fprintf(&b, ", group 0x%x", uint16(c.options.Group))
	} else {
		fmt.Fprintf(&b, ", LID %d", p.LID)
	}
	if p.SL != nil {
		fmt.Fprintf(&b, ", SL %d", *p.SL)
	}
	b.WriteString(": ")
	switch {
	case p.Arrived():
	case p.Arrives == nil:
		b.WriteString("incomplete, ")
	default:
		b.WriteString("does not arrive, ")
	}
	b.WriteString(plural.Count(len(p.Hops), "link", "links"))
	return b.String()
}

func (c *command) printLinks(out *render.Output, p *route.ReportPath) {
	out.WriteString(c.heading(p) + "\n")
	if len(p.Hops) == 0 {
		return
	}
	rows := make([]int, len(p.Hops))
	lanes := false
	for i := range rows {
		rows[i] = i
		lanes = lanes || p.Hops[i].Output.VL != nil
	}
	mark := func(i int) string {
		if p.Slowest != nil && *p.Slowest == i {
			return "*"
		}
		return " "
	}
	columns := []render.Column[int]{
		render.TextColumn(" OUTPUT", func(i int) string { return mark(i) + portName(p.Hops[i].Output) }),
		render.TextColumn("INPUT", func(i int) string { return portName(p.Hops[i].Input) }),
		render.TextColumn("WIDTH", func(i int) string { return render.Show(p.Hops[i].Width) }),
		render.TextColumn("SPEED", func(i int) string { return render.Show(p.Hops[i].Speed) }),
		render.TextColumn("STATE", func(i int) string { return render.Show(p.Hops[i].State) }),
	}
	if lanes {
		columns = append(columns, render.TextColumn("VL", func(i int) string { return render.Show(p.Hops[i].Output.VL) }))
	}
	columns = append(columns, render.TextColumn("FINDING", func(i int) string { return render.OrAbsent(findings(p, i)) }))
	render.Columns(out, columns, rows)
	for _, h := range p.Hops {
		if h.Counters != nil {
			printErrors(out, p, h.Output, h.Counters.Output)
			printErrors(out, p, h.Input, h.Counters.Input)
		}
	}
}

func portName(p route.ReportHopPort) string { return fabric.PortName(p.Name, int(p.Port)) }

// printErrors prints the error counters of a port that are not 0, except counters that a
// finding names. Waiting is not an error.
func printErrors(out *render.Output, path *route.ReportPath, p route.ReportHopPort, values map[string]uint64) {
	var list []string
	which := "counters"
	for _, c := range errorcounters.Counters() {
		if n := values[c.String()]; n > 0 && c != counters.XmitWait {
			text := fmt.Sprintf("%v %d", c, n)
			if named(path, portName(p), text) {
				which = "other counters"
				continue
			}
			list = append(list, text)
		}
	}
	if len(list) > 0 {
		fmt.Fprintf(out, "%s of %s: %s\n", which, portName(p), strings.Join(list, ", "))
	}
}

// named reports whether a finding about a port has a text.
func named(p *route.ReportPath, port, text string) bool {
	return slices.ContainsFunc(p.Details, func(f report.Finding) bool {
		return f.Kind == report.Exceeded && f.Subject == port && strings.Contains(f.Detail, text)
	})
}

// writeCSV writes one record per link, or one without a link for a path that has none.
func (c *command) writeCSV(out *render.Output, reports []route.ReportPair) {
	header := []string{
		"pair", "direction", "from_guid", "from", "from_port", "to_guid", "to", "to_port", "lid", "sl", "arrives", "findings",
		"hop", "output_guid", "output", "output_port", "input_guid", "input", "input_port", "width", "speed", "gbps", "mtu", "state", "vl", "slowest", "link_findings",
	}
	if c.errors != nil {
		for _, end := range []string{"output_", "input_"} {
			for _, counter := range errorcounters.Counters() {
				header = append(header, end+counter.String())
			}
		}
	}
	w := textfile.NewCSV(out, header...)
	for i := range reports {
		c.writePath(w, i, "forward", &reports[i].Forward)
		if reports[i].Reverse != nil {
			c.writePath(w, i, "reverse", reports[i].Reverse)
		}
	}
	_ = w.Flush() // Flush of out reports errors
}

func (c *command) writePath(w *textfile.CSV, pair int, direction string, p *route.ReportPath) {
	to := []string{"", "", ""}
	if p.To != nil {
		to = []string{p.To.NodeGUID.String(), p.To.Name, strconv.Itoa(int(p.To.Port))}
	}
	path := []string{strconv.Itoa(pair), direction, p.From.NodeGUID.String(), p.From.Name, strconv.Itoa(int(p.From.Port))}
	path = append(append(path, to...), strconv.Itoa(int(p.LID)), text(p.SL), text(p.Arrives), findings(p, -1))
	if len(p.Hops) == 0 {
		w.Write(append(path, make([]string, 15)...)...)
	}
	for i := range p.Hops {
		h := &p.Hops[i]
		record := append(path[:len(path):len(path)], strconv.Itoa(i),
			h.Output.NodeGUID.String(), h.Output.Name, strconv.Itoa(int(h.Output.Port)), h.Input.NodeGUID.String(), h.Input.Name, strconv.Itoa(int(h.Input.Port)),
			text(h.Width), text(h.Speed), text(h.Gbps), text(h.MTU), text(h.State), text(h.Output.VL), strconv.FormatBool(p.Slowest != nil && *p.Slowest == i), findings(p, i))
		if c.errors != nil {
			record = append(append(record, values(h.Counters.Output)...), values(h.Counters.Input)...)
		}
		w.Write(record...)
	}
}

// text formats the value of a pointer, "" for nil.
func text[T any](p *T) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p)
}

// values returns the error counters of an end in their order, "" for unknown ones.
func values(counters map[string]uint64) []string {
	var list []string
	for _, c := range errorcounters.Counters() {
		v, ok := counters[c.String()]
		if !ok {
			list = append(list, "")
			continue
		}
		list = append(list, strconv.FormatUint(v, 10))
	}
	return list
}

// findings returns the findings about a hop with their kinds, or with -1 those about the path.
func findings(p *route.ReportPath, hop int) string {
	var list []string
	for _, f := range p.Details {
		switch at := f.Data.(*route.PathPlace).Hop; {
		case at == nil && hop < 0, at != nil && *at == hop && f.Subject == portName(p.Hops[hop].Output):
			list = append(list, fmt.Sprintf("%s: %s", f.Kind, f.Detail))
		case at != nil && *at == hop:
			list = append(list, fmt.Sprintf("%s: %s", f.Kind, f.Text()))
		}
	}
	return strings.Join(list, "; ")
}

// kindNames returns the names of kinds of findings, separated by commas.
func kindNames(kinds []report.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}
