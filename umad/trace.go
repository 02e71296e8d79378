package umad

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// An EventKind is an event kind.
type EventKind uint8

// Event kinds.
const (
	EventSent      EventKind = iota // a request was sent
	EventReceived                   // it was answered; Err is set for a status other than 0
	EventTimedOut                   // an attempt ended without a reply
	EventLate                       // a reply came after its request had timed out
	EventDuplicate                  // a reply came after its request had been answered
	EventStray                      // a packet matches no request
)

var eventNames = [...]string{"sent", "received", "timed out", "late", "duplicate", "stray"}

// String returns the kind in words, for example "timed out".
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return fmt.Sprintf("event %d", uint8(k))
}

// An Event is passed to [ClientOptions.Trace].
type Event struct {
	Kind     EventKind
	To       Target // request target; the zero value for a stray
	Class    mad.Class
	Method   mad.Method
	Attr     mad.AttrID
	Modifier uint32
	TID      uint64
	Attempt  int           // counted from 1; 0 for a stray
	RTT      time.Duration // reply's round trip time
	Err      error         // reply's error or the timeout
}

// String returns the event as a single line.
func (e Event) String() string {
	s := fmt.Sprintf("%v: %v %v %v modifier 0x%x tid 0x%x", e.Kind, e.Class, e.Method, e.Class.AttrName(e.Attr), e.Modifier, e.TID)
	if e.Attempt > 0 {
		s += fmt.Sprintf(" attempt %d of %s", e.Attempt, e.To.Place())
	}
	if e.RTT > 0 {
		s += fmt.Sprintf(" after %v", e.RTT)
	}
	if e.Err != nil {
		s += fmt.Sprintf(": %v", e.Err)
	}
	return s
}
