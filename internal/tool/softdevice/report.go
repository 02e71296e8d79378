package softdevice

import (
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the JSON form for a [Report]; schema/link.json describes it.
const ReportSchema = "ibkit/link/2"

// A Report is the document that "ibkit link --json" prints: a change and its result.
type Report struct {
	report.Head
	Change
	DryRun  bool             `json:"dry_run"` // the change was not made: --dry-run, or a refusal
	Users   []User           `json:"users"`   // for a device to delete
	Outcome *outcome.Outcome `json:"outcome"` // nil: the change was not made
	Active  bool             `json:"active"`  // the new device's port is active
	GID     *string          `json:"gid"`     // a new device's first GID
	Failure *string          `json:"failure"` // reason for the outcome failed
}

// Report returns the document for a plan that was not carried out.
func (p *Plan) Report() *Report {
	return &Report{Head: report.NewHead(ReportSchema, p.Began), Change: p.Change, DryRun: true, Users: append([]User{}, p.Users...)}
}

// ReportResult returns the document for a plan that was carried out.
func (p *Plan) ReportResult(port Port, err error) *Report {
	r := p.Report()
	r.DryRun = false
	subject := p.Device + "/1"
	result := outcome.Changed
	switch {
	case err != nil:
		result, r.Failure = outcome.Failed, new(err.Error())
	case p.Action == Delete:
	case !port.Active:
		result = outcome.NotActive
		r.Add(report.New(report.PortDown, subject, "port is not active"))
	case port.GID == "":
		result = outcome.NotActive
		r.Add(report.New(report.MissingGID, subject, "the port is active, without a GID"))
	case p.Needless:
		result = outcome.Unneeded
	}
	r.Outcome, r.Active = &result, port.Active
	if port.GID != "" {
		r.GID = &port.GID
	}
	return r
}
