package sa

import (
	"encoding/json"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the JSON form for a [Report]; schema/sa.json describes it.
const ReportSchema = "ibkit/sa/3"

// A Report is the document that "ibkit sa --json" prints.
type Report struct {
	ReportHead
	Records []json.RawMessage `json:"records"` // each record's fields by name
}

// A ReportHead is a report's part before the records.
type ReportHead struct {
	report.Head
	Record  ReportRecord `json:"record"`
	SALID   ib.LID       `json:"sa_lid"`
	Elapsed float64      `json:"seconds"` // from the request to the reply's end
}

// Head returns the report's part before the records. A reply that may be incomplete is a
// failure.
func (r *Result) Head() ReportHead {
	h := ReportHead{
		Head: report.NewHead(ReportSchema, r.Began), Record: ReportRecord{ID: int(r.Kind.ID), Name: r.Kind.Name}, SALID: r.To.LID,
		Elapsed: r.Elapsed.Seconds(),
	}
	if r.Clipped() {
		h.Fail(report.Failure{LID: &r.To.LID, Attribute: r.Kind.Name, Error: "the reply is a single packet: records may be missing"})
	}
	return h
}

// A ReportRecord is a record kind.
type ReportRecord struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// ListSchema identifies the JSON form for a [ReportList]; schema/sa-list.json describes it.
const ListSchema = "ibkit/sa-list/2"

// A ReportList is the document that "ibkit sa --list --json" prints.
type ReportList struct {
	report.Head
	Records []ReportListed `json:"records"`
}

// A ReportListed is a record kind with its other names and its field names.
type ReportListed struct {
	ReportRecord
	Aliases []string `json:"aliases"`
	Fields  []string `json:"fields"`
}
