package sim

import (
	"time"

	"github.com/ibkit/ibkit/report"
)

// ListSchema identifies the JSON form for a [ReportList]; schema/sim-list.json describes it.
const ListSchema = "ibkit/sim-list/2"

// A ReportList is the document that "ibkit sim list --json" prints.
type ReportList struct {
	report.Head
	Presets []ReportPreset `json:"presets"`
}

// A ReportPreset is a [Preset].
type ReportPreset struct {
	Name       string      `json:"name"`
	About      string      `json:"about"`
	Parameters []Parameter `json:"parameters"`
}

// NewReportList returns the report on all presets.
func NewReportList() *ReportList {
	r := &ReportList{Head: report.NewHead(ListSchema, time.Now()), Presets: make([]ReportPreset, len(Presets))}
	for i, p := range Presets {
		r.Presets[i] = ReportPreset{p.Name, p.About, append([]Parameter{}, p.Parameters...)}
	}
	return r
}
