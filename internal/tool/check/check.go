// Package check returns a verdict on a fabric or on a node: a list of findings, each with
// its next step, and a table of the stages that found them.
//
// The stages are data. They run the other packages' checks and add comparisons that only a
// check on the whole fabric or node requires.
package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the JSON form for a [Report]; schema/check.json describes it. A
// change that breaks readers changes the number.
const ReportSchema = "ibkit/check/2"

// Ignore is the severity for findings that are not reported, for [Limits.Severity].
// Findings with severity [report.Info] are not reported, either, unless the limits change
// it.
const Ignore report.Severity = "ignore"

// severities are the severities that a user can select.
var severities = []report.Severity{report.Error, report.Warning, Ignore}

// A Status is a stage's result.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"  // has errors
	Warned  Status = "warned"  // has warnings, but no errors
	Partial Status = "partial" // a part could not be checked, the rest passed
	Skipped Status = "skipped" // the comment has the reason
)

// FindingData is the [report.Finding.Data] in a check's findings.
type FindingData struct {
	Stage string `json:"stage"`
}

// Name returns the stage and the kind for a check's finding, for example
// "links/not-active".
func Name(f report.Finding) string { return StageOf(f) + "/" + string(f.Kind) }

// StageOf returns the stage for a check's finding, also for a decoded finding, and "" for
// another finding.
func StageOf(f report.Finding) string {
	switch d := f.Data.(type) {
	case *FindingData:
		return d.Stage
	case map[string]any:
		stage, _ := d["stage"].(string)
		return stage
	}
	return ""
}

// A Stage is a stage's result.
type Stage struct {
	Name     string `json:"name"`
	About    string `json:"about"`
	Status   Status `json:"status"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Unknown  int    `json:"unknown"`
	Comment  string `json:"comment"`

	// NotJudged reports that the stage was skipped because the source lacks its data.
	NotJudged bool `json:"not_judged"`

	Seconds float64 `json:"seconds"`
}

// A Value is a measured value for monitoring systems.
type Value struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"` // "s", "c" for a counter, or ""
}

// A Report is the verdict, and the document from ibkit check node and ibkit check fabric
// with --format json.
type Report struct {
	report.Head
	Scope    string  `json:"scope"` // "node" or "fabric"
	Seconds  float64 `json:"seconds"`
	Errors   int     `json:"errors"`
	Warnings int     `json:"warnings"`
	Stages   []Stage `json:"stages"`
	Values   []Value `json:"values"`

	Groups []Group `json:"-"` // the findings by cable or node, the worst first
}

// Judged reports whether a stage was not skipped.
func (r *Report) Judged() bool {
	return slices.ContainsFunc(r.Stages, func(s Stage) bool { return s.Status != Skipped })
}

// A runner runs stages and collects their findings.
type runner struct {
	limits *Limits
	only   []string
	skip   []string
	result *Report
	stage  *Stage
	kinds  []report.Kind // of the stage
}

// newRunner returns a runner for a scope.
func newRunner(scope string, limits *Limits, only, skip []string) *runner {
	return &runner{limits: limits, only: only, skip: skip, result: &Report{
		Head: report.NewHead(ReportSchema, time.Now()), Scope: scope, Stages: []Stage{}, Values: []Value{},
	}}
}

// selects reports whether a stage is to be run.
func (r *runner) selects(name string) bool {
	return (len(r.only) == 0 || slices.Contains(r.only, name)) && !slices.Contains(r.skip, name)
}

// begin begins a stage.
func (r *runner) begin(name, about string, kinds []report.Kind) time.Time {
	r.kinds = kinds
	r.result.Stages = append(r.result.Stages, Stage{Name: name, About: about, Status: Passed})
	r.stage = &r.result.Stages[len(r.result.Stages)-1]
	return time.Now()
}

// end ends the current stage.
func (r *runner) end(since time.Time) {
	s := r.stage
	s.Seconds = time.Since(since).Seconds()
	switch {
	case s.Status == Skipped:
	case s.Errors > 0:
		s.Status = Failed
	case s.Warnings > 0:
		s.Status = Warned
	case s.Unknown > 0:
		s.Status = Partial
	}
	r.result.Errors += s.Errors
	r.result.Warnings += s.Warnings
	r.result.Partial = r.result.Partial || s.Unknown > 0
}

// skipped marks the current stage as skipped.
func (r *runner) skipped(format string, args ...any) {
	r.stage.Status, r.stage.Comment = Skipped, fmt.Sprintf(format, args...)
}

// skippedIf skips the current stage if it is empty.
func (r *runner) skippedIf(nothing bool, reason string) {
	if s := r.stage; nothing && s.Errors+s.Warnings+s.Unknown == 0 {
		r.skipped("%s", reason)
	}
}

// lacks skips the current stage if it has no findings, because the source lacks its data.
func (r *runner) lacks(reason string) {
	r.skippedIf(true, reason)
	r.stage.NotJudged = r.stage.Status == Skipped
}

// comment sets the current stage's comment.
func (r *runner) comment(format string, args ...any) {
	r.stage.Comment = fmt.Sprintf(format, args...)
}

// add adds a finding with a kind from the current stage.
func (r *runner) add(f report.Finding) {
	if !slices.Contains(r.kinds, f.Kind) {
		panic("check: undeclared finding " + r.stage.Name + "/" + string(f.Kind))
	}
	f.Data = &FindingData{r.stage.Name}
	if s, ok := r.limits.Severity[Name(f)]; ok && f.Severity != report.Unknown {
		f.Severity = s
	}
	if f.Hint == "" {
		f.Hint = f.Kind.HintFor(f)
	}
	switch f.Severity {
	case report.Error:
		r.stage.Errors++
	case report.Warning:
		r.stage.Warnings++
	case report.Unknown:
		r.stage.Unknown++
	default:
		return
	}
	r.result.Add(f)
}

// value adds a value for monitoring systems.
func (r *runner) value(name string, v float64, unit string) {
	r.result.Values = append(r.result.Values, Value{name, v, unit})
}

// finish completes the result.
func (r *runner) finish() *Report {
	if !r.result.Judged() {
		r.result.Partial = true
	}
	r.result.Seconds = time.Since(r.result.Began).Seconds()
	r.value("errors", float64(r.result.Errors), "")
	r.value("warnings", float64(r.result.Warnings), "")
	r.value("time", r.result.Seconds, "s")
	if r.result.Groups == nil {
		r.result.Groups = singles(r.result.Findings)
	}
	return r.result
}
