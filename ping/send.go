package ping

import (
	"errors"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// send sends the probes that are due, as far as the port and the window permit. It
// returns an error if the port is broken.
func (r *runner) send() error {
	r.full, r.limited = false, false
	now := r.clock()
	for r.paused.len > 0 && r.paused.first().due <= now {
		r.next.push(*r.paused.first())
		r.paused.pop()
	}
	for {
		queue := &r.retries
		if queue.len == 0 {
			if queue = &r.next; queue.len == 0 || queue.first().due > now {
				return nil
			}
		}
		if r.sent.InFlight() >= r.o.Window {
			r.limited = true
			return nil
		}
		s := *queue.first()
		if late := r.o.Deadline > 0 && now >= r.o.Deadline; late && s.attempts == 0 {
			queue.pop()
			continue
		}
		e := r.sent.Add(now)
		e.Data = probe{target: s.target, seq: s.seq, attempt: s.attempts + 1}
		err := r.launch(e)
		if errors.Is(err, umad.ErrWouldBlock) {
			r.sent.Cancel(e)
			r.full = true
			return nil
		}
		if errors.Is(err, umad.ErrDeviceRemoved) {
			r.sent.Cancel(e)
			return err
		}
		queue.pop()
		now = e.Sent
		r.launched(e, &s, err)
	}
}

// launch hands a probe to the system.
func (r *runner) launch(e *entry) error {
	t := e.Data.target
	m := &r.out
	m.Addr = t.address()
	m.MAD = t.packet
	m.MAD.SetTID(uint64(e.TID))
	m.Timeout = r.o.Timeout + lateWindow
	if t.Agent == AgentServer {
		putEchoID(m.MAD.Data(), r.ids|uint64(e.TID))
		if t.OneWay {
			m.Timeout = 0 // only the run keeps time
		}
	}
	e.Sent = r.clock()
	return r.port.Send(m)
}

// launched counts a probe that was sent, or could not be sent.
func (r *runner) launched(e *entry, s *slot, err error) {
	if s.attempts == 0 {
		s.target.Stats.Sent++
		r.result.Total.Sent++
		if r.o.Interval > 0 {
			// After a delay the schedule continues from now, without a burst for the
			// missed probes.
			r.plan(&r.next, s.target, s.seq+1, max(s.due+r.o.Interval, e.Sent))
		}
	}
	if r.o.Trace != nil {
		r.trace(umad.EventSent, e, &r.out.MAD, 0, err)
	}
	if err != nil {
		r.sent.Answer(e) // nothing else may end it
		r.ended(e, Unreachable, 0, err)
	}
}

func (r *runner) trace(kind umad.EventKind, e *entry, m *mad.Packet, rtt time.Duration, err error) {
	p := &e.Data.target.packet
	event := umad.Event{
		Kind: kind, To: e.Data.target.To, Class: p.Class(), Method: p.Method(), Attr: p.Attr(), Modifier: p.Modifier(),
		TID: uint64(e.TID), Attempt: int(e.Data.attempt), RTT: rtt, Err: err,
	}
	if m != nil {
		event.Method, event.TID = m.Method(), m.TID()
	}
	r.o.Trace(event)
}
