package watch

import (
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/internal/tool/trap"
	"github.com/ibkit/ibkit/mad"
)

// notice reports a subscription event.
func (w *fabricWatch) notice(e *trap.Event) {
	switch e.Kind {
	case trap.Received:
		w.look(e.Notice)
		w.add(w.noticeEvent(e.Notice))
	case trap.Subscribed:
		w.works(Traps, fmt.Sprintf("subscribed to the subnet manager at LID %d", e.SA))
	case trap.Lost:
		w.lose(Traps, e.Err)
	case trap.Dropped:
		w.dropped.Add(int64(e.Count))
		w.add(&Event{Source: Self, Event: Dropped, Level: Problem, Count: &e.Count, Text: "notices came faster than they were processed"})
	case trap.Refused, trap.Unnamed:
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
	data := &NoticeData{Type: n.Notice.Type.String()}
	level := Info
	name := "vendor"
	if n.Notice.Generic != 0 {
		data.Trap = &n.Notice.TrapNumber
		name = fmt.Sprint("trap ", n.Notice.TrapNumber)
		switch {
		case n.Notice.TrapNumber == mad.TrapGIDInService:
			level = Recovery
		case n.Notice.TrapNumber == mad.TrapGIDOutOfService, n.Notice.Type < mad.NoticeSubnetManager && n.Notice.TrapNumber != mad.TrapLinkState:
			level = Problem
		}
	}
	if kind, known := n.Kind(); known {
		data.Name = &kind.Name
		name = kind.Name
	}
	e := &Event{Time: n.Time, Source: Traps, Event: TrapNotice, Level: level, Text: name + ": " + n.Text(), Notice: data}
	e.Subject, e.node = w.placeOf(&n.Subject)
	data.Issuer, _ = w.placeOf(&n.Issuer)
	return e
}

// placeOf returns a notice's place, with the node that the scan found.
func (w *fabricWatch) placeOf(p *trap.Place) (*Place, *fabric.Node) {
	place := &Place{LID: optional.NonZero(p.LID), Port: optional.NonZero(p.Port)}
	if !p.GID.IsZero() {
		place.GID = new(p.GID.String())
	}
	node := w.nodeOf(p)
	if node != nil {
		place.GUID, place.Name = &node.GUID, w.Names.Name(node)
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
