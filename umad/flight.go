package umad

import (
	"time"

	"github.com/ibkit/ibkit/mad"
)

// maxOutstanding bounds the requests that wait for a reply, whatever the window.
const maxOutstanding = 1 << 15

// maxAttempts is the maximum attempt count for a request.
const maxAttempts = 15

// flight is the client's part of a submitted request.
type flight struct {
	state   state
	attempt uint8
	slow    bool   // gave its place in the window back
	overdue bool   // in Client.overdue
	id      uint64 // submission number
	tid     uint32 // current attempt's transaction ID

	directed bool      // sent along route, in place of the target's LID
	route    mad.Route // directed route to the LID, and the target's route after it
	unsent   error     // why there is no route: the request is not sent

	next, prev *Request // in the state's list
}

type state uint8

const (
	idle    state = iota
	queued        // waits to be sent for the first time, or again
	waiting       // was sent and waits for its reply
)

// An attempt is what the client keeps for each request that it sent. The request may be
// reused before a late reply to the attempt arrives, so the attempt has its own copy of
// what such a reply is compared with.
type attempt struct {
	request    *Request
	submission uint64 // submission number
	packets    int    // sent by the client so far, this packet included
	to         Target
	modifier   uint32
	attr       mad.AttrID
	class      mad.Class
	method     mad.Method
	answer     mad.Method
	number     uint8 // from 1
}

// pending reports whether the attempt's request has not ended.
func (a *attempt) pending() bool { return a.request.flight.id == a.submission }

// matches reports whether a packet has the request's class, attribute and modifier.
func (a *attempt) matches(m *mad.Packet) bool {
	return m.Class() == a.class && m.Attr() == a.attr && m.Modifier() == a.modifier
}

// answeredBy reports whether a packet with a method answers the request.
func (a *attempt) answeredBy(m mad.Method) bool {
	if a.answer != 0 {
		return m == a.answer
	}
	return m.IsResponse()
}

// event returns an attempt event. m is the packet that caused it, or nil.
func (a *attempt) event(kind EventKind, tid uint32, m *mad.Packet, rtt time.Duration, err error) Event {
	e := Event{
		Kind: kind, To: a.to, Class: a.class, Method: a.method, Attr: a.attr, Modifier: a.modifier,
		TID: uint64(tid), Attempt: int(a.number), RTT: rtt, Err: err,
	}
	if m != nil {
		e.Method, e.TID = m.Method(), m.TID()
	}
	return e
}

// list is a doubly linked list of requests through their own fields: a request is
// in a single list at a time, and is added without an allocation.
type list struct {
	head, tail *Request
	len        int
}

func (l *list) push(r *Request) {
	r.flight.prev, r.flight.next = l.tail, nil
	if l.tail == nil {
		l.head = r
	} else {
		l.tail.flight.next = r
	}
	l.tail = r
	l.len++
}

func (l *list) remove(r *Request) {
	f := &r.flight
	if f.prev == nil {
		l.head = f.next
	} else {
		f.prev.flight.next = f.next
	}
	if f.next == nil {
		l.tail = f.prev
	} else {
		f.next.flight.prev = f.prev
	}
	f.prev, f.next = nil, nil
	l.len--
}
