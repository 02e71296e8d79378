package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/doctor"
	"github.com/ibkit/ibkit/internal/render"
)

// doctorView prints what was found for people.
type doctorView struct {
	out     *output
	palette *render.Palette
}

// print shows first what is well, then what is not.
func (v *doctorView) print(r *doctor.Result, quiet bool) error {
	groups := grouped(r.Items)
	if !quiet {
		if err := v.well(groups); err != nil {
			return err
		}
	}
	for _, g := range groups {
		if g.Verdict == doctor.OK || quiet && g.Verdict == doctor.Note {
			continue
		}
		v.paragraph(g)
	}
	if !quiet {
		v.summary(r)
	}
	return nil
}

// A doctorGroup is things of which a check found the same. What mends them is that
// of all.
type doctorGroup struct {
	doctor.Item
	subjects []string
}

func grouped(items []doctor.Item) []*doctorGroup {
	var groups []*doctorGroup
	for _, i := range items {
		k := slices.IndexFunc(groups, func(g *doctorGroup) bool {
			return g.Check == i.Check && g.Verdict == i.Verdict && g.Found == i.Found && g.Why == i.Why && g.Advice == i.Advice
		})
		if k < 0 {
			k = len(groups)
			g := &doctorGroup{Item: i}
			g.Mend, g.Keep = nil, nil
			groups = append(groups, g)
		}
		g := groups[k]
		if i.Subject != "" {
			g.subjects = append(g.subjects, i.Subject)
		}
		g.Mend, g.Keep = appendNew(g.Mend, i.Mend), appendNew(g.Keep, i.Keep)
	}
	return groups
}

// appendNew appends what a list does not have yet.
func appendNew(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

func (v *doctorView) well(groups []*doctorGroup) error {
	var rows [][]string
	for _, g := range groups {
		if g.Verdict == doctor.OK {
			rows = append(rows, []string{g.Check, cmp.Or(some(g.subjects), "-"), v.palette.Good(g.Found)})
		}
	}
	if rows == nil {
		return nil
	}
	if err := render.Table(v.out, []string{"CHECK", "OF", "FOUND"}, rows); err != nil {
		return err
	}
	fmt.Fprintln(v.out)
	return nil
}

// maxSubjects is how many columns the names of things take of which the same was
// found.
const maxSubjects = 40

// some names the first of many.
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

// paragraph prints what is not well.
func (v *doctorView) paragraph(g *doctorGroup) {
	verdict := string(g.Verdict)
	switch g.Verdict {
	case doctor.Error:
		verdict = v.palette.Bad(verdict)
	case doctor.Warning, doctor.Unknown:
		verdict = v.palette.Warn(verdict)
	}
	fmt.Fprintf(v.out, "%s: %s: %s\n", verdict, strings.TrimSpace(g.Check+" "+some(g.subjects)), g.Found)
	line := func(name, text string) {
		fmt.Fprintf(v.out, "  %s %s\n", v.palette.Faint(fmt.Sprintf("%-5s", name+":")), text)
	}
	if g.Why != "" {
		line("why", g.Why)
	}
	for _, c := range g.Mend {
		line("mend", c)
	}
	for _, c := range g.Keep {
		line("keep", c)
	}
	if g.Advice != "" {
		line("also", g.Advice)
	}
}

// summary prints how many there are of each verdict.
func (v *doctorView) summary(r *doctor.Result) {
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
		if n := r.Count(k.verdict); n > 0 {
			parts = append(parts, count(n, k.one, k.many))
		}
	}
	if parts == nil {
		fmt.Fprintln(v.out, "All is well.")
		return
	}
	text := strings.Join(parts, ", ")
	if n := r.Count(doctor.OK); n > 0 {
		text += fmt.Sprintf("; %d well", n)
	}
	fmt.Fprintln(v.out, text+".")
}
