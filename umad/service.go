package umad

import (
	"errors"

	"github.com/ibkit/ibkit/mad"
)

// ErrTaken is wrapped by the error of a [Responder] if another program already
// receives the packets of the service.
var ErrTaken = errors.New("taken by another program")

// A Service specifies packets to be received besides the responses to own requests.
type Service struct {
	Class        mad.Class
	ClassVersion uint8
	OUI          uint32 // 24 bits; for the classes that have one, see [mad.Class.HasOUI]

	// RMPP makes a transport that does RMPP segment the responses with
	// [Message.Rest].
	RMPP bool

	// Methods are the methods to be received, without the response bit. At a
	// port, only one program can receive a method of a class and OUI.
	Methods []mad.Method
}

// A Responder is a Port that can receive packets that are not responses.
type Responder interface {
	Port

	// Listen makes Recv return the packets of a service. It must be called before
	// any packet of the class is sent, and at most once for a class. Packets of
	// the class are then sent on behalf of the service.
	//
	// Recv may also return packets of other services, so the caller checks them.
	// It answers a request by sending a response with the transaction ID of the
	// request, to the Addr of the request and without a Timeout.
	Listen(s Service) error
}
