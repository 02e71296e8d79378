package ping

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// receive takes in the packet that came at a time.
func (r *runner) receive(now time.Duration) {
	m := &r.in
	f := r.find(uint32(m.MAD.TID()))
	if f == nil || m.MAD.Class() != f.target.packet.Class() {
		r.stray()
		return
	}
	if m.Status != 0 {
		// The transport says that nobody answered. A simulator does at once, the
		// kernel long after the probe was given up.
		if f.state == waiting {
			r.lost(f)
		}
		return
	}
	if !r.answers(f.target, m.MAD.Method()) {
		r.stray()
		return
	}
	rtt := now - f.sent
	state := f.state
	if state == waiting {
		r.end(f, answered)
	}
	f.state = answered
	outcome, err := r.judge(f, m)
	if r.o.Trace != nil {
		r.trace(umad.EventReceived, f, &m.MAD, rtt, err)
	}
	switch {
	case state == givenUp && int(f.attempt) < r.o.Attempts:
		// An answer to an attempt that another follows. That one is the probe.
		r.stray()
	case state == givenUp:
		r.count(f, Late, rtt, nil)
	case state == answered:
		r.count(f, Duplicated, rtt, nil)
	default:
		r.ended(f, outcome, rtt, err)
	}
}

// answers reports whether a packet of a method answers probes to a target.
func (r *runner) answers(t *Target, m mad.Method) bool {
	if t.OneWay && t.Via == ViaVendor {
		return m == r.o.Answer
	}
	return m.IsResponse()
}

// stray counts a packet that answers nothing.
func (r *runner) stray() {
	r.result.Stray++
	if r.o.Trace != nil {
		m := &r.in.MAD
		r.o.Trace(umad.Event{
			Kind: umad.EventStray, Class: m.Class(), Method: m.Method(), Attr: m.Attr(), Modifier: m.Modifier(), TID: m.TID(),
		})
	}
}

// judge says what an answer is worth, and keeps what it says of who answered.
func (r *runner) judge(f *flight, m *umad.Message) (Outcome, error) {
	t := f.target
	if !t.isSource(&m.Addr) {
		return WrongSource, fmt.Errorf("answered by %v", sourceOf(&m.Addr))
	}
	if err := m.MAD.Status().Err(); err != nil {
		return Refused, err
	}
	if m.MAD.Attr() != t.packet.Attr() {
		return Corrupted, nil
	}
	switch t.Via {
	case ViaSMA:
		return r.judgeNode(t, &m.MAD)
	case ViaPMA:
		return Received, nil
	}
	return r.judgePong(f, &m.MAD)
}

// judgeNode looks at a NodeInfo: it has to be that of the port which is meant,
// and of the node that answered before.
func (r *runner) judgeNode(t *Target, p *mad.Packet) (Outcome, error) {
	info := &r.info
	if err := mad.Decode(info, p.Data()); err != nil {
		return Corrupted, err
	}
	r.probe.Node = info.NodeGUID
	switch {
	case info.NodeType < mad.NodeTypeCA || info.NodeType > mad.NodeTypeRouter:
		return Corrupted, nil
	case t.PortGUID != 0 && info.PortGUID != t.PortGUID:
		return WrongSource, fmt.Errorf("answered by port 0x%016x", info.PortGUID)
	case t.seen.known && info.NodeGUID != t.seen.node:
		return WrongSource, fmt.Errorf("before answered node 0x%016x", t.seen.node)
	}
	t.seen.known, t.seen.node = true, info.NodeGUID
	return Received, nil
}

// errOtherHost is about a server that calls itself otherwise than before.
var errOtherHost = errors.New("before answered another host")

// judgePong looks at what a ping server sent. Those of ibkit send back all but
// the name, those of infiniband-diags nothing: of them only the name can be held
// against what it was before.
func (r *runner) judgePong(f *flight, p *mad.Packet) (Outcome, error) {
	t, data := f.target, p.Data()
	if ouiOf(p) != r.o.OUI {
		return WrongOUI, nil
	}
	echo, isEcho := ParseEcho(data)
	name := data
	if isEcho {
		name = data[:offEchoMagic]
	}
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	r.probe.Host = name
	known := name[:min(len(name), len(t.seen.name))]
	switch {
	case isEcho && (!echo.IsAnswer || echo.ID != r.ids|uint64(f.tid) || !bytes.Equal(echo.Payload, r.o.Payload)):
		return Corrupted, nil
	case !t.seen.known:
		t.seen.known, t.seen.echo = true, isEcho
		copy(t.seen.name[:], known)
	case t.seen.echo != isEcho:
		return Corrupted, nil
	case !bytes.Equal(known, bytes.TrimRight(t.seen.name[:], "\x00")):
		if isEcho {
			return WrongSource, errOtherHost
		}
		return Corrupted, nil
	}
	return Received, nil
}
