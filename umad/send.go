package umad

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/inflight"
	"github.com/ibkit/ibkit/mad"
)

// ErrNoDestination is wrapped by the error of a request to no port, for example along a route
// that was not found: such a request must never reach the local port.
var ErrNoDestination = errors.New("the request has no destination")

// send sends as many requests as the port accepts and the window permits. It
// returns an error if the port is broken.
//
// Retries do not wait for room in the window: each retry replaces an attempt that ended,
// and inherits that attempt's place, or the lack of a place. So they are as far apart as
// the first attempts were.
func (c *Client) send(now time.Duration) error {
	c.sendable, c.limited = true, false
	for {
		n, err := c.fill(now)
		if n == 0 && err == nil {
			return nil
		}
		sent := 0
		if n > 0 {
			if sent, err = c.port.SendBatch(c.out[:n]); err == nil && sent < n {
				err = ErrWouldBlock
			}
		}
		for i, tid := range c.batch[:sent] {
			e := c.sent.Find(tid)
			c.listOf(e.Data.request).remove(e.Data.request)
			c.launched(e, &c.out[i])
		}
		if err == nil {
			continue
		}
		for _, tid := range c.batch[min(sent+1, n):n] {
			c.unclaim(c.sent.Find(tid))
		}
		e := c.sent.Find(c.batch[sent])
		switch {
		case errors.Is(err, ErrWouldBlock):
			c.unclaim(e)
			c.sendable = false
			return nil
		case errors.Is(err, ErrDeviceRemoved), errors.Is(err, fs.ErrClosed):
			c.unclaim(e)
			return err
		}
		r := e.Data.request
		c.listOf(r).remove(r)
		c.sent.Cancel(e)
		c.end(r, Reply{Err: r.fail(err)})
	}
}

// fill builds the next messages to send and returns their count. An error belongs to the
// request after these messages: no message can be built for it.
func (c *Client) fill(now time.Duration) (n int, err error) {
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
		if first && (c.sent.InFlight() >= c.window.size || c.sent.Outstanding() >= maxOutstanding) {
			c.limited = true
			return n, nil
		}
		e := c.claim(r, now)
		c.batch[n] = e.TID
		if err := c.build(r, e.TID, &c.out[n]); err != nil {
			if n == 0 {
				return 0, err
			}
			c.unclaim(e) // until the requests before it are sent
			return n, nil
		}
		r = r.flight.next
	}
	return n, nil
}

// claim begins a request's next attempt, which stays in its list.
func (c *Client) claim(r *Request, now time.Duration) *inflight.Entry[attempt] {
	e := c.sent.Add(now)
	if r.flight.slow {
		c.sent.Release(e)
	}
	r.flight.attempt++
	r.flight.tid = e.TID
	e.Data = attempt{
		request: r, submission: r.flight.id, number: r.flight.attempt,
		to: r.To, class: r.class(), method: r.method(), attr: r.attr(), modifier: r.Modifier, answer: r.Answer,
	}
	return e
}

// unclaim reverses claim.
func (c *Client) unclaim(e *inflight.Entry[attempt]) {
	e.Data.request.flight.attempt--
	c.sent.Cancel(e)
}

// listOf returns the list that a claimed request waits in.
func (c *Client) listOf(r *Request) *list {
	if r.flight.attempt > 1 {
		return &c.retries
	}
	return &c.queue
}

// launched accounts for an attempt that was sent.
func (c *Client) launched(e *inflight.Entry[attempt], m *Message) {
	r := e.Data.request
	r.flight.state = waiting
	c.stats.Sent++
	if r.flight.attempt > 1 {
		c.stats.Retries++
	}
	e.Data.packets = c.stats.Sent
	if r.flight.slow {
		c.addOverdue(e)
	}
	c.stats.Window = max(c.stats.Window, c.sent.Outstanding())
	if c.opts.Trace != nil {
		c.opts.Trace(e.Data.event(EventSent, e.TID, &m.MAD, 0, nil))
	}
}

// build makes a message from r.
func (c *Client) build(r *Request, id uint32, m *Message) error {
	if r.flight.unsent != nil {
		return r.flight.unsent
	}
	m.Timeout = c.opts.Timeout
	if r.Answer != 0 {
		m.Timeout = 0
	}
	tid := uint64(id)
	class := r.class()
	if err := r.To.check(class); err != nil {
		return err
	}
	if !class.IsSMP() {
		m.Addr = c.addr(r.To)
		m.MAD.PutGMP(mad.Header{
			BaseVersion: 1, Class: class, ClassVersion: class.Version(),
			Method: r.method(), TID: tid, Attr: r.attr(), Modifier: r.Modifier,
		})
		return r.fill(&m.MAD)
	}
	m.Addr = Addr{LID: r.To.LID, SL: r.To.SL}
	smp := mad.SMPRequest{
		TID: tid, Method: r.method(), Attr: r.attr(), Modifier: r.Modifier, MKey: c.opts.MKey,
		Directed: class == mad.ClassSMPDirected,
		Route:    r.To.Route, DrSLID: ib.PermissiveLID, DrDLID: ib.PermissiveLID,
	}
	switch {
	case r.flight.directed:
		smp.Route, m.Addr.LID = r.flight.route, ib.PermissiveLID
	case !smp.Directed:
	case r.To.LID == 0:
		m.Addr.LID = ib.PermissiveLID
	default:
		smp.DrSLID = c.attr.LID // where the reply's way by LID ends
	}
	m.MAD.PutSMP(smp)
	return r.fill(&m.MAD)
}

// addr returns the address of a target for packets other than subnet management packets.
func (c *Client) addr(to Target) Addr {
	a := Addr{LID: to.LID, QPN: 1, QKey: QP1QKey, SL: to.SL}
	if to.Redirect != nil {
		a = *to.Redirect
	}
	a.PKeyIndex = cmp.Or(a.PKeyIndex, c.opts.PKeyIndex)
	return a
}

// check reports whether packets of a class can be sent to the target.
func (t Target) check(class mad.Class) error {
	switch {
	case t.Redirect != nil:
		return nil
	case t.LID == 0 && t.Route.IsNone():
		return fmt.Errorf("%w: neither a LID nor a route", ErrNoDestination)
	case t.IsDirected() && !class.IsSMP():
		return fmt.Errorf("%w: only subnet management packets have a directed route, a %v packet needs a LID", ErrNoDestination, class)
	}
	return nil
}

// fill writes the part of a packet after the common header.
func (r *Request) fill(m *mad.Packet) error {
	class, oui, room := m.Class(), r.OUI, m.Data()
	if oui == 0 && r.Value != nil {
		oui = r.Value.Spec().OUI
	}
	if class.HasOUI() {
		m.SetOUI(oui)
	}
	switch {
	case r.Data != nil:
		if copy(room, r.Data) < len(r.Data) {
			return fmt.Errorf("build request: got %d bytes of data, want at most %d", len(r.Data), len(room))
		}
	case r.Value != nil && (m.Method() != mad.MethodGet || !class.IsSMP() && class != mad.ClassCC):
		if err := mad.Encode(r.Value, room); err != nil {
			return fmt.Errorf("build request: %w", err)
		}
	}
	if class == mad.ClassSA {
		m.SetSA(mad.SAHeader{SMKey: r.Key, ComponentMask: r.Mask})
	} else if r.Key != 0 {
		m.SetKey(r.Key)
	}
	return nil
}
