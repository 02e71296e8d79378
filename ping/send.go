package ping

import (
	"errors"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// send sends what is due, as far as the port takes it and the window allows. It
// returns an error where the port is broken.
func (r *runner) send() error {
	r.full, r.limited = false, false
	now := r.clock()
	for r.paused.len > 0 && r.paused.first().due <= now {
		r.turns.push(*r.paused.first())
		r.paused.pop()
	}
	for {
		queue := &r.retries
		if queue.len == 0 {
			if queue = &r.turns; queue.len == 0 || queue.first().due > now {
				return nil
			}
		}
		if r.held >= r.o.Window {
			r.limited = true
			return nil
		}
		t := *queue.first()
		if late := r.o.Deadline > 0 && now >= r.o.Deadline; late && t.attempt == 0 {
			queue.pop()
			continue
		}
		f := r.place()
		f.target, f.seq, f.attempt = t.target, t.seq, t.attempt+1
		err := r.launch(f)
		if errors.Is(err, umad.ErrWouldBlock) {
			f.state = noFlight
			r.full = true
			return nil
		}
		if errors.Is(err, umad.ErrDeviceRemoved) {
			f.state = noFlight
			return err
		}
		queue.pop()
		now = f.sent
		r.launched(f, &t, err)
	}
}

// launch hands a probe to the system.
func (r *runner) launch(f *flight) error {
	t := f.target
	m := &r.out
	m.Addr = t.address()
	m.MAD = t.packet
	m.MAD.SetTID(uint64(f.tid))
	m.Timeout = r.o.Timeout + afterlife
	if t.Via == ViaVendor {
		putEchoID(m.MAD.Data(), r.ids|uint64(f.tid))
		if t.OneWay {
			m.Timeout = 0 // nobody but the run keeps time
		}
	}
	f.sent = r.clock()
	return r.port.Send(m)
}

// launched accounts for a probe that was sent, or could not be.
func (r *runner) launched(f *flight, t *turn, err error) {
	if t.attempt == 0 {
		f.target.Stats.Sent++
		r.result.Total.Sent++
		if r.o.Interval > 0 {
			// Where the schedule could not be kept, it goes on from now: what was
			// missed is not made up for in a burst.
			r.schedule(&r.turns, f.target, f.seq+1, max(t.due+r.o.Interval, f.sent))
		}
	}
	r.take(f)
	if r.o.Trace != nil {
		r.trace(umad.EventSent, f, &r.out.MAD, 0, err)
	}
	if err != nil {
		r.end(f, answered)
		r.ended(f, Unreachable, 0, err)
	}
}

func (r *runner) trace(kind umad.EventKind, f *flight, m *mad.Packet, took time.Duration, err error) {
	p := &f.target.packet
	e := umad.Event{
		Kind: kind, To: f.target.To, Class: p.Class(), Method: p.Method(), Attr: p.Attr(), Modifier: p.Modifier(),
		TID: uint64(f.tid), Attempt: int(f.attempt), RTT: took, Err: err,
	}
	if m != nil {
		e.Method, e.TID = m.Method(), m.TID()
	}
	r.o.Trace(e)
}
