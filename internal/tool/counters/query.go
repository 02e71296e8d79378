package counters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// errOtherPort reports a response with another port's counters.
var errOtherPort = errors.New("the response has the counters of another port")

// A query is a request for a performance management attribute.
type query struct {
	req    umad.Request
	data   [2]byte // start of the attribute, with PortSelect
	node   *Node
	port   *Port // nil: the node
	number uint8 // PortSelect
	at     time.Time
	tries  int  // redirections
	waits  bool // the request is sent again later
	then   func(*Collector, *query, *umad.Reply)
}

// submit queries a port's attribute.
func (c *Collector) submit(to umad.Target, attr mad.AttrID, number uint8, n *Node, p *Port, then func(*Collector, *query, *umad.Reply)) {
	c.client.Submit(&c.prepare(to, attr, number, n, p, then).req)
}

// prepare returns a query for a port's attribute.
func (c *Collector) prepare(to umad.Target, attr mad.AttrID, number uint8, n *Node, p *Port, then func(*Collector, *query, *umad.Reply)) *query {
	var q *query
	if last := len(c.free) - 1; last >= 0 {
		q, c.free = c.free[last], c.free[:last]
	} else {
		q = &query{}
		q.req.Done = func(_ *umad.Request, r *umad.Reply) { c.done(q, r) }
	}
	q.req.To, q.req.Attr, q.req.Modifier = to, attr, 0
	q.req.Class, q.req.Method, q.req.Expect = mad.ClassPM, mad.MethodGet, nil
	q.data[1] = number
	q.req.Value, q.req.Data = nil, q.data[:]
	q.node, q.port, q.number, q.then, q.tries = n, p, number, then, 0
	c.waiting++
	return q
}

// done passes a reply to its query's function.
func (c *Collector) done(q *query, r *umad.Reply) {
	q.at, q.waits = time.Now(), false
	if ended(r.Err) {
		return // the run ended early and returns the reason
	}
	q.then(c, q, r)
	if !q.waits {
		c.waiting--
		c.free = append(c.free, q)
		c.pump()
	}
}

// A queue is a port list through their own fields.
type queue struct{ head, tail *Port }

func (q *queue) push(p *Port) {
	p.next = nil
	if q.tail == nil {
		q.head = p
	} else {
		q.tail.next = p
	}
	q.tail = p
}

func (q *queue) pop() *Port {
	p := q.head
	if q.head = p.next; q.head == nil {
		q.tail = nil
	}
	return p
}

// maxWaiting limits how many requests wait. It is well above any window; without it the
// requests for a large fabric take more memory than its counters.
const maxWaiting = 1024

// pump requests counters on more ports if few requests wait.
func (c *Collector) pump() {
	for c.waiting < maxWaiting && c.queue.head != nil {
		c.request(c.queue.pop())
	}
}

func ended(err error) bool {
	return errors.Is(err, umad.ErrDeviceRemoved) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// decode decodes the attribute in a reply, or adds a failure.
func decode[T any, A interface {
	*T
	mad.Attribute
}](c *Collector, q *query, r *umad.Reply) (*T, bool) {
	v := new(T)
	return v, c.decodeInto(q, r, A(v))
}

// decodeInto decodes the attribute in a reply. It returns false after a failure, and if
// the agent redirects the request to another address.
func (c *Collector) decodeInto(q *query, r *umad.Reply, a mad.Attribute) bool {
	err := r.Err
	if info := umad.Redirection(r); info != nil && q.tries < maxRedirects {
		c.follow(q, info)
		return false
	}
	if err == nil {
		err = r.MAD.Decode(a)
	}
	if err == nil && q.req.Attr != mad.AttrClassPortInfo {
		if got := r.MAD.Data()[1]; got != q.number {
			err = fmt.Errorf("%w: got port %d, want %d", errOtherPort, got, q.number)
		}
	}
	if err != nil {
		q.node.Failures = append(q.node.Failures, Failure{q.number, q.req.Attr, err})
		return false
	}
	return true
}

// slabs provide memory for many values with few allocations.
type slabs struct {
	samples []Sample
	ports   []Port
	basics  []mad.PortCounters
}

func (s *slabs) sample() *Sample          { return next(&s.samples) }
func (s *slabs) port() *Port              { return next(&s.ports) }
func (s *slabs) basic() *mad.PortCounters { return next(&s.basics) }

func next[T any](slab *[]T) *T {
	if len(*slab) == 0 {
		*slab = make([]T, 64)
	}
	v := &(*slab)[0]
	*slab = (*slab)[1:]
	return v
}
