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
			v.group(&groups[i])
		}
	}
	for _, kind := range kinds {
		if more := counts[kind] - limit; limit > 0 && more > 0 {
			v.line(0, fmt.Sprintf("%s: %d more (--limit 0 shows all)", kind, more))
		}
	}
}

// group prints a group: a line for each kind, then the next steps.
func (v *groupView) group(g *check.Group) {
	severity := string(g.Severity())
	mark := v.palette.Warn
	if g.Severity() == report.Error {
		mark = v.palette.Bad
	}
	for i, line := range groupLines(g) {
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
func groupLines(g *check.Group) []string {
	var lines []string
	last := ""
	for _, f := range g.Findings {
		name := check.Name(f)
		if name == last {
			lines[len(lines)-1] += "; " + cmdutil.Visible(f.Detail)
			continue
		}
		head := name
		if last == "" && g.Subject != "" {
			head += " " + g.Subject
		}
		lines, last = append(lines, cmdutil.Visible(head+": "+f.Detail)), name
	}
	return lines
}

// line prints a line with an indent.
func (v *groupView) line(columns int, text string) {
	fmt.Fprintln(v.out, render.Wrap(strings.Repeat(" ", columns)+text, v.width, columns+indent))
}
