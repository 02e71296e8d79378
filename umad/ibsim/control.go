package ibsim

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/ibkit/ibkit/internal/ibsimproto"
)

// controlTimeout is how long the server may take to answer. To some mistakes it
// does not answer at all.
const controlTimeout = 2 * time.Second

// errRefused is the server's only way to say no.
var errRefused = errors.New("refused")

// A serverError is a server that cannot be reached or does not answer.
type serverError struct{ err error }

func (e *serverError) Error() string { return e.err.Error() }
func (e *serverError) Unwrap() error { return e.err }

// Hint says what to do.
func (e *serverError) Hint() string {
	return "is ibsim running, with the same IBSIM_SOCKNAME (or IBSIM_SERVER_NAME and IBSIM_SERVER_PORT)? Start it by: ibsim -s NETFILE"
}

// ask sends a control request and returns the data of its reply.
func (p *Port) ask(kind ibsimproto.Kind, data [ibsimproto.ControlDataSize]byte) (reply [ibsimproto.ControlDataSize]byte, err error) {
	request := ibsimproto.NewControl(kind, p.slot, data)
	if err := p.control.SetDeadline(time.Now().Add(p.answerIn)); err != nil {
		return reply, err
	}
	if _, err := p.control.Write(request[:]); err != nil {
		return reply, &serverError{fmt.Errorf("no server answers: %w", plainError(err))}
	}
	var in [ibsimproto.ControlSize + 1]byte
	n, err := p.control.Read(in[:])
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return reply, &serverError{fmt.Errorf("no answer within %v", p.answerIn)}
	case err != nil:
		return reply, &serverError{fmt.Errorf("no server answers: %w", plainError(err))}
	}
	answer, ok := ibsimproto.ParseControl(in[:n])
	switch {
	case !ok:
		return reply, fmt.Errorf("answer of %d bytes is not one of ibsim", n)
	case answer.Kind() == ibsimproto.Error:
		return reply, errRefused
	}
	copy(reply[:], answer.Data())
	return reply, nil
}

// plainError takes the addresses off a network error: those of abstract sockets
// hold NUL bytes.
func plainError(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
