package phy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/registers"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/report"
)

// A view prints a result.
type view struct {
	env      *cmdutil.Env
	out      *render.Output
	colour   *render.Palette
	names    *fabric.NameMap
	width    int // of the terminal; 0: none
	result   *phy.Result
	document *phy.Report
}

// raw prints a register's bytes.
func (v *view) raw(r phy.RawRegister) {
	name := v.names.Label(r.Port.Node)
	if r.Port.Number != 0 {
		name = v.names.PortName(r.Port)
	}
	fmt.Fprintf(v.out, "%s LID %d %s: ", name, r.Port.LID(), r.Name)
	if r.Err != nil {
		fmt.Fprintf(v.out, "%v: ", r.Err)
	}
	fmt.Fprintf(v.out, "%x\n", r.Data)
}

// endName returns a link end's name.
func endName(e phy.ReportEnd) string { return cmdutil.Visible(fabric.PortName(e.Name, int(e.Port))) }

func peerName(e phy.ReportEnd) string {
	if e.Peer == nil {
		return render.Absent
	}
	return cmdutil.Visible(fabric.PortName(render.Show(e.Peer.Name), int(e.Peer.Port)))
}

// endTable prints the link ends.
func (v *view) endTable() {
	column := render.TextColumn[phy.ReportEnd]
	columns := []render.Column[phy.ReportEnd]{
		column("PORT", endName), column("PEER", peerName), column("CABLE", registers.Cable), column("SERIAL", registers.Serial), column("°C", registers.Celsius),
		column("RX dBm", registers.Received), column("TX dBm", registers.Sent),
		column("FEC", func(e phy.ReportEnd) string { return render.Show(e.FEC) }),
		column("RAW", registers.RawBER), column("EFFECTIVE", registers.EffectiveBER), column("SYMBOL", registers.SymbolBER),
		column("DOWNS", func(e phy.ReportEnd) string {
			if e.Counters == nil {
				return render.Absent
			}
			return fmt.Sprint(e.Counters.LinkDowns)
		}),
	}
	if v.result.Down {
		columns = append(columns, column("WHY DOWN", why))
	}
	if v.result.Alarms {
		columns = append(columns, column("ALARMS", func(e phy.ReportEnd) string { return render.OrAbsent(strings.Join(e.Alarms, ", ")) }))
	}
	columns = append(columns, column("FINDING", func(e phy.ReportEnd) string { return v.kinds(e.Findings) }))
	if len(v.document.Ends) > 0 && v.result.Readable() > 0 {
		render.Columns(v.out, columns, v.document.Ends)
	}
	v.downs()
	v.summary()
}

// downs prints the reasons for links that are down, with the next step for the first port.
func (v *view) downs() {
	var first []phy.ReportEnd
	ports := map[string]int{}
	for _, e := range v.document.Ends {
		if e.Trouble == nil {
			continue
		}
		if ports[e.Trouble.Reason]++; ports[e.Trouble.Reason] == 1 {
			first = append(first, e)
		}
	}
	for _, e := range first {
		v.line(0, fmt.Sprintf("%s down, %s", plural.Count(ports[e.Trouble.Reason], "port", "ports"), e.Trouble.Reason))
		v.line(indent, "next: "+v.downStep(e))
	}
}

// downStep returns the next step for a link that is down.
func (v *view) downStep(e phy.ReportEnd) string {
	return render.OrAbsent(v.env.NextStep(e.Trouble.Next))
}

// why returns the reason for a link that is down, with the firmware's words if they are others.
func why(e phy.ReportEnd) string {
	if e.Trouble == nil {
		return render.Absent
	}
	text := e.Trouble.Reason
	if m := cmdutil.Visible(e.Trouble.Message); m != "" && !strings.EqualFold(strings.ReplaceAll(m, " is ", " "), text) {
		text += " (" + m + ")"
	}
	return text
}

