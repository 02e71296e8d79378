package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/check"
	"github.com/ibkit/ibkit/report"
)

// printText prints the findings with their next steps, and a table of the stages.
func (v *verdict) printText(out *render.Output, r *check.Report) error {
	palette := render.NewPalette(v.env.Out, v.env.Getenv)
	view := groupView{v.env, out, palette, render.Width(v.env.Out)}
	view.print(r.Groups, v.limit)
	if len(r.Findings) > 0 {
		out.WriteByte('\n')
	}
	statusColour := map[check.Status]func(string) string{
		check.Passed: palette.Good, check.Failed: palette.Bad, check.Warned: palette.Warn, check.Partial: palette.Warn, check.Skipped: palette.Faint,
	}
	var rows [][]string
	for _, s := range r.Stages {
		errors, warnings := fmt.Sprint(s.Errors), fmt.Sprint(s.Warnings)
		if s.Status == check.Skipped {
			errors, warnings = render.Absent, render.Absent
		}
		rows = append(rows, []string{s.Name, statusColour[s.Status](string(s.Status)), errors, warnings, render.OrAbsent(cmdutil.Visible(s.Comment))})
	}
	if err := render.Table(out, []string{"STAGE", "STATUS", "ERRORS", "WARNINGS", "COMMENT"}, rows); err != nil {
		return err
	}
	out.WriteByte('\n')
	view.line(0, fmt.Sprintf("%s: %s, %s%s%s%s", r.Scope, plural.Count(r.Errors, "error", "errors"), plural.Count(r.Warnings, "warning", "warnings"),
		notJudged(r), incomplete(r), exitText(cmdutil.ResultError(r.Partial, v.fails(r)))))
	return nil
}

// incomplete describes a partial result: the stages that are not complete, and the subjects
// that could not be checked.
func incomplete(r *check.Report) string {
	if !r.Partial {
		return ""
	}
	var stages, subjects []string
	for _, s := range r.Stages {
		if s.Unknown > 0 || s.Status == check.Partial {
			stages = append(stages, s.Name)
		}
	}
	for _, f := range r.Findings {
		if f.Severity == report.Unknown {
			subjects = append(subjects, f.Subject)
		}
	}
	if len(stages) == 0 {
		for _, f := range r.Failures {
			subjects = append(subjects, f.Subject)
		}
		return "; the result is partial" + named("no valid reply at", subjects)
	}
	return fmt.Sprintf("; %s not complete (%s)%s", plural.Count(len(stages), "stage", "stages"), strings.Join(stages, ", "), named("could not check", subjects))
}

// named returns a text with the first subjects, or "" without subjects.
func named(text string, subjects []string) string {
	const most = 3
	slices.Sort(subjects)
	subjects = slices.DeleteFunc(slices.Compact(subjects), func(s string) bool { return s == "" })
	if len(subjects) == 0 {
		return ""
	}
	more := ""
	if n := len(subjects) - most; n > 0 {
		subjects, more = subjects[:most], fmt.Sprintf(" and %d more", n)
	}
	return ": " + text + " " + cmdutil.Visible(strings.Join(subjects, ", ")) + more
}

// exitText returns the exit code of an error as the end of the last line.
func exitText(err error) string {
	if code, ok := errors.AsType[*cmdutil.ExitError](err); ok {
		return fmt.Sprintf("; exit code %d", code.Code)
	}
	return ""
}
