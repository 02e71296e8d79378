// Package inflight tracks sent requests and recognises replies by transaction ID: awaited
// replies, late replies after a request was given up, and duplicates.
package inflight

import "time"

// A State is a sent request's state.
type State uint8

// The request states.
const (
	unused   State = iota
	Waiting        // no reply yet
	Expired        // given up, without a reply so far
	Answered       // by a reply, even if that came late
)

// An Entry is a sent request. After the request ends, the tracker keeps the entry until it
// needs the room.
type Entry[T any] struct {
	TID   uint32        // transaction ID (lower half; the transport sets the upper half)
	State State         // changed by the tracker only
	Slow  bool          // does not count as in flight; set by [Tracker.Release]
	Sent  time.Duration // since the caller's epoch
	Data  T
}

const (
	// minPlaces and maxPlaces bound the entry count that a tracker keeps. It keeps
	// more than maxPlaces only if that many requests wait.
	minPlaces = 4096
	maxPlaces = 1 << 16

	// keepExpired is how long a tracker protects an entry without a reply from being
	// replaced, for a late reply.
	keepExpired = time.Minute
)

// A Tracker holds the requests that were sent last. Transaction IDs ascend, so that the
// oldest request is found by counting. The lower ID bits are the entry's place.
//
// An [Entry] pointer is valid until the next call to Add.
type Tracker[T any] struct {
	places       []Entry[T] // the length is a power of 2
	next         uint32     // next request ID
	oldest       uint32     // no request before it waits
	oldestOnTime uint32     // no request before it is in flight
	outstanding  int
	inFlight     int
	expired      int
}

// New returns a tracker with the given first transaction ID.
func New[T any](first uint32) *Tracker[T] {
	return &Tracker[T]{places: make([]Entry[T], minPlaces), next: first, oldest: first, oldestOnTime: first}
}

// Outstanding returns the count of requests that wait for a reply.
func (t *Tracker[T]) Outstanding() int { return t.outstanding }

// InFlight returns the count of outstanding requests that are not slow.
func (t *Tracker[T]) InFlight() int { return t.inFlight }

// Add returns the entry for a request that is sent now. It waits for a reply.
func (t *Tracker[T]) Add(now time.Duration) *Entry[T] {
	if size := len(t.places); 2*(t.outstanding+1) > size || size < maxPlaces && 2*(t.outstanding+t.expired+1) > size {
		t.grow()
	}
	protect := 2*(t.outstanding+t.expired) < len(t.places)
	for t.next == 0 || t.occupied(now, protect) { // some programs treat ID 0 as unset
		t.next++
	}
	e := t.at(t.next)
	if e.State == Expired {
		t.expired--
	}
	*e = Entry[T]{TID: t.next, State: Waiting, Sent: now}
	t.next++
	t.outstanding++
	t.inFlight++
	return e
}

// occupied reports whether the next ID has no place, because a waiting request, or a
// recently expired and protected request, holds it.
func (t *Tracker[T]) occupied(now time.Duration, protect bool) bool {
	e := t.at(t.next)
	return e.State == Waiting || protect && e.State == Expired && now-e.Sent < keepExpired
}

// Cancel removes the entry for a request that was not sent after all.
func (t *Tracker[T]) Cancel(e *Entry[T]) { t.end(e, unused) }

// Expire gives a request up.
func (t *Tracker[T]) Expire(e *Entry[T]) {
	t.end(e, Expired)
	t.expired++
}

// Answer records a reply and returns the state before it: Waiting for the first reply,
// Expired for a late reply, Answered for a duplicate.
func (t *Tracker[T]) Answer(e *Entry[T]) State {
	before := e.State
	switch before {
	case Waiting:
		t.end(e, Answered)
	case Expired:
		t.expired--
		e.State = Answered
	}
	return before
}

func (t *Tracker[T]) end(e *Entry[T], s State) {
	e.State = s
	t.outstanding--
	if !e.Slow {
		t.inFlight--
	}
}

// Release stops counting a waiting request as in flight.
func (t *Tracker[T]) Release(e *Entry[T]) {
	if !e.Slow {
		e.Slow = true
		t.inFlight--
	}
}

// Find returns the entry for a transaction ID, or nil if the tracker does not know it,
// or not any more.
func (t *Tracker[T]) Find(tid uint32) *Entry[T] {
	if e := t.at(tid); e.State != unused && e.TID == tid {
		return e
	}
	return nil
}

// Oldest returns the outstanding request that was sent first, or nil.
func (t *Tracker[T]) Oldest() *Entry[T] {
	for ; t.oldest != t.next; t.oldest++ {
		if e := t.Find(t.oldest); e != nil && e.State == Waiting {
			return e
		}
	}
	return nil
}

// OldestOnTime returns the request in flight that was sent first, or nil.
func (t *Tracker[T]) OldestOnTime() *Entry[T] {
	for ; t.oldestOnTime != t.next; t.oldestOnTime++ {
		if e := t.Find(t.oldestOnTime); e != nil && e.State == Waiting && !e.Slow {
			return e
		}
	}
	return nil
}

func (t *Tracker[T]) at(tid uint32) *Entry[T] { return &t.places[int(tid)&(len(t.places)-1)] }

// grow doubles the place count. Entries in different places stay in different places.
func (t *Tracker[T]) grow() {
	old := t.places
	t.places = make([]Entry[T], 2*len(old))
	for i := range old {
		if e := &old[i]; e.State != unused {
			*t.at(e.TID) = *e
		}
	}
}
