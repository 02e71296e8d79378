package query

import (
	"cmp"
	"encoding/json"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the JSON form for a [Report]; schema/query.json describes it.
const ReportSchema = "ibkit/query/2"

// A Report is the document that "ibkit query --json" prints. nil stands for an unknown or
// missing value.
type Report struct {
	ReportHead
	Replies []ReportReply `json:"replies"`
}

// A ReportHead is a report's part before the replies.
type ReportHead struct {
	report.Head
	Attribute ReportAttribute `json:"attribute"`
}

// Head returns the report's part before the replies. Replies with an error, and requests in
// a scan that may have missed targets, are failures.
func (r *Result) Head(names *fabric.NameMap) ReportHead {
	a := r.Attribute
	h := ReportHead{Head: report.NewHead(ReportSchema, r.Began), Attribute: ReportAttribute{Class: a.Prefix(), ID: int(a.ID), Name: a.Name}}
	for i := range r.Replies {
		reply := &r.Replies[i]
		if reply.Err == nil {
			continue
		}
		f := fabric.ReportFailure(cmp.Or(reply.Name(names), reply.Target.String()), reply.Err)
		f.Attribute, f.Modifier = a.Name, reply.Modifier
		if reply.Number >= 0 {
			f.Port = &reply.Number
		}
		if p := reply.Port; p != nil && p.Node != nil {
			f.NodeGUID = &p.Node.NodeGUID
		}
		h.Fail(f)
	}
	for _, err := range r.Missed {
		h.Fail(fabric.ReportFailure("", err))
	}
	return h
}

// A ReportAttribute is an attribute by its class: smp, pm, cc, vs or sysstat.
type ReportAttribute struct {
	Class string `json:"class"`
	ID    int    `json:"id"`
	Name  string `json:"name"`
}

// ListSchema identifies the JSON form for a [ReportList]; schema/query-list.json describes
// it.
const ListSchema = "ibkit/query-list/2"

// A ReportList is the document that "ibkit query --list --json" prints.
type ReportList struct {
	report.Head
	Attributes []ReportListed `json:"attributes"`
}

// A ReportListed is an attribute with its other names and its field names.
type ReportListed struct {
	ReportAttribute
	Aliases []string `json:"aliases"`
	Fields  []string `json:"fields"`
}

// A ReportReply is a reply, or its absence.
type ReportReply struct {
	ReportOrigin
	Data json.RawMessage `json:"data"` // the attribute's fields by name, or a text
	ReportOutcome
}

// A ReportOrigin is a reply's request.
type ReportOrigin struct {
	Target   string   `json:"target"` // as given
	Name     *string  `json:"name"`   // of the node
	NodeGUID *ib.GUID `json:"node_guid"`
	LID      *ib.LID  `json:"lid"`
	Route    *string  `json:"route"` // directed route to the node
	Port     *int     `json:"port"`  // that the attribute belongs to
	Modifier uint32   `json:"modifier"`
	First    *int     `json:"first"`  // the first entry's index in a table block
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
