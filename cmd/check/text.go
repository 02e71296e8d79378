package check

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/check"
	"github.com/ibkit/ibkit/report"
)

// printText prints the findings with their next steps, and a table of the stages.
func (v *verdict) printText(out *render.Output, r *check.Report) error {
	palette := render.NewPalette(v.env.Out, v.env.Getenv)
	colour := map[report.Severity]func(string) string{report.Error: palette.Bad, report.Warning: palette.Warn, report.Unknown: palette.Warn}
	var kinds []string
	counts := map[string]int{}
	for _, f := range r.Findings {
		kind := check.Name(f)
		if counts[kind]++; counts[kind] == 1 {
			kinds = append(kinds, kind)
		}
		if v.limit > 0 && counts[kind] > v.limit {
			continue
		}
		fmt.Fprintf(out, "%s: %s\n", colour[f.Severity](string(f.Severity)), cmdutil.Visible(findingText(f)))
		if f.Hint != "" {
			fmt.Fprintf(out, "  %s %s\n", palette.Faint("next:"), cmdutil.Visible(f.Hint))
		}
	}
	for _, kind := range kinds {
		if more := counts[kind] - v.limit; v.limit > 0 && more > 0 {
			fmt.Fprintf(out, "%s: %d more (--limit 0 shows all)\n", kind, more)
		}
	}
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
	fmt.Fprintf(out, "\n%s: %s, %s%s\n", r.Scope, plural.Count(r.Errors, "error", "errors"), plural.Count(r.Warnings, "warning", "warnings"), incomplete(r))
	return nil
}

// incomplete describes a partial result.
func incomplete(r *check.Report) string {
	if !r.Partial {
		return ""
	}
	stages := 0
	for _, s := range r.Stages {
		if s.Unknown > 0 || slices.Contains([]check.Status{check.Partial}, s.Status) {
			stages++
		}
	}
	if stages == 0 {
		return "; the result is partial"
	}
	return fmt.Sprintf("; %s could not be checked as a whole", plural.Count(stages, "stage", "stages"))
}
