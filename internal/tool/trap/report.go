package trap

import (
	"encoding/json"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/mad"
)

// ReportSchema identifies the JSON form for a [Report]; schema/trap.json describes it.
const ReportSchema = "ibkit/trap/1"

// A Report is a line that "ibkit trap --json" prints: an event.
type Report struct {
	Schema string        `json:"schema"`
	Event  string        `json:"event"` // see [EventKind]
	Time   time.Time     `json:"time"`
	SALID  ib.LID        `json:"sa_lid"`
	Error  *string       `json:"error,omitempty"`
	Count  *int          `json:"count,omitempty"` // of Dropped
	Notice *ReportNotice `json:"notice,omitempty"`
}

// A ReportNotice is a notice. Trap is null for vendor notices, Vendor and Device for other
// notices.
type ReportNotice struct {
	Trap     *uint16         `json:"trap"`
	Name     *string         `json:"name"` // null: not defined by the specification
	Type     ReportType      `json:"type"`
	Producer uint32          `json:"producer"`
	Vendor   *uint32         `json:"vendor_id"`
	Device   *uint16         `json:"device_id"`
	Issuer   ReportPlace     `json:"issuer"`
	Subject  ReportPlace     `json:"subject"`
	Text     string          `json:"text"`
	Details  json.RawMessage `json:"details"` // the fields by name; null: unknown
}

// A ReportType is a notice's type.
type ReportType struct {
	Value uint8  `json:"value"`
	Name  string `json:"name"`
}

// A ReportPlace is a [Place]. null stands for an unknown value.
type ReportPlace struct {
	LID      *ib.LID  `json:"lid"`
	GID      *string  `json:"gid"`
	Port     *uint8   `json:"port"`
	NodeGUID *ib.GUID `json:"node_guid"`
	Name     *string  `json:"name"`
}

// NewReport returns an event's report. showKeys: M_Keys are not hidden.
func NewReport(e *Event, names *fabric.NameMap, showKeys bool) *Report {
	r := &Report{Schema: ReportSchema, Event: e.Kind.String(), Time: e.Time, SALID: e.SA}
	if e.Err != nil {
		r.Error = new(e.Err.Error())
	}
	if e.Kind == Dropped {
		r.Count = &e.Count
	}
	if e.Notice != nil {
		r.Notice = reportNotice(e.Notice, names, showKeys)
	}
	return r
}

func reportNotice(n *Notice, names *fabric.NameMap, showKeys bool) *ReportNotice {
	r := &ReportNotice{
		Type: ReportType{uint8(n.Notice.Type), n.Notice.Type.String()}, Producer: n.Notice.ProducerType,
		Issuer: reportPlace(&n.Issuer, names), Subject: reportPlace(&n.Subject, names), Text: n.Text(),
	}
	if n.Notice.Generic != 0 {
		r.Trap = &n.Notice.TrapNumber
	} else {
		r.Vendor, r.Device = &n.Notice.ProducerType, &n.Notice.TrapNumber
	}
	if kind, known := n.Kind(); known {
		r.Name = &kind.Name
	}
	if details := n.Details; details != nil {
		if showKeys {
			details = mad.WithKeys(details)
		}
		r.Details, _ = json.Marshal(details) // attributes have a JSON form
	}
	return r
}

func reportPlace(p *Place, names *fabric.NameMap) ReportPlace {
	r := ReportPlace{LID: optional.NonZero(p.LID), Port: optional.NonZero(p.Port), Name: optional.NonZero(p.Name(names))}
	if !p.GID.IsZero() {
		r.GID = new(p.GID.String())
	}
	if p.Node != nil {
		r.NodeGUID = &p.Node.GUID
	}
	return r
}

// Name returns the node's name from a map, else its description; "" if it is unknown.
func (p *Place) Name(names *fabric.NameMap) string {
	if p.Node == nil {
		return ""
	}
	return names.NameOf(p.Node.GUID, p.Node.Description)
}
