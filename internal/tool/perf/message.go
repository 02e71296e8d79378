package perf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/jsonframe"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
)

// A message is a message between client and server: a frame of package
// jsonframe with one member. The client begins:
//
//	hello      hello             once, and after a failed test
//	prepare    prepared          the test; the server's queue pairs
//	connect    started           the client's queue pairs; the server is ready
//	finish     result            number of messages sent; the server's figures
//
// Either side may send a failure instead of any message. A failure of the server ends
// the test. The next test may begin after both sides have sent hello again. From
// prepared to the end of the test each side sends alive at intervals, because data can
// move without any activity of the processes.
type message struct {
	Hello    *host.Identity `json:"hello,omitempty"`
	Prepare  *request       `json:"prepare,omitempty"`
	Prepared *prepared      `json:"prepared,omitempty"`
	Connect  *connect       `json:"connect,omitempty"`
	Started  *struct{}      `json:"started,omitempty"`
	Finish   *finish        `json:"finish,omitempty"`
	Result   *Side          `json:"result,omitempty"`
	Alive    *struct{}      `json:"alive,omitempty"`
	Failure  string         `json:"failure,omitempty"`
}

// request is the client's request for a test.
type request struct {
	Test Test       `json:"test"`
	GIDs []port.GID `json:"gids"` // of the client, for the server to choose from
	LID  ib.LID     `json:"lid"`  // of an InfiniBand port

	// GIDs of the port with the LID, for a server with a port that needs GIDs.
	InfiniBandGIDs []port.GID `json:"infiniband_gids"`

	CPUs []int `json:"cpus"` // of the client's loops; empty: the processors that the server leaves

	ReduceDepth bool `json:"reduce_depth"` // see Options
}

// prepared describes the server's side of a test.
type prepared struct {
	Port            host.PortInfo      `json:"port"`
	ClientGID       port.GID           `json:"client_gid"`
	MaxDestRdAtomic uint8              `json:"reads_in"` // reads and atomics that the server answers at a time
	QueuePairs      []endpoint.Address `json:"queue_pairs"`
	CPUs            []int              `json:"cpus"` // of the server's loops
	Yield           bool               `json:"yield"`
	AliveEvery      time.Duration      `json:"alive_every_ns"` // maximum interval of the client's alive messages
	Manager         *managed           `json:"manager"`        // for a test with queue pairs that the connection manager connects
	Imm             bool               `json:"imm,omitzero"`   // the server knows immediate data
}

// connect describes the client's side of a test.
type connect struct {
	GID             port.GID           `json:"gid"`
	LID             ib.LID             `json:"lid"`
	MTU             int                `json:"mtu"`
	MaxDestRdAtomic uint8              `json:"reads_in"`
	QueuePairs      []endpoint.Address `json:"queue_pairs"`
}

// finish holds the number of messages that the client sent, by queue pair.
type finish struct {
	Sent []uint64 `json:"sent"`
}

// maxMessage is the maximum length of a message in bytes, enough for maxQueuePairs.
const maxMessage = 1 << 20

// errMessage is wrapped if the peer violates the protocol.
var errMessage = jsonframe.ErrInvalid

// A ForeignPeerError is the error of a peer that speaks the protocol of another
// program.
type ForeignPeerError struct {
	Program Program // "" if it is unknown
	err     error
}

func (e *ForeignPeerError) Error() string {
	if e.Program == "" {
		return e.err.Error()
	}
	return fmt.Sprintf("%v, like a message from %s", e.err, e.Program)
}

// Unwrap returns the error of the message.
func (e *ForeignPeerError) Unwrap() error { return e.err }

// write sends a message with a single call.
func (m message) write(w io.Writer) error { return jsonframe.Write(w, m, maxMessage) }

// readMessage reads the next message.
func readMessage(r io.Reader) (message, error) {
	var m message
	err := jsonframe.Read(r, &m, maxMessage)
	if length, ok := errors.AsType[*jsonframe.LengthError](err); ok {
		err = &ForeignPeerError{programOf(length.Head), err}
	}
	if err != nil {
		return message{}, err
	}
	if m.Hello != nil {
		sanitizeIdentity(m.Hello)
	}
	if m.Prepared != nil {
		sanitizePort(&m.Prepared.Port)
	}
	if m.Result != nil {
		m.Result.sanitize()
	}
	return m, nil
}

// programOf guesses the program that sent the first bytes of a connection.
func programOf(head [4]byte) Program {
	const hex = "0123456789abcdef"
	switch {
	case head[0] >= '0' && head[0] <= '9' && head[1] == '.': // a version, such as 6.06
		return Perftest
	case len(bytes.Trim(head[:], hex)) == 0: // a LID
		return Pingpong
	}
	return ""
}

// sanitizeIdentity makes the peer's texts safe for a terminal.
func sanitizeIdentity(id *host.Identity) {
	for _, text := range []*string{&id.Program, &id.Host, &id.Kernel, &id.BootID} {
		*text = jsonframe.Printable(*text)
	}
}

// sanitizePort makes the peer's texts safe for a terminal.
func sanitizePort(e *host.PortInfo) {
	for _, text := range []*string{&e.Device, &e.Driver, &e.Link, &e.GIDType, &e.Why, &e.Memory} {
		*text = jsonframe.Printable(*text)
	}
	e.GID = e.GID.WithZone("") // a zone may be any text
}

// sanitize makes the names of the peer's counters safe for a terminal.
func (s *Side) sanitize() {
	safe := make(host.Counters, len(s.Counters))
	for name, v := range s.Counters {
		safe[jsonframe.Printable(name)] = v
	}
	s.Counters = safe
}
