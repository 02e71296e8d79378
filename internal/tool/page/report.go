package page

import (
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/exporter"
	"github.com/ibkit/ibkit/internal/tool/top"
	"github.com/ibkit/ibkit/report"
)

// Schema identifies the JSON form of a [Report]; schema/page.json describes it.
const Schema = "ibkit/page/2"

// A Report is the state of a fabric in the last sweep, the document at /api/summary.
type Report struct {
	report.Head
	Since    []time.Time            `json:"since"` // sweep that first had the finding, for each finding
	Sweep    Notice                 `json:"sweep"`
	Interval float64                `json:"interval_seconds"` // seconds between sweeps
	Summary  top.ReportSummary      `json:"summary"`
	Links    map[string]int         `json:"links_by_state"`
	Managers []Manager              `json:"managers"`
	Missing  []exporter.MissingNode `json:"missing"`
}

// A Notice is the data of the server-sent event "sweep".
type Notice struct {
	Time     time.Time `json:"time"`    // end of the last sweep with a result
	Partial  bool      `json:"partial"` // a request had no valid response
	Failure  *string   `json:"failure"` // the reason why a later sweep had no result
	Errors   int       `json:"errors"`  // findings, and nodes that are missing
	Warnings int       `json:"warnings"`
	Unknown  int       `json:"unknown"`
	Events   uint64    `json:"events"` // since the start
}

// A Manager is a port that runs a subnet manager.
type Manager struct {
	Name   string  `json:"name"`
	GUID   ib.GUID `json:"node_guid"`
	Port   uint8   `json:"port"`
	LID    ib.LID  `json:"lid"`
	Master bool    `json:"master"` // ports have its LID as their master's
}

// rank orders masters before others.
func (m Manager) rank() int {
	if m.Master {
		return 0
	}
	return 1
}
