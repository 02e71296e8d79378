package sa

import (
	"encoding/json"

	"github.com/ibkit/ibkit/ib"
)

// ReportSchema identifies the JSON form of a [Report]; schema/sa.json describes it.
const ReportSchema = "ibkit/sa/1"

// A Report is the document that "ibkit sa --json" prints.
type Report struct {
	ReportHead
	Records []json.RawMessage `json:"records"` // the fields of each by name
}

// A ReportHead is the part of a report before the records.
type ReportHead struct {
	Schema  string       `json:"schema"`
	Record  ReportRecord `json:"record"`
	SALID   ib.LID       `json:"sa_lid"`
	Partial bool         `json:"partial"`    // the reply was a single packet
	Elapsed float64      `json:"elapsed_ms"` // from the request to the end of the reply
}

// A ReportRecord is a kind of records.
type ReportRecord struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// ListSchema identifies the JSON form of a [ListReport]; schema/sa-list.json describes it.
const ListSchema = "ibkit/sa-list/1"

// A ListReport is the document that "ibkit sa --list --json" prints.
type ListReport struct {
	Schema  string         `json:"schema"`
	Records []ListedRecord `json:"records"`
}

// A ListedRecord is a kind of records with its other names and the names of its fields.
type ListedRecord struct {
	ReportRecord
	Aliases []string `json:"aliases"`
	Fields  []string `json:"fields"`
}
