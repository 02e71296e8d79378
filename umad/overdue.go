package umad

import (
	"math"
	"time"

	"github.com/ibkit/ibkit/internal/inflight"
	"github.com/ibkit/ibkit/mad"
)

// addOverdue adds a late attempt's request to the requests that are sent again early.
func (c *Client) addOverdue(e *inflight.Entry[attempt]) {
	r := e.Data.request
	if !r.isBrief() || int(e.Data.number) >= c.opts.Attempts {
		return
	}
	if at := c.retryAt(e); c.overdue.len == 0 || at < c.overdueAt {
		c.overdueAt = at
	}
	r.flight.overdue = true
	c.overdue.push(r)
}

// removeOverdue reverses addOverdue, if it was called for the current attempt.
func (c *Client) removeOverdue(r *Request) {
	if r.flight.overdue {
		r.flight.overdue = false
		c.overdue.remove(r)
	}
}

// retryAt returns when an attempt ends. It ends early if there were enough replies to compare
// with, or if it is for an agent in NVIDIA's class, which most nodes lack.
func (c *Client) retryAt(e *inflight.Entry[attempt]) time.Duration {
	switch {
	case c.window.rtt.isKnown():
		return e.Sent + c.window.rtt.retryAfter(e.Data.number)
	case e.Data.mayBeAbsent():
		return e.Sent + c.opts.Timeout>>max(absentShift-int(e.Data.number), 0)
	}
	return e.Sent + c.opts.Timeout + slack
}

// absentShift sets when attempts end early without other replies: the first attempt after
// an eighth of the timeout, the second attempt after a quarter.
const absentShift = 4

// mayBeAbsent reports whether nodes without an attempt's agent ignore it.
func (a *attempt) mayBeAbsent() bool { return a.class == mad.ClassMlnx }

// retryOverdue ends the attempts that waited much longer than others. If the port had
// messages, it waits until they are received: this process may not have run for a time.
func (c *Client) retryOverdue(now time.Duration) {
	if !c.drained || c.overdue.len == 0 || now < c.overdueAt {
		return
	}
	c.overdueAt = math.MaxInt64
	for r := c.overdue.head; r != nil; {
		e := c.sent.Find(r.flight.tid)
		r = r.flight.next
		if at := c.retryAt(e); at > now {
			c.overdueAt = min(c.overdueAt, at)
		} else {
			c.lost(e)
		}
	}
}

// isBrief reports whether attempts may end early: agents for subnet and performance
// management, and agents in NVIDIA's class, which are firmware as well, usually reply
// within a short time, and a Get has no effect.
func (r *Request) isBrief() bool {
	class := r.class()
	return r.method() == mad.MethodGet && (class.IsSMP() || class == mad.ClassPM || class == mad.ClassMlnx) && r.Answer == 0
}
