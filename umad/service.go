package umad

import (
	"errors"

	"github.com/ibkit/ibkit/mad"
)

// ErrTaken is wrapped by the error of a [Responder] where another program
// already receives what was asked for.
var ErrTaken = errors.New("taken by another program")

// A Service is what a program wants to receive besides the responses to its own
// requests.
type Service struct {
	Class        mad.Class
	ClassVersion uint8
	OUI          uint32 // 24 bits; of the classes that have one, see [mad.Class.HasOUI]

	// Methods are those without the response bit that are to be received. A
	// class, and an OUI in it, has each of them once at a port.
	Methods []mad.Method
}

// A Responder is a Port that can receive what nobody at this host asked for.
type Responder interface {
	Port

	// Listen has Recv return what comes in for a service. It has to be called
	// before anything of the class is sent, and once for a class. What is sent
	// of the class from then on is sent in the service's name.
	//
	// What Recv returns may still be of another service: check it. To answer,
	// send a response with the transaction ID of the request to the Addr that
	// Recv returned, and no Timeout.
	Listen(s Service) error
}
