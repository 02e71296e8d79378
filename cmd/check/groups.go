package check

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/check"
	"github.com/ibkit/ibkit/report"
)

// indent is the indent of the lines of a group below the first line.
const indent = 2

// A groupView prints groups of findings.
type groupView struct {
	env     *cmdutil.Env
	out     *render.Output
	palette *render.Palette
	width   int // of the terminal; 0: none
}

// print prints at most limit groups for each kind of first findings, or all with 0.
func (v *groupView) print(groups []check.Group, limit int) {
	var kinds []string
	counts := map[string]int{}
	for i := range groups {
		kind := check.Name(groups[i].Findings[0])
		if counts[kind]++; counts[kind] == 1 {
			kinds = append(kinds, kind)
		}
		if limit == 0 || counts[kind] <= limit {
			v.group(&groups[i], limit)
		}
	}
	for _, kind := range kinds {
		if more := counts[kind] - limit; limit > 0 && more > 0 {
			v.line(0, fmt.Sprintf("%s: %d more (--limit 0 shows all)", kind, more))
		}
	}
}

// group prints a group: a line with at most limit details for each kind, then the next steps.
func (v *groupView) group(g *check.Group, limit int) {
	for i, line := range groupLines(g, limit) {
		mark := v.palette.Warn
		if line.severity == report.Error {
			mark = v.palette.Bad
		}
		v.line(indent*min(i, 1), mark(string(line.severity))+": "+line.text)
	}
	for _, f := range g.Findings {
		if f.Hint != "" {
			v.line(indent, v.palette.Faint("next:")+" "+cmdutil.Visible(v.env.NextStep(f.Hint)))
		}
	}
}

// A groupLine is the line for findings with the same kind and severity.
type groupLine struct {
	severity report.Severity
	text     string
}

// groupLines returns a line with kind and details for each kind. The first line has the
// subject.
func groupLines(g *check.Group, limit int) []groupLine {
	var lines []groupLine
	for rest := g.Findings; len(rest) > 0; {
		first, name := rest[0], check.Name(rest[0])
		var details []string
		for len(rest) > 0 && check.Name(rest[0]) == name && rest[0].Severity == first.Severity {
			details = append(details, rest[0].Detail)
			rest = rest[1:]
		}
		if more := len(details) - limit; limit > 0 && more > 0 {
			details = append(details[:limit:limit], fmt.Sprintf("%d more (--limit 0 shows all)", more))
		}
		if len(lines) == 0 && g.Subject != "" {
			name += " " + g.Subject
		}
		lines = append(lines, groupLine{first.Severity, cmdutil.Visible(name + ": " + strings.Join(details, "; "))})
	}
	return lines
}

// line prints a line with an indent.
func (v *groupView) line(columns int, text string) {
	fmt.Fprintln(v.out, render.Wrap(strings.Repeat(" ", columns)+text, v.width, columns+indent))
}
