package umad

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// ErrTimeout is wrapped by the error for a request without a reply to any attempt.
var ErrTimeout = errors.New("no reply in time")

// A Target is a request's destination. Requests to the zero value fail; the local port is
// Target{Route: mad.Local}.
type Target struct {
	// LID is the destination or, with a Route, the node at which the directed
	// route starts; 0: the directed route starts at the local port. Only subnet
	// management packets can have a Route.
	LID   ib.LID
	Route mad.Route
	SL    uint8 // service level; subnet management packets need none

	// Redirect is the address to which an agent redirects the requests in its class
	// (InfiniBand Architecture, Volume 1, 13.5.2); nil: queue pair 1 of LID. Subnet
	// management packets are not redirected.
	Redirect *Addr
}

// IsDirected reports whether subnet management packets to the target have a directed route:
// the local port has a directed route without hops.
func (t Target) IsDirected() bool { return t.Route.Hops() > 0 || t.LID == 0 && !t.Route.IsNone() }

// Through returns the target at the other end of a port's link, for a port of t. If t is
// a LID, the directed route begins there.
func (t Target) Through(port uint8) Target {
	if t.LID != 0 && t.Route.IsNone() {
		t.Route = mad.Local
	}
	t.Route = t.Route.Append(port)
	return t
}

// RouteAfter returns the directed route to the target from the local port, given the
// directed route to its LID.
func (t Target) RouteAfter(toLID mad.Route) mad.Route {
	if t.Route.IsNone() {
		return toLID
	}
	return toLID.Join(t.Route)
}

// String returns the target in libibmad's portid2str format, for example "Lid 5" or "DR
// path slid 65535; dlid 65535; 0,1,3". It prints 65535 as the source LID in a route that
// starts at a LID, because a Target does not contain the local LID.
func (t Target) String() string {
	const directed = "DR path slid 65535; dlid 65535; "
	switch {
	case t.LID == 0:
		return directed + t.Route.String()
	case !t.IsDirected():
		return fmt.Sprintf("Lid %d", t.LID)
	}
	return fmt.Sprintf("Lid %d %s%s", t.LID, directed, t.Route)
}

// Place returns the target for display: "LID 5", "route 0,1,3", or "route 5,0,1" for a
// route that starts at a LID.
func (t Target) Place() string {
	switch {
	case t == Target{}:
		return "no destination"
	case t.LID == 0:
		return "route " + t.Route.String()
	case !t.IsDirected():
		return fmt.Sprintf("LID %d", t.LID)
	}
	return fmt.Sprintf("route %d,%s", t.LID, t.Route)
}

// A Request is a MAD to be sent and answered. It may be submitted again after its Done
// was called.
type Request struct {
	To       Target
	Class    mad.Class  // 0: subnet management, by directed route or LID according to To
	Method   mad.Method // 0: Get
	Attr     mad.AttrID
	Modifier uint32

	// Value, if set, is the attribute: Attr is not used, and Class only if it is not
	// 0. It is sent, except by a Get in subnet management or congestion control, and the
	// reply is decoded into it before Done.
	Value mad.Attribute

	// Data is sent in place of Value: at most the bytes of [mad.Class.DataRange].
	Data []byte

	Key  mad.Key           // SM_Key, CC_Key or [mad.ClassMlnx] key; an M_Key in place of the client's
	Mask mad.ComponentMask // valid fields in Value, in subnet administration
	OUI  uint32            // for a class with an OUI; 0: Value's OUI

	// Expect is the port that a Set is meant for. Each Set must have it, except a Set to
	// subnet administration.
	Expect *Identity

	// Answer, if set, is the answer's method. The answer then is a packet without the
	// response bit. The port must be a [Responder] that listens for it, and only the
	// client keeps time.
	Answer mad.Method

	// Done, if set, is called by [Client.Run] once for each submission. It may submit
	// other requests, and change and submit this request.
	Done func(*Request, *Reply)

	flight flight
}

// A Reply is a request's result.
type Reply struct {
	// Err is nil, or an [*Error].
	Err error

	// MAD is the received packet, also if Err is a [mad.StatusError]; nil: no
	// packet was received. It is valid until Done returns.
	MAD *mad.Packet

	// Rest has the data from the segments after MAD, if the transport reassembles them
	// (see [PortAttr]). It is valid until Done returns.
	Rest []byte

	RTT time.Duration // from the last attempt to its reply; 0: unknown
}

// Long returns the reply in a class with RMPP as a whole. It returns false if MAD is the
// first of several segments, which [Client.CallLong] requests. MAD must not be nil.
func (r Reply) Long() (*LongReply, bool) {
	h := r.MAD.RMPP()
	segmented := h.Flags.Has(mad.RMPPActive) && h.Type == mad.RMPPData
	if segmented && !h.Flags.Has(mad.RMPPLast) && r.Rest == nil {
		return nil, false
	}
	return whole(r.MAD, slices.Concat(r.MAD.Data(), r.Rest), segmented), true
}

// Data returns the attribute data, nil without a packet.
func (r Reply) Data() []byte {
	if r.MAD == nil {
		return nil
	}
	return r.MAD.Data()
}

// An Error is the reason why a request ended without the requested attribute.
type Error struct {
	To       Target
	Class    mad.Class
	Method   mad.Method
	Attr     mad.AttrID
	Modifier uint32
	Attempts int // how many times the request was sent

	// Err wraps [ErrTimeout] if no attempt was answered, a [mad.StatusError] if
	// the reply has a status, [ErrDeviceRemoved] if the port broke, or the context's
	// error. Otherwise it is the [Port.Send] error.
	Err error
}

func (e *Error) Error() string {
	// Attribute numbers mean something else in each class.
	attr := e.Class.AttrName(e.Attr)
	if !e.Class.IsSMP() {
		attr = fmt.Sprintf("%v %s", e.Class, attr)
	}
	if e.Modifier != 0 {
		attr += fmt.Sprintf(" (modifier 0x%x)", e.Modifier)
	}
	var attempts string
	if e.Attempts > 1 {
		attempts = fmt.Sprintf(", sent %d times", e.Attempts)
	}
	return fmt.Sprintf("%v %s of %s%s: %v", e.Method, attr, e.To.Place(), attempts, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// class returns the packet's class.
func (r *Request) class() mad.Class {
	class := r.Class
	if class == 0 && r.Value != nil {
		class = r.Value.Spec().Class
	}
	switch {
	case class != 0 && !class.IsSMP():
		return class
	case r.To.LID != 0 && !r.To.IsDirected() && !r.flight.directed:
		return mad.ClassSMPLIDRouted
	}
	return mad.ClassSMPDirected
}

// attr returns the attribute's number.
func (r *Request) attr() mad.AttrID {
	if r.Value != nil {
		return r.Value.Spec().ID
	}
	return r.Attr
}

func (r *Request) method() mad.Method {
	if r.Method == 0 {
		return mad.MethodGet
	}
	return r.Method
}

func (r *Request) fail(err error) error {
	return &Error{
		To: r.To, Class: r.class(), Method: r.method(), Attr: r.attr(), Modifier: r.Modifier,
		Attempts: int(r.flight.attempt), Err: err,
	}
}
