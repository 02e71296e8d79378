package ibsim

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/ibkit/ibkit/internal/ibsimproto"
)

// controlTimeout bounds the time for a reply. The server does not reply to some invalid
// requests.
const controlTimeout = 2 * time.Second

// errRefused is the only error that the server returns.
var errRefused = errors.New("refused")

// A serverError reports a server that cannot be reached or does not reply.
type serverError struct{ err error }

func (e *serverError) Error() string { return e.err.Error() }
func (e *serverError) Unwrap() error { return e.err }

// Hint suggests a remedy.
func (e *serverError) Hint() string {
	return "start a server: ibkit sim serve demo & (or: ibsim -s NETFILE), with the same IBSIM_SOCKNAME (or IBSIM_SERVER_NAME and IBSIM_SERVER_PORT); without a server: omit --sim ibsim, or unset IBKIT_SIM"
}

// request sends a control request and returns its reply's data.
func (p *Port) request(kind ibsimproto.Kind, data [ibsimproto.ControlDataSize]byte) (reply [ibsimproto.ControlDataSize]byte, err error) {
	out := ibsimproto.NewControl(kind, p.slot, data)
	if err := p.control.SetDeadline(time.Now().Add(p.answerIn)); err != nil {
		return reply, err
	}
	if _, err := p.control.Write(out[:]); err != nil {
		return reply, &serverError{fmt.Errorf("no server responds: %w", plainError(err))}
	}
	var in [ibsimproto.ControlSize + 1]byte
	n, err := p.control.Read(in[:])
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return reply, &serverError{fmt.Errorf("no reply within %v", p.answerIn)}
	case err != nil:
		return reply, &serverError{fmt.Errorf("no server responds: %w", plainError(err))}
	}
	answer, ok := ibsimproto.ParseControl(in[:n])
	switch {
	case !ok:
		return reply, fmt.Errorf("invalid reply of %d bytes", n)
	case answer.Kind() == ibsimproto.Error:
		return reply, errRefused
	}
	copy(reply[:], answer.Data())
	return reply, nil
}

// plainError removes the addresses from a network error: abstract socket addresses
// contain NUL bytes.
func plainError(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