func (v *view) kinds(list []report.Kind) string {
	var kinds []string
	for _, k := range list {
		if kind := v.colour.Bad(string(k)); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return render.OrAbsent(strings.Join(kinds, " "))
}

// findings prints the findings of each device and link end as a block: a line with the
// subject, the other findings, and the next steps.
func (v *view) findings() {
	for rest := v.document.Findings; len(rest) > 0; {
		subject := rest[0].Subject
		n := slices.IndexFunc(rest, func(f report.Finding) bool { return f.Subject != subject })
		if n < 0 {
			n = len(rest)
		}
		for i, f := range rest[:n] {
			level, text := 0, f.Text()
			if i > 0 {
				level, text = indent, f.Detail
			}
			v.line(level, v.colour.Bad(string(f.Kind)+":")+" "+cmdutil.Visible(text))
		}
		for i, f := range rest[:n] {
			isSame := func(before report.Finding) bool { return before.Hint == f.Hint }
			if f.Hint != "" && !slices.ContainsFunc(rest[:i], isSame) {
				v.line(indent, "next: "+v.env.NextStep(v.nextStep(f.Hint)))
			}
		}
		rest = rest[n:]
	}
}

// nextStep returns a finding's next step without a command that shows this result.
func (v *view) nextStep(step string) string {
	if v.result.Switches {
		step, _, _ = strings.Cut(step, ": ibkit phy --devices")
	}
	return step
}

// summary prints the findings and the verdict.
func (v *view) summary() {
	v.findings()
	missing := map[string]int{}
	read := 0
	for _, d := range v.document.Devices {
		if d.Missing != nil {
			missing[*d.Missing]++
		} else {
			read++
		}
	}
	for _, reason := range sortedKeys(missing) {
		fmt.Fprintf(v.out, "%s unavailable: %s\n", plural.Count(missing[reason], "device", "devices"), reason)
	}
	verdict, mark := "no problems found", v.colour.Good
	switch found := len(v.document.Findings); {
	case found > 0:
		verdict, mark = plural.Count(found, "problem", "problems"), v.colour.Bad
	case read == 0:
		verdict, mark = "no device to check", v.colour.Warn
	case v.result.Down && len(v.document.Ends) == 0:
		verdict = "no port without a link"
	}
	if v.document.Partial {
		verdict, mark = cmdutil.PartialVerdict(v.result.Fabric.Blind(), len(v.document.Findings), verdict), v.colour.Bad
	}
	fmt.Fprintf(v.out, "%s of %d read, %s: %s\n", plural.Count(read, "device", "devices"), len(v.document.Devices), plural.Count(len(v.document.Ends), "link end", "link ends"), mark(verdict))
}

// indent is the indent of next steps and of continued lines.
const indent = 2

// line prints a line, which ends between words on a terminal.
func (v *view) line(columns int, text string) {
	fmt.Fprintln(v.out, render.Wrap(strings.Repeat(" ", columns)+text, v.width, columns+indent))
}

// changes prints the changes since an earlier reading.
func (v *view) changes() {
	c := v.document.Changes
	if len(c.List) > 0 {
		column := render.TextColumn[phy.Change]
		render.Columns(v.out, []render.Column[phy.Change]{
			column("PORT", func(c phy.Change) string { return cmdutil.Visible(fabric.PortName(c.Name, int(c.Port))) }),
			column("QUANTITY", func(c phy.Change) string { return c.Quantity }),
			column("BEFORE", func(c phy.Change) string { return cmdutil.Visible(c.Before) }),
			column("NOW", func(c phy.Change) string { return cmdutil.Visible(c.Now) }),
		}, c.List)
	}
	verdict := plural.Count(len(c.List), "change", "changes")
	if v.document.Partial {
		verdict = cmdutil.PartialVerdict(v.result.Fabric.Blind(), len(c.List), verdict)
	}
	fmt.Fprintf(v.out, "%s since %s\n", verdict, c.Since.Format("2006-01-02 15:04 MST"))
}
