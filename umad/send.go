package umad

import (
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// headerSize is the length in bytes of the common MAD header, after which the
// payload of a general management packet begins.
const headerSize = 24

// send sends as much as the port takes and the window allows. It returns an
// error where the port is broken.
//
// Retries do not wait for room in the window: each is sent for an attempt that
// ended, and keeps the place of that attempt or goes without one as it did.
// So they are as far apart as the first attempts were.
func (c *Client) send(now time.Duration) error {
	c.sendable, c.limited = true, false
	for {
		from, r := &c.retries, c.retries.head
		if r == nil {
			from, r = &c.queue, c.queue.head
			if r == nil {
				return nil
			}
			if c.held >= c.window.size || c.table.used >= maxInFlight {
				c.limited = true
				return nil
			}
		}
		first := r.flight.attempt == 0
		if first {
			c.table.add(r)
		}
		r.flight.attempt++
		err := c.build(r)
		if err == nil {
			err = c.port.Send(&c.out)
		}
		if errors.Is(err, ErrWouldBlock) {
			r.flight.attempt--
			if first {
				c.table.remove(r)
			}
			c.sendable = false
			return nil
		}
		if first {
			c.held++
		}
		if errors.Is(err, ErrGone) {
			return err // r is still in its list and ends with the others
		}
		from.remove(r)
		if err != nil {
			c.end(r, Reply{Err: r.fail(err)})
			continue
		}
		c.sent(r, now)
	}
}

// sent puts r, which just was, among those in flight.
func (c *Client) sent(r *Request, now time.Duration) {
	c.stats.Sent++
	if r.flight.attempt > 1 {
		c.stats.Retries++
	}
	r.flight.state, r.flight.sent, r.flight.number = flying, now, c.stats.Sent
	c.flying.push(r)
	if c.fresh == nil {
		c.fresh = r
	}
	c.stats.Window = max(c.stats.Window, c.flying.len)
	if c.opts.Trace != nil {
		c.trace(EventSent, r, &c.out.MAD, 0, nil)
	}
}

// build makes the message for the next attempt of r.
func (c *Client) build(r *Request) error {
	m := &c.out
	m.Timeout = c.opts.Timeout
	if r.Answer != 0 {
		m.Timeout = 0
	}
	tid := uint64(r.tid())
	class := r.class()
	if !class.IsSMP() {
		m.Addr = Addr{LID: r.To.LID, QPN: 1, QKey: QP1QKey, SL: r.To.SL}
		m.MAD.PutGMP(mad.Header{
			BaseVersion: 1, Class: class, ClassVersion: classVersion(class),
			Method: r.method(), TID: tid, Attr: r.Attr, Modifier: r.Modifier,
		})
		return fill(m.MAD[headerSize:], r.Payload)
	}
	m.Addr = Addr{LID: r.To.LID, SL: r.To.SL}
	smp := mad.SMPRequest{
		TID: tid, Method: r.method(), Attr: r.Attr, Modifier: r.Modifier, MKey: c.opts.MKey,
		Directed: class == mad.ClassSMPDirected,
		Route:    r.To.Route, DrSLID: PermissiveLID, DrDLID: PermissiveLID,
	}
	switch {
	case !smp.Directed:
	case r.To.LID == 0:
		m.Addr.LID = PermissiveLID
	default:
		smp.DrSLID = c.attr.LID // where the reply's way by LID ends
	}
	m.MAD.PutSMP(smp)
	return fill(m.MAD.Data(), r.Payload)
}

func fill(room, payload []byte) error {
	if copy(room, payload) < len(payload) {
		return fmt.Errorf("build request: payload has %d bytes, %d are possible", len(payload), len(room))
	}
	return nil
}

// classVersion returns the version of a class that its requests are sent in:
// 2 for those that InfiniBand Architecture 1.1 and later changed.
func classVersion(c mad.Class) uint8 {
	if c == mad.ClassSA || c == mad.ClassCC {
		return 2
	}
	return 1
}
