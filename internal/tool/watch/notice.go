package watch

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/internal/tool/trap"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// notice reports a subscription event.
func (w *fabricWatch) notice(e *trap.Event) {
	switch e.Kind {
	case report.Notice:
		w.look(e.Notice)
		w.add(w.noticeEvent(e.Notice))
	case report.SourceUp:
		w.works(Traps, e.Detail)
	case report.SourceLost:
		w.lose(Traps, e.Err)
	case report.Dropped:
		w.dropped.Add(int64(*e.Data.Count))
		d := newEvent(Self, e.Kind, e.Severity, e.Detail)
		d.Data.Count = e.Data.Count
		w.add(d)
	case report.Refused, report.Unnamed:
		// The other subscription, and the scan's names, remain.
	}
}

// look causes a check or a scan after a notice about a link or a node.
func (w *fabricWatch) look(n *trap.Notice) {
	if n.Notice.Generic == 0 {
		return
	}
	switch n.Notice.TrapNumber {
	case mad.TrapLinkState:
		w.lookSoon = true
	case mad.TrapGIDInService, mad.TrapGIDOutOfService, mad.TrapCapabilities, mad.TrapSystemImageGUID:
		w.scanSoon = true
	}
}

// noticeEvent returns a notice's event.
func (w *fabricWatch) noticeEvent(n *trap.Notice) *Event {
	e := newEvent(Traps, report.Notice, n.Severity(), n.Detail()).about(w.placeOf(&n.Subject))
	issuer, _ := w.placeOf(&n.Issuer)
	e.Time, e.Data.Notice = n.Time, trap.NewNoticeData(n, issuer, false)
	return e
}

// placeOf returns a notice's place, with the node that the scan found.
func (w *fabricWatch) placeOf(p *trap.Place) (*report.Place, *fabric.Node) {
	place, node := p.Report(w.Names), w.nodeOf(p)
	if node != nil {
		place.NodeGUID, place.Name = &node.GUID, optional.NonZero(w.Names.Name(node))
	}
	if node != nil && node.Info.NodeType != 0 {
		place.Type = new(node.Info.NodeType.String())
	}
	return place, node
}

// nodeOf returns a place's node as a scan found it, else with the name that subnet
// administration has, nil if it is unknown.
func (w *fabricWatch) nodeOf(p *trap.Place) *fabric.Node {
	if p.Node != nil {
		return &fabric.Node{GUID: p.Node.GUID, Desc: p.Node.Description, Info: w.typeOf(p.Node.GUID)}
	}
	if p.GID.IsZero() || w.known == nil {
		return nil
	}
	guid := p.GID.GUID()
	if q := w.known.PortByGUID(guid); q != nil {
		return q.Node
	}
	return w.gone[guid]
}

// typeOf returns a node's type in the last scan.
func (w *fabricWatch) typeOf(guid ib.GUID) (info mad.NodeInfo) {
	if w.known != nil {
		if n := w.known.NodeByGUID(guid); n != nil {
			info.NodeType = n.Info.NodeType
		}
	}
	return info
}
