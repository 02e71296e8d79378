package umad

import (
	"errors"

	"github.com/ibkit/ibkit/mad"
)

// ErrTaken is wrapped by the error from a [Responder] if another program already receives
// the service's packets.
var ErrTaken = errors.New("taken by another program")

// A Service specifies packets to be received besides the responses to own requests.
type Service struct {
	Class        mad.Class
	ClassVersion uint8
	OUI          uint32 // 24 bits; for the classes with an OUI, see [mad.Class.HasOUI]

	// RMPP makes a transport that does RMPP segment the responses with
	// [Message.Rest].
	RMPP bool

	// Methods are the methods to be received, without the response bit. At a
	// port, only a single program can receive a method for a class and OUI.
	Methods []mad.Method
}

// A Responder is a Port that can receive packets that are not responses.
type Responder interface {
	Port

	// Listen makes Recv return a service's packets. It must be called before any packet
	// in the class is sent, and at most once for a class. Packets in the class are then
	// sent on behalf of the service.
	//
	// Recv may also return other services' packets, so the caller checks them. It answers
	// a request by sending a response with the request's transaction ID, to the request's
	// Addr and without a Timeout.
	Listen(s Service) error
}
