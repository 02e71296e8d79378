package ping

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/internal/inflight"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// receive processes the packet that was received by now.
func (r *runner) receive(now time.Duration) {
	m := &r.in
	e := r.sent.Find(uint32(m.MAD.TID()))
	if e == nil || m.MAD.Class() != e.Data.target.packet.Class() {
		r.stray()
		return
	}
	if m.Status != 0 {
		// The transport returns the probe without a reply: a simulator at once,
		// the kernel long after the run gave it up.
		if e.State == inflight.Waiting {
			r.lost(e)
		}
		return
	}
	if !r.answers(e.Data.target, m.MAD.Method()) {
		r.stray()
		return
	}
	rtt := now - e.Sent
	state := r.sent.Answer(e)
	outcome, err := r.judge(e, m)
	if r.o.Trace != nil {
		r.trace(eventOf[state], e, &m.MAD, rtt, err)
	}
	switch {
	case state == inflight.Waiting:
		r.ended(e, outcome, rtt, err)
	case state == inflight.Answered:
		r.count(e, Duplicated, rtt, nil)
	case int(e.Data.attempt) < r.o.Attempts:
		// The reply to an earlier attempt, while a later attempt stands for the probe.
		r.stray()
	default:
		r.count(e, Late, rtt, nil)
	}
}

// eventOf maps the probe state before a reply to the event kind.
var eventOf = map[inflight.State]umad.EventKind{
	inflight.Waiting:  umad.EventReceived,
	inflight.Expired:  umad.EventLate,
	inflight.Answered: umad.EventDuplicate,
}

// answers reports whether a packet with a method answers probes to a target.
func (r *runner) answers(t *Target, m mad.Method) bool {
	if t.OneWay && t.Agent == AgentServer {
		return m == r.o.Answer
	}
	return m.IsResponse()
}

// stray counts a packet that matches no probe.
func (r *runner) stray() {
	r.result.Stray++
	if r.o.Trace != nil {
		m := &r.in.MAD
		r.o.Trace(umad.Event{
			Kind: umad.EventStray, Class: m.Class(), Method: m.Method(), Attr: m.Attr(), Modifier: m.Modifier(), TID: m.TID(),
		})
	}
}

// judge returns the outcome for a reply, and records the sender's identity.
func (r *runner) judge(e *entry, m *umad.Message) (Outcome, error) {
	t := e.Data.target
	if !t.isSource(&m.Addr) {
		return WrongSource, fmt.Errorf("reply from %v", sourceOf(&m.Addr))
	}
	if err := m.MAD.Status().Err(); err != nil {
		return Refused, err
	}
	if m.MAD.Attr() != t.packet.Attr() {
		return Corrupted, nil
	}
	switch t.Agent {
	case AgentSMA:
		return r.judgeNode(t, &m.MAD)
	case AgentPMA:
		return Received, nil
	}
	return r.judgeServer(e, &m.MAD)
}

// judgeNode checks a NodeInfo: it must describe the target's port, and the same node as
// earlier replies.
func (r *runner) judgeNode(t *Target, p *mad.Packet) (Outcome, error) {
	info := &r.info
	if err := p.Decode(info); err != nil {
		return Corrupted, err
	}
	r.report.Node = info.NodeGUID
	switch {
	case info.NodeType < mad.NodeTypeCA || info.NodeType > mad.NodeTypeRouter:
		return Corrupted, nil
	case t.PortGUID != 0 && info.PortGUID != t.PortGUID:
		return WrongSource, fmt.Errorf("reply from port %v", info.PortGUID)
	case t.first.known && info.NodeGUID != t.first.node:
		return WrongSource, fmt.Errorf("earlier replies came from node %v", t.first.node)
	}
	t.first.known, t.first.node = true, info.NodeGUID
	return Received, nil
}

// errOtherHost is the cause if the server name in a reply differs from earlier replies.
var errOtherHost = errors.New("earlier replies came from another host")

// judgeServer checks the reply from a ping server. An ibkit server returns all probe data
// and adds the server name. An infiniband-diags server returns only a name, which can be
// compared with earlier replies.
func (r *runner) judgeServer(e *entry, p *mad.Packet) (Outcome, error) {
	t, data := e.Data.target, p.Data()
	if p.OUI() != r.o.OUI {
		return WrongOUI, nil
	}
	echo, isEcho := parseEcho(data)
	name := data
	if isEcho {
		name = data[:offEchoMagic]
	}
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	r.report.Host = name
	known := name[:min(len(name), len(t.first.name))]
	switch {
	case isEcho && (!echo.isAnswer || echo.id != r.ids|uint64(e.TID) || !bytes.Equal(echo.payload, r.o.Payload)):
		return Corrupted, nil
	case !t.first.known:
		t.first.known, t.first.echo = true, isEcho
		copy(t.first.name[:], known)
	case t.first.echo != isEcho:
		return Corrupted, nil
	case !bytes.Equal(known, bytes.TrimRight(t.first.name[:], "\x00")):
		if isEcho {
			return WrongSource, errOtherHost
		}
		return Corrupted, nil
	}
	return Received, nil
}
