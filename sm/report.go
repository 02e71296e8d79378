package sm

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
)

// ReportSchema identifies the JSON form of a [Report]; schema/sm.json describes it.
const ReportSchema = "ibkit/sm/1"

// A Report is the document that "ibkit sm --json" prints. nil stands for an unknown or
// missing value.
type Report struct {
	Schema   string          `json:"schema"`
	Partial  bool            `json:"partial"` // a source could not be read, or only in part
	SMLID    *ib.LID         `json:"sm_lid"`  // of the manager that serves the local port
	Findings []Finding       `json:"findings"`
	Managers []ReportManager `json:"managers"`
}

// A ReportManager is a subnet manager.
type ReportManager struct {
	Name      *string      `json:"name"`
	NodeGUID  *ib.GUID     `json:"node_guid"`
	GUID      *ib.GUID     `json:"guid"` // of the port
	LID       *ib.LID      `json:"lid"`
	Route     *string      `json:"route"` // to a port without a LID
	IsSM      *bool        `json:"is_sm"` // the port has the capability
	State     *ReportState `json:"state"`
	Priority  *uint8       `json:"priority"`
	Activity  *uint32      `json:"activity"` // activity count
	Advances  *bool        `json:"advances"` // the activity count
	WaitMS    *float64     `json:"wait_ms"`  // time between two readings
	InRecords *bool        `json:"in_sa"`    // subnet administration has a record; nil: it was not queried
	Error     *string      `json:"error"`
	Findings  []Finding    `json:"findings"`
}

// A ReportState is the state of a subnet manager.
type ReportState struct {
	Value uint8  `json:"value"`
	Name  string `json:"name"`
}

// NewReport returns the report on a result.
func NewReport(r *Result, names *fabric.NameMap) *Report {
	report := &Report{
		Schema: ReportSchema, Partial: r.Partial(), SMLID: optional.NonZero(r.Local.SMLID),
		Findings: orEmpty(r.Findings), Managers: make([]ReportManager, len(r.Managers)),
	}
	for i, m := range r.Managers {
		report.Managers[i] = newReportManager(m, names)
		if r.Records {
			report.Managers[i].InRecords = new(m.Record != nil)
		}
	}
	return report
}

func newReportManager(m *Manager, names *fabric.NameMap) ReportManager {
	j := ReportManager{
		Name: optional.NonZero(m.Name(names)), GUID: optional.NonZero(m.GUID()), LID: optional.NonZero(m.To.LID),
		IsSM: m.IsSM, Advances: m.Advanced(), Findings: orEmpty(m.Findings),
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
		j.State = &ReportState{uint8(info.State), info.State.String()}
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

// orEmpty returns a list that JSON shows as a list if there are no findings.
func orEmpty(findings []Finding) []Finding {
	if findings == nil {
		return []Finding{}
	}
	return findings
}
