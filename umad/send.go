package umad

import (
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// headerSize is the length in bytes of the common MAD header, after which the
// payload of a general management packet begins.
const headerSize = 24

// send sends as many requests as the port accepts and the window permits. It
// returns an error if the port is broken.
//
// Retries do not wait for room in the window: each one replaces an attempt that
// ended, and inherits the place of that attempt, or the lack of one. So they are
// as far apart as the first attempts were.
func (c *Client) send(now time.Duration) error {
	c.sendable, c.limited = true, false
	for {
		n, err := c.fill()
		if n == 0 && err == nil {
			return nil
		}
		sent := 0
		if n > 0 {
			if sent, err = c.port.SendBatch(c.out[:n]); err == nil && sent < n {
				err = ErrWouldBlock
			}
		}
		for i, r := range c.batch[:sent] {
			c.listOf(r).remove(r)
			c.sent(r, &c.out[i], now)
		}
		if err == nil {
			continue
		}
		for _, r := range c.batch[min(sent+1, n):n] {
			c.unclaim(r)
		}
		r := c.batch[sent]
		switch {
		case errors.Is(err, ErrWouldBlock):
			c.unclaim(r)
			c.sendable = false
			return nil
		case errors.Is(err, ErrDeviceRemoved):
			return err // r is still in its list and ends with the others
		}
		c.listOf(r).remove(r)
		c.end(r, Reply{Err: r.fail(err)})
	}
}

// fill builds the next messages to send and returns their number. An error is one
// of the request after these, of which no message can be built.
func (c *Client) fill() (n int, err error) {
	first := c.retries.head == nil
	r := c.retries.head
	if first {
		r = c.queue.head
	}
	for ; n < batchSize; n++ {
		if r == nil && !first {
			first, r = true, c.queue.head
		}
		if r == nil {
			return n, nil
		}
		if first && (c.held >= c.window.size || c.table.used >= maxInFlight) {
			c.limited = true
			return n, nil
		}
		c.claim(r)
		c.batch[n] = r
		if err := c.build(r, &c.out[n]); err != nil {
			if n == 0 {
				return 0, err
			}
			c.unclaim(r) // until those before it are sent
			return n, nil
		}
		r = r.flight.next
	}
	return n, nil
}

// claim begins the next attempt of a request.
func (c *Client) claim(r *Request) {
	if r.flight.attempt == 0 {
		c.table.add(r)
		c.held++
	}
	r.flight.attempt++
}

// unclaim takes claim back.
func (c *Client) unclaim(r *Request) {
	if r.flight.attempt--; r.flight.attempt == 0 {
		c.table.remove(r)
		c.held--
	}
}

// listOf returns the list that a claimed request waits in.
func (c *Client) listOf(r *Request) *list {
	if r.flight.attempt > 1 {
		return &c.retries
	}
	return &c.queue
}

// sent puts r, which just was, among those in flight.
func (c *Client) sent(r *Request, m *Message, now time.Duration) {
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
		c.trace(EventSent, r, &m.MAD, 0, nil)
	}
}

// build makes the message for the current attempt of r.
func (c *Client) build(r *Request, m *Message) error {
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
		return copyPayload(m.MAD[headerSize:], r.Payload)
	}
	m.Addr = Addr{LID: r.To.LID, SL: r.To.SL}
	smp := mad.SMPRequest{
		TID: tid, Method: r.method(), Attr: r.Attr, Modifier: r.Modifier, MKey: c.opts.MKey,
		Directed: class == mad.ClassSMPDirected,
		Route:    r.To.Route, DrSLID: ib.PermissiveLID, DrDLID: ib.PermissiveLID,
	}
	switch {
	case !smp.Directed:
	case r.To.LID == 0:
		m.Addr.LID = ib.PermissiveLID
	default:
		smp.DrSLID = c.attr.LID // where the reply's way by LID ends
	}
	m.MAD.PutSMP(smp)
	return copyPayload(m.MAD.Data(), r.Payload)
}

func copyPayload(room, payload []byte) error {
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
