package ibsim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// struct sim_ctl (ibsim, include/ibsim.h): magic, client, type, length, data.
// All numbers are in the host's order. A request and its reply have the same
// form and size.
const (
	ctlMagic    = 0xdeadbeef
	ctlDataSize = 64
	ctlHeader   = 16
	ctlSize     = ctlHeader + ctlDataSize

	nodeIDSize = 32
)

// The types of struct sim_ctl, enum SIM_CTL_TYPES.
const (
	ctlError       = 0
	ctlConnect     = 1
	ctlDisconnect  = 2
	ctlGetNodeInfo = 7
	ctlGetPortInfo = 8
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
func (p *Port) ask(kind uint32, data [ctlDataSize]byte) (reply [ctlDataSize]byte, err error) {
	var b [ctlSize]byte
	binary.NativeEndian.PutUint32(b[0:], ctlMagic)
	binary.NativeEndian.PutUint32(b[4:], p.slot)
	binary.NativeEndian.PutUint32(b[8:], kind)
	binary.NativeEndian.PutUint32(b[12:], ctlDataSize)
	copy(b[ctlHeader:], data[:])
	if err := p.control.SetDeadline(time.Now().Add(p.answerIn)); err != nil {
		return reply, err
	}
	if _, err := p.control.Write(b[:]); err != nil {
		return reply, &serverError{fmt.Errorf("no server answers: %w", plainError(err))}
	}
	var in [ctlSize + 1]byte
	n, err := p.control.Read(in[:])
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return reply, &serverError{fmt.Errorf("no answer within %v", p.answerIn)}
	case err != nil:
		return reply, &serverError{fmt.Errorf("no server answers: %w", plainError(err))}
	case n != ctlSize || binary.NativeEndian.Uint32(in[0:]) != ctlMagic:
		return reply, fmt.Errorf("answer of %d bytes is not one of ibsim", n)
	case binary.NativeEndian.Uint32(in[8:]) == ctlError:
		return reply, errRefused
	}
	copy(reply[:], in[ctlHeader:])
	return reply, nil
}

// encodeConnect writes struct sim_client_info: ID, queue pair, whether the
// client is a subnet manager, and the node to be.
func encodeConnect(id uint32, node string) (data [ctlDataSize]byte) {
	binary.NativeEndian.PutUint32(data[0:], id)
	copy(data[12:12+nodeIDSize-1], node)
	return data
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
