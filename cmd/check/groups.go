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
	severity := string(g.Severity())
	mark := v.palette.Warn
	if g.Severity() == report.Error {
		mark = v.palette.Bad
	}
	for i, line := range groupLines(g, limit) {
		if i == 0 {
			v.line(0, mark(severity)+": "+line)
			continue
		}
		v.line(indent, line)
	}
	for _, f := range g.Findings {
		if f.Hint != "" {
			v.line(indent, v.palette.Faint("next:")+" "+cmdutil.Visible(f.Hint))
		}
	}
}

// groupLines returns a line with kind and details for each kind. The first line has the
// subject.
func groupLines(g *check.Group, limit int) []string {
	var lines []string
	add := func(name string, details []string) {
		if len(lines) == 0 && g.Subject != "" {
			name += " " + g.Subject
		}
		if more := len(details) - limit; limit > 0 && more > 0 {
			details = append(details[:limit:limit], fmt.Sprintf("%d more (--limit 0 shows all)", more))
		}
		lines = append(lines, cmdutil.Visible(name+": "+strings.Join(details, "; ")))
	}
	var name string
	var details []string
	for _, f := range g.Findings {
		if next := check.Name(f); next != name {
			if details != nil {
				add(name, details)
			}
			name, details = next, nil
		}
		details = append(details, f.Detail)
	}
	add(name, details)
	return lines
}

// line prints a line with an indent.
func (v *groupView) line(columns int, text string) {
	fmt.Fprintln(v.out, render.Wrap(strings.Repeat(" ", columns)+text, v.width, columns+indent))
}
