package query

import (
	"encoding/json"

	"github.com/ibkit/ibkit/ib"
)

// ReportSchema identifies the JSON form of a [Report]; schema/query.json describes it.
const ReportSchema = "ibkit/query/1"

// A Report is the document that "ibkit query --json" prints. nil stands for an unknown or
// missing value.
type Report struct {
	ReportHead
	Replies []ReportReply `json:"replies"`
}

// A ReportHead is the part of a report before the replies.
type ReportHead struct {
	Schema    string          `json:"schema"`
	Attribute ReportAttribute `json:"attribute"`
	Partial   bool            `json:"partial"` // some replies have an error, or targets may be missing
}

// A ReportAttribute is an attribute by its class: smp, pm, cc, vs or sysstat.
type ReportAttribute struct {
	Class string `json:"class"`
	ID    int    `json:"id"`
	Name  string `json:"name"`
}

// ListSchema identifies the JSON form of a [ListReport]; schema/query-list.json describes
// it.
const ListSchema = "ibkit/query-list/1"

// A ListReport is the document that "ibkit query --list --json" prints.
type ListReport struct {
	Schema     string            `json:"schema"`
	Attributes []ListedAttribute `json:"attributes"`
}

// A ListedAttribute is an attribute with its other names and the names of its fields.
type ListedAttribute struct {
	ReportAttribute
	Aliases []string `json:"aliases"`
	Fields  []string `json:"fields"`
}

// A ReportReply is a reply, or its absence.
type ReportReply struct {
	ReportOrigin
	Data json.RawMessage `json:"data"` // the fields of the attribute by name, or a text
	ReportOutcome
}

// A ReportOrigin is the request of a reply.
type ReportOrigin struct {
	Target   string   `json:"target"` // as given
	Name     *string  `json:"name"`   // of the node
	NodeGUID *ib.GUID `json:"node_guid"`
	LID      *ib.LID  `json:"lid"`
	Route    *string  `json:"route"` // directed route to the node
	Port     *int     `json:"port"`  // that the attribute belongs to
	Modifier uint32   `json:"modifier"`
	First    *int     `json:"first"`  // index of the first entry of a block of a table
	RTT      *float64 `json:"rtt_us"` // microseconds
}

// A ReportOutcome is the reason why a reply has no data.
type ReportOutcome struct {
	Error  *string       `json:"error"`
	Packet *ReportPacket `json:"packet"`
}

// A ReportPacket is a packet that is not decoded.
type ReportPacket struct {
	BaseVersion  int    `json:"base_version"`
	Class        int    `json:"class"`
	ClassVersion int    `json:"class_version"`
	Method       int    `json:"method"`
	Status       int    `json:"status"`
	TID          string `json:"transaction_id"`
	Attribute    int    `json:"attribute"`
	Modifier     uint32 `json:"modifier"`
	Data         string `json:"data"` // hexadecimal digits
}
