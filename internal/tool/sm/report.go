package sm

import (
	"cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// ReportSchema identifies the JSON form for a [Report]; schema/sm.json describes it.
const ReportSchema = "ibkit/sm/3"

// A Report is the document that "ibkit sm --json" prints. nil stands for an unknown or
// missing value.
type Report struct {
	report.Head
	SMLID    *ib.LID         `json:"sm_lid"`   // of the manager that serves the local port
	Managers []ReportManager `json:"managers"` // with a change: before it, the changed manager first
	Change   *ReportChange   `json:"change"`   // nil: the managers are only shown
}

// A ReportChange is the first manager's change.
type ReportChange struct {
	Operation Operation        `json:"operation"`
	DryRun    bool             `json:"dry_run"` // not made: a dry run, or a refusal
	Request   ReportRequest    `json:"request"`
	Risks     []Risk           `json:"risks"`
	Outcome   *outcome.Outcome `json:"outcome"` // nil: the change was not to be made
	Failure   *string          `json:"failure"`
	After     *string          `json:"after"` // nil: not read
	Seconds   *float64         `json:"seconds"`
}

// A ReportRequest is the SMInfo in the request.
type ReportRequest struct {
	GUID     ib.GUID `json:"port_guid"`
	State    string  `json:"state"`
	Priority uint8   `json:"priority"`
	Activity uint32  `json:"activity"`
}

// A ReportManager is a subnet manager.
type ReportManager struct {
	Name      *string       `json:"name"`
	NodeGUID  *ib.GUID      `json:"node_guid"`
	GUID      *ib.GUID      `json:"port_guid"`
	LID       *ib.LID       `json:"lid"`
	Route     *string       `json:"route"` // to a port without a LID
	IsSM      *bool         `json:"is_sm"` // the port has the capability
	State     *string       `json:"state"`
	Priority  *uint8        `json:"priority"`
	Activity  *uint32       `json:"activity"` // activity count
	Advances  *bool         `json:"advances"` // the activity count
	WaitMS    *float64      `json:"wait_ms"`  // time between two readings
	InRecords *bool         `json:"in_sa"`    // subnet administration has a record; nil: it was not queried
	Error     *string       `json:"error"`
	Findings  []report.Kind `json:"findings"`
}

// Report returns a result's document.
func (r *Result) Report(names *fabric.NameMap) *Report {
	d := &Report{
		Head: report.NewHead(ReportSchema, r.Began), SMLID: optional.NonZero(r.Local.SMLID), Managers: make([]ReportManager, len(r.Managers)),
	}
	d.Add(r.Findings...)
	for i, m := range r.Managers {
		d.Add(m.Findings...)
		d.Managers[i] = newReportManager(m, names)
		if r.Records {
			d.Managers[i].InRecords = new(m.Record != nil)
		}
		if m.unknown() {
			d.Failures = append(d.Failures, fabric.ReportFailure(m.label(names), m.Err))
		}
	}
	for _, w := range r.Warnings {
		d.Fail(fabric.ReportFailure("", w))
	}
	d.Partial = r.Partial()
	return d
}

// Report returns a plan's document. With dryRun, or before [Session.Apply], it has no
// outcome.
func (p *Plan) Report(local umad.PortAttr, dryRun bool, names *fabric.NameMap) *Report {
	r := (&Result{Began: p.Began, Local: local, Managers: append([]*Manager{p.Manager}, p.Others...), Warnings: p.Warnings}).Report(names)
	q := &p.Request
	r.Change = &ReportChange{
		Operation: p.Operation, DryRun: dryRun, Risks: append([]Risk{}, p.Risks...),
		Request: ReportRequest{q.GUID, q.State.String(), q.Priority, q.ActCount},
	}
	if !dryRun {
		r.Change.Outcome, r.Change.After, r.Change.Seconds = &p.Outcome, reportState(p.After), new(p.Elapsed.Seconds())
	}
	if p.Failure != nil {
		r.Change.Failure = new(p.Failure.Error())
	}
	return r
}

// reportState returns the state in an SMInfo, which may be nil.
func reportState(i *mad.SMInfo) *string {
	if i == nil {
		return nil
	}
	return new(i.State.String())
}

func newReportManager(m *Manager, names *fabric.NameMap) ReportManager {
	j := ReportManager{
		Name: optional.NonZero(m.Name(names)), GUID: optional.NonZero(m.GUID()), LID: optional.NonZero(m.To.LID),
		IsSM: m.IsSM, Advances: m.Advanced(), Findings: report.KindsOf(m.Findings),
	}
	if m.Node != nil {
		j.NodeGUID = &m.Node.NodeGUID
	}
	if !m.To.Route.IsNone() {
		j.Route = new(m.To.Route.String())
	}
	info := m.Info
	if m.Later != nil {
		info = m.Later
		j.WaitMS = new(float64(m.Elapsed.Microseconds()) / 1000)
	}
	if info != nil {
		j.State = reportState(info)
		j.Priority, j.Activity = &info.Priority, &info.ActCount
	}
	if m.Err != nil {
		j.Error = new(m.Err.Error())
	}
	return j
}

// Name returns the name of the manager's node, "" if it is unknown.
func (m *Manager) Name(names *fabric.NameMap) string {
	if m.Node == nil || m.Description == nil {
		return ""
	}
	return names.NameOf(m.Node.NodeGUID, *m.Description)
}

// label returns the name of the manager's node, or its address.
func (m *Manager) label(names *fabric.NameMap) string { return cmp.Or(m.Name(names), m.To.Place()) }
