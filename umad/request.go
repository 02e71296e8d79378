package umad

import (
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// ErrTimeout is wrapped by the error of a request that no attempt got a reply
// for.
var ErrTimeout = errors.New("no reply in time")

// A Target is where a request goes. The zero value is the local port.
type Target struct {
	// LID alone addresses by LID. With a Route, which only subnet management
	// packets can have, the packet is routed by LID up to the node that has
	// it and takes the directed route from there. 0: the directed route
	// begins at the local port.
	LID   ib.LID
	Route mad.Route
	SL    uint8 // service level; subnet management packets need none
}

// String writes the target as libibmad's portid2str does, for example "Lid 5"
// or "DR path slid 65535; dlid 65535; 0,1,3". The source LID of a route that
// begins at a LID is the local port's, which a Target does not know.
func (t Target) String() string {
	const directed = "DR path slid 65535; dlid 65535; "
	switch {
	case t.LID == 0:
		return directed + t.Route.String()
	case t.Route == "":
		return fmt.Sprintf("Lid %d", t.LID)
	}
	return fmt.Sprintf("Lid %d %s%s", t.LID, directed, t.Route)
}

// A Request is one MAD to be sent and answered. It may be submitted again once
// its Done was called.
type Request struct {
	To       Target
	Class    mad.Class  // 0: subnet management, directed or routed by LID as To says
	Method   mad.Method // 0: Get
	Attr     mad.AttrID
	Modifier uint32

	// Payload is, for subnet management, the attribute's data (at most
	// [mad.DataSize] bytes), for other classes all that follows the common
	// header. What it leaves out is sent as 0.
	Payload []byte

	// Answer, where set, is the method of what answers, which is no response but
	// a packet of its own: the port has to be a [Responder] that listens for it.
	// Nobody but the client keeps time then.
	Answer mad.Method

	// Done is called once for each time that the request was submitted, by
	// [Client.Run]. It may submit more, and change and submit this one.
	Done func(*Request, *Reply)

	flight flight
}

// A Reply is how a request ended.
type Reply struct {
	// Err is nil, or an [*Error].
	Err error

	// MAD is what came back, also where Err is a [mad.StatusError]; nil where
	// nothing did. What Done is given is valid until it returns.
	MAD *mad.Packet

	RTT time.Duration // from the last attempt to its reply; 0 where that cannot be told
}

// Data returns the attribute data that came back in a subnet management packet.
// There has to be a MAD.
func (r Reply) Data() []byte { return r.MAD.Data() }

// An Error says why a request ended without the attribute that it asked for.
type Error struct {
	To       Target
	Class    mad.Class
	Method   mad.Method
	Attr     mad.AttrID
	Modifier uint32
	Attempts int // how often the request was sent

	// Err wraps [ErrTimeout] where no attempt was answered, a
	// [mad.StatusError] where the answer was no, [ErrDeviceRemoved] where the port
	// broke, the context's error where the run was ended, or is what
	// [Port.Send] returned.
	Err error
}

func (e *Error) Error() string {
	// Numbers of attributes mean something else in each class.
	attr := e.Class.AttrName(e.Attr)
	if !e.Class.IsSMP() {
		attr = fmt.Sprintf("%v %s", e.Class, attr)
	}
	var attempts string
	if e.Attempts > 1 {
		attempts = fmt.Sprintf(", sent %d times", e.Attempts)
	}
	return fmt.Sprintf("%v %s (modifier 0x%x) of %v%s: %v", e.Method, attr, e.Modifier, e.To, attempts, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// class returns the class that r is sent in.
func (r *Request) class() mad.Class {
	switch {
	case r.Class != 0 && !r.Class.IsSMP():
		return r.Class
	case r.To.LID != 0 && r.To.Route == "":
		return mad.ClassSMPLIDRouted
	}
	return mad.ClassSMPDirected
}

func (r *Request) method() mad.Method {
	if r.Method == 0 {
		return mad.MethodGet
	}
	return r.Method
}

func (r *Request) fail(err error) error {
	return &Error{
		To: r.To, Class: r.class(), Method: r.method(), Attr: r.Attr, Modifier: r.Modifier,
		Attempts: int(r.flight.attempt), Err: err,
	}
}
