// Package check returns a verdict on a fabric or on a node: a list of findings, each with
// its next step, and a table of the stages that found them.
//
// The stages are data. They run the checks of the other packages and add comparisons
// that only a check of the whole requires.
package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
)

// Schema identifies the JSON form of a [Result]; schema/check.json describes it. A
// change that breaks readers changes the number.
const Schema = "ibkit/check/1"

// A Severity is the weight of a finding.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // fails or is slow
	Warning Severity = "warning" // may fail, or is not as intended
	Unknown Severity = "unknown" // could not be checked: the result is partial
	Ignore  Severity = "ignore"  // is not reported
)

// severities are the severities that a user can select.
var severities = []Severity{Error, Warning, Ignore}

// A Status is the result of a stage.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"  // has errors
	Warned  Status = "warned"  // has warnings, but no errors
	Partial Status = "partial" // a part could not be checked, the rest passed
	Skipped Status = "skipped" // the comment has the reason
)

// A Finding is a defect.
type Finding struct {
	Stage    string   `json:"stage"`
	Kind     string   `json:"kind"`
	Severity Severity `json:"severity"`
	Subject  string   `json:"subject"` // node, node[port] or device/port; "" for the whole
	Detail   string   `json:"detail"`
	Next     string   `json:"next"` // next step

	NodeGUID *ib.GUID `json:"node_guid"` // nil: the finding has no single node
	Port     *int     `json:"port"`
}

// A Stage is the result of one stage.
type Stage struct {
	Name     string  `json:"name"`
	About    string  `json:"about"`
	Status   Status  `json:"status"`
	Errors   int     `json:"errors"`
	Warnings int     `json:"warnings"`
	Unknown  int     `json:"unknown"`
	Comment  string  `json:"comment"`
	Seconds  float64 `json:"seconds"`
}

// A Value is a measured value for monitoring systems.
type Value struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"` // "s", "c" for a counter, or ""
}

// A Result is the verdict. Its JSON encoding is the output of ibkit check node and
// ibkit check fabric with --format json.
type Result struct {
	Schema   string    `json:"schema"`
	Scope    string    `json:"scope"` // "node" or "fabric"
	Time     time.Time `json:"time"`
	Seconds  float64   `json:"seconds"`
	Partial  bool      `json:"partial"` // a part could not be checked
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Stages   []Stage   `json:"stages"`
	Findings []Finding `json:"findings"`
	Values   []Value   `json:"values"`
}

// A runner runs stages and collects their findings.
type runner struct {
	kinds  map[kindKey]*Kind
	limits *Limits
	only   []string
	skip   []string
	result *Result
	stage  *Stage
}

// kindKey identifies a kind of finding.
type kindKey struct{ stage, kind string }

// newRunner returns a runner for the kinds of a scope.
func newRunner(scope string, kinds []Kind, limits *Limits, only, skip []string) *runner {
	r := &runner{
		kinds: make(map[kindKey]*Kind, len(kinds)), limits: limits, only: only, skip: skip,
		result: &Result{Schema: Schema, Scope: scope, Time: time.Now(), Stages: []Stage{}, Findings: []Finding{}, Values: []Value{}},
	}
	for i := range kinds {
		r.kinds[kindKey{kinds[i].Stage, kinds[i].Name}] = &kinds[i]
	}
	return r
}

// selects reports whether a stage is to be run.
func (r *runner) selects(name string) bool {
	return (len(r.only) == 0 || slices.Contains(r.only, name)) && !slices.Contains(r.skip, name)
}

// begin begins a stage.
func (r *runner) begin(name, about string) time.Time {
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

// comment sets the comment of the current stage.
func (r *runner) comment(format string, args ...any) {
	r.stage.Comment = fmt.Sprintf(format, args...)
}

// add adds a finding of a kind of the current stage.
func (r *runner) add(kind string, f Finding) {
	k := r.kinds[kindKey{r.stage.Name, kind}]
	if k == nil {
		panic("check: undeclared finding " + r.stage.Name + "/" + kind)
	}
	f.Stage, f.Kind = r.stage.Name, kind
	if f.Severity == "" {
		f.Severity = k.Severity
	}
	if s, ok := r.limits.Severity[f.Stage+"/"+kind]; ok && f.Severity != Unknown {
		f.Severity = s
	}
	if f.Next == "" {
		f.Next = k.next(&f)
	}
	switch f.Severity {
	case Ignore:
		return
	case Error:
		r.stage.Errors++
	case Warning:
		r.stage.Warnings++
	case Unknown:
		r.stage.Unknown++
	}
	r.result.Findings = append(r.result.Findings, f)
}

// value adds a value for monitoring systems.
func (r *runner) value(name string, v float64, unit string) {
	r.result.Values = append(r.result.Values, Value{name, v, unit})
}

// finish completes the result.
func (r *runner) finish() *Result {
	r.result.Seconds = time.Since(r.result.Time).Seconds()
	r.value("errors", float64(r.result.Errors), "")
	r.value("warnings", float64(r.result.Warnings), "")
	r.value("time", r.result.Seconds, "s")
	return r.result
}
