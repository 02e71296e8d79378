package umad

import "time"

// A transaction ID's lower half holds the request's sequence number and, in
// the lowest bits, the attempt. The upper half is not ours: the kernel puts the
// agent there, and ibsim the client's slot. A sequence number comes round only
// after 2^28 requests, so that no late reply meets a request that is not its
// own; and each attempt has an ID of its own, so that the kernel never sees the
// same one twice and a time-out it reports late ends no later attempt.
const (
	attemptBits = 4
	maxAttempts = 1<<attemptBits - 1
	maxInFlight = 1 << 15
)

// flight is what the client keeps of a request that it was given.
type flight struct {
	state   state
	attempt uint8
	slow    bool   // gave its place in the window back
	seq     uint32 // without the bits of the attempt
	number  int    // how many packets had been sent when this one was
	sent    time.Duration

	next, prev *Request // in the queue or among those in flight
}

type state uint8

const (
	idle   state = iota
	queued       // waits for its first attempt
	flying       // was sent and waits for its reply
)

func (r *Request) tid() uint32 { return r.flight.seq<<attemptBits | uint32(r.flight.attempt) }

// list is a doubly linked list of requests through their own fields: a request
// is in one list at a time, and being in it costs no allocation.
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

// table finds the request in flight that a transaction ID belongs to. A
// sequence number's low bits are its slot; what is above them tells a reply to
// the request in the slot from a late one to a predecessor.
type table struct {
	slots []*Request // a power of two
	used  int
	last  uint32 // sequence number given out last
}

func newTable(seed uint32) table {
	return table{slots: make([]*Request, 128), last: seed}
}

func (t *table) slot(seq uint32) *(*Request) { return &t.slots[int(seq)&(len(t.slots)-1)] }

// add gives r a sequence number whose slot is free.
func (t *table) add(r *Request) {
	if 2*t.used >= len(t.slots) {
		t.grow()
	}
	for {
		t.last = (t.last + 1) & (1<<(32-attemptBits) - 1)
		// A transaction ID of 0 looks unset to some.
		if s := t.slot(t.last); t.last != 0 && *s == nil {
			*s = r
			break
		}
	}
	r.flight.seq = t.last
	t.used++
}

// grow doubles the table. Two that shared no slot before share none after.
func (t *table) grow() {
	old := t.slots
	t.slots = make([]*Request, 2*len(old))
	for _, r := range old {
		if r != nil {
			*t.slot(r.flight.seq) = r
		}
	}
}

func (t *table) find(tid uint32) *Request {
	seq := tid >> attemptBits
	if r := *t.slot(seq); r != nil && r.flight.seq == seq {
		return r
	}
	return nil
}

func (t *table) remove(r *Request) {
	*t.slot(r.flight.seq) = nil
	t.used--
}
