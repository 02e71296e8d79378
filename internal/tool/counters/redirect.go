package counters

import (
	"context"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// maxRedirects bounds a single request's redirections.
const maxRedirects = 2

// A redirected request waits for a GID's LID, or a partition key's index.
type redirected struct {
	query *query
	info  mad.ClassPortInfo
}

// follow sends a request again to the address in a ClassPortInfo. Later requests to the
// same agent use that address from the beginning.
func (c *Collector) follow(q *query, i *mad.ClassPortInfo) {
	q.waits = true
	q.tries++
	to, complete := umad.RedirectAddr(i)
	if !complete {
		c.redirected = append(c.redirected, redirected{q, *i})
		return
	}
	c.resend(q, to)
}

// resend submits a request to a redirection's address.
func (c *Collector) resend(q *query, to *umad.Addr) {
	if q.port == nil || q.node.hasOneAgent() {
		q.node.redirect = to
	} else {
		q.port.redirect = to
	}
	q.req.To.Redirect = to
	c.client.Submit(&q.req)
}

// resolveRedirected completes redirected requests' addresses and submits these. It reports
// whether there were any. The client must not be running.
func (c *Collector) resolveRedirected(ctx context.Context) bool {
	waiting := c.redirected
	c.redirected = nil
	for i := range waiting {
		w := &waiting[i]
		to, err := c.client.Redirect(ctx, &w.info)
		if err == nil {
			c.resend(w.query, to)
			continue
		}
		q := w.query
		q.node.Failures = append(q.node.Failures, Failure{q.number, q.req.Attr, err})
		q.waits = false
		c.waiting--
		if q.port != nil {
			q.port.failed = true
			c.arrived(q)
		}
		c.pump()
	}
	return len(waiting) > 0
}
