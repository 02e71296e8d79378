package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/doctor"
)

// view prints a result as text.
type view struct {
	out     *render.Output
	palette *render.Palette
}

// print prints the passed and skipped checks first, then the problems.
func (v *view) print(r *doctor.Result, quiet bool) error {
	groups := grouped(r.Items)
	if !quiet {
		if err := v.passed(groups); err != nil {
			return err
		}
	}
	for _, g := range groups {
		if isPassed(g.Verdict) || quiet && g.Verdict == doctor.Note {
			continue
		}
		v.paragraph(g)
	}
	if !quiet {
		v.summary(r)
	}
	return nil
}

// A group combines items of one check with the same result. Its commands are
// those of all its items.
type group struct {
	doctor.Item
	subjects []string
}

func grouped(items []doctor.Item) []*group {
	var groups []*group
	for _, i := range items {
		k := slices.IndexFunc(groups, func(g *group) bool {
			return g.Check == i.Check && g.Verdict == i.Verdict && g.Found == i.Found && g.Why == i.Why && g.Hint == i.Hint
		})
		if k < 0 {
			k = len(groups)
			g := &group{Item: i}
			g.Fix, g.Persist = nil, nil
			groups = append(groups, g)
		}
		g := groups[k]
		if i.Subject != "" {
			g.subjects = append(g.subjects, i.Subject)
		}
		g.Fix, g.Persist = appendNew(g.Fix, i.Fix), appendNew(g.Persist, i.Persist)
	}
	return groups
}

// appendNew appends the elements that the list does not contain yet.
func appendNew(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// isPassed reports whether a verdict is no problem.
func isPassed(v doctor.Verdict) bool { return v == doctor.OK || v == doctor.Skipped }

// passed prints a table of the checks without a problem, and a line for each reason to skip
// checks.
func (v *view) passed(groups []*group) error {
	var rows [][]string
	var reasons []string
	skipped := map[string][]string{} // checks by reason
	for _, g := range groups {
		switch g.Verdict {
		case doctor.OK:
			rows = append(rows, []string{g.Check, render.OrAbsent(some(g.subjects)), v.palette.Good(g.Found)})
		case doctor.Skipped:
			reasons = appendNew(reasons, []string{g.Found})
			skipped[g.Found] = append(skipped[g.Found], g.Check)
		}
	}
	if rows != nil {
		if err := render.Table(v.out, []string{"CHECK", "SUBJECT", "FOUND"}, rows); err != nil {
			return err
		}
	}
	for _, reason := range reasons {
		fmt.Fprintln(v.out, v.palette.Faint(fmt.Sprintf("skipped: %s: %s", strings.Join(skipped[reason], " "), reason)))
	}
	if rows != nil || reasons != nil {
		fmt.Fprintln(v.out)
	}
	return nil
}

// maxSubjects is the width in columns of the list of subjects in a group.
const maxSubjects = 40

// some joins the first names of a list.
func some(names []string) string {
	text := ""
	for i, name := range names {
		if i > 0 && len(text)+len(name) > maxSubjects {
			return fmt.Sprintf("%s and %d more", text, len(names)-i)
		}
		text = strings.TrimSpace(text + " " + name)
	}
	return text
}

// paragraph prints a problem.
func (v *view) paragraph(g *group) {
	verdict := string(g.Verdict)
	switch g.Verdict {
	case doctor.Error:
		verdict = v.palette.Bad(verdict)
	case doctor.Warning, doctor.Unknown:
		verdict = v.palette.Warn(verdict)
	}
	fmt.Fprintf(v.out, "%s: %s: %s\n", verdict, strings.TrimSpace(g.Check+" "+some(g.subjects)), g.Found)
	line := func(name, text string) {
		fmt.Fprintf(v.out, "  %s %s\n", v.palette.Faint(fmt.Sprintf("%-8s", name+":")), text)
	}
	if g.Why != "" {
		line("why", g.Why)
	}
	for _, c := range g.Fix {
		line("fix", c)
	}
	for _, c := range g.Persist {
		line("persist", c)
	}
	if g.Hint != "" {
		line("hint", g.Hint)
	}
}

// summary prints the number of items per verdict.
func (v *view) summary(r *doctor.Result) {
	var parts []string
	for _, k := range []struct {
		verdict   doctor.Verdict
		one, many string
	}{
		{doctor.Error, "error", "errors"},
		{doctor.Warning, "warning", "warnings"},
		{doctor.Note, "note", "notes"},
		{doctor.Unknown, "unknown", "unknown"},
	} {
		if n := r.Verdicts(k.verdict); n > 0 {
			parts = append(parts, plural.Count(n, k.one, k.many))
		}
	}
	text := strings.Join(parts, ", ")
	switch passed := r.Verdicts(doctor.OK); {
	case parts == nil && passed == 0:
		text = "no check applies to this host"
	case parts == nil:
		text = "no problems found"
	case passed > 0:
		text += fmt.Sprintf("; %d ok", passed)
	}
	fmt.Fprintln(v.out, text)
}
