package trap

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// Schema identifies the JSON form of an [Event]; schema/trap.json describes it.
const Schema = "ibkit/trap/2"

// An Event is passed to [Watch]'s function: a notice, or an event about the subscription.
type Event struct {
	report.Event[Data]
	Notice *Notice `json:"-"` // of report.Notice
	Err    error   `json:"-"` // of report.SourceLost, Refused and Unnamed
}

// Data has the values of an [Event].
type Data struct {
	SALID  ib.LID        `json:"sa_lid"`          // of subnet administration
	Count  *int          `json:"count,omitempty"` // of report.Dropped
	Place  *report.Place `json:"place,omitempty"` // that the notice is about
	Notice *NoticeData   `json:"notice,omitempty"`
}

// NoticeData is a notice. Trap is nil for vendor notices, Vendor and Device for other
// notices.
type NoticeData struct {
	Trap     *uint16         `json:"trap"`
	Name     *string         `json:"name"` // nil: not defined by the specification
	Type     NoticeType      `json:"type"`
	Producer uint32          `json:"producer"`
	Vendor   *uint32         `json:"vendor_id"`
	Device   *uint16         `json:"device_id"`
	Issuer   *report.Place   `json:"issuer"`
	Details  json.RawMessage `json:"details"` // the fields by name; null: unknown
}

// A NoticeType is a notice's type.
type NoticeType struct {
	Value uint8  `json:"value"`
	Name  string `json:"name"`
}

// NewNoticeData returns a notice's data. showKeys: M_Keys are not hidden.
func NewNoticeData(n *Notice, issuer *report.Place, showKeys bool) *NoticeData {
	d := &NoticeData{Type: NoticeType{uint8(n.Notice.Type), n.Notice.Type.String()}, Producer: n.Notice.ProducerType, Issuer: issuer}
	if n.Notice.Generic != 0 {
		d.Trap = &n.Notice.TrapNumber
	} else {
		d.Vendor, d.Device = &n.Notice.ProducerType, &n.Notice.TrapNumber
	}
	if kind, known := n.Kind(); known {
		d.Name = &kind.Name
	}
	if details := n.Details; details != nil {
		if showKeys {
			details = mad.WithKeys(details)
		}
		d.Details, _ = json.Marshal(details) // attributes have a JSON form
	}
	return d
}

// Report returns a place with the name in a map, else with the node's description.
func (p *Place) Report(names *fabric.NameMap) *report.Place {
	r := &report.Place{LID: optional.NonZero(p.LID)}
	if p.Port != 0 {
		r.Port = new(int(p.Port))
	}
	if !p.GID.IsZero() {
		r.GID = new(p.GID.String())
	}
	if p.Node != nil {
		r.NodeGUID, r.Name = &p.Node.GUID, optional.NonZero(names.NameOf(p.Node.GUID, p.Node.Description))
	}
	return r
}

// Severity rates a notice. A link that changed its state may be up or down.
func (n *Notice) Severity() report.Severity {
	switch {
	case n.Notice.Generic == 0 || n.Notice.TrapNumber == mad.TrapLinkState:
		return report.Info
	case n.Notice.TrapNumber == mad.TrapGIDInService:
		return report.Recovery
	case n.Notice.TrapNumber == mad.TrapGIDOutOfService || n.Notice.Type < mad.NoticeSubnetManager:
		return report.Error
	}
	return report.Info
}

// Detail returns the name and the text of a notice.
func (n *Notice) Detail() string {
	name := "vendor"
	if kind, known := n.Kind(); known {
		name = kind.Name
	} else if n.Notice.Generic != 0 {
		name = fmt.Sprint("trap ", n.Notice.TrapNumber)
	}
	return name + ": " + n.Text()
}

func (w *watcher) newEvent(kind report.EventKind, severity report.Severity, detail string) *Event {
	e := &Event{}
	e.Time, e.Kind, e.Severity, e.Subject, e.Detail = time.Now(), kind, severity, "traps", detail
	return e
}

// noticeEvent returns a notice's event.
func (w *watcher) noticeEvent(n *Notice) *Event {
	e := w.newEvent(report.Notice, n.Severity(), n.Detail())
	e.Time, e.Notice = n.Time, n
	e.Data.Place, e.Data.Notice = n.Subject.Report(w.NameMap), NewNoticeData(n, n.Issuer.Report(w.NameMap), w.ShowKeys)
	e.At(e.Data.Place)
	return e
}

// subscribed reports that subnet administration confirmed the subscriptions.
func (w *watcher) subscribed() error {
	return w.pass(w.newEvent(report.SourceUp, report.Recovery, fmt.Sprintf("subscribed to the subnet manager at LID %d", w.sa.LID)))
}

// state passes on an event about the subscription with its reason.
func (w *watcher) state(kind report.EventKind, severity report.Severity, reason error) error {
	e := w.newEvent(kind, severity, reason.Error())
	e.Err = reason
	return w.pass(e)
}

// pass passes an event on.
func (w *watcher) pass(e *Event) error {
	w.number++
	e.Schema, e.Sequence, e.Data.SALID = Schema, w.number, w.sa.LID
	return w.emit(e)
}
