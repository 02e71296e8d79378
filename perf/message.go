package perf

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ibkit/ibkit/perf/endpoint"
	"github.com/ibkit/ibkit/perf/port"
)

// A message is what client and server tell each other: its length in four bytes,
// big-endian, and an object of JSON with one member. The client begins:
//
//	hello      hello             once, and after a test that failed
//	prepare    prepared          what to test; where the server's queue pairs are
//	connect    started           where the client's are; the server is ready
//	finish     result            how much was sent; what became of it
//
// A failure takes the place of any message, of either side; the server's ends the
// test, and the next may begin once both have said hello. From prepared on until the
// end of the test each side says alive now and then, for data may move without
// either's doing.
type message struct {
	Hello    *Identity `json:"hello,omitempty"`
	Prepare  *request  `json:"prepare,omitempty"`
	Prepared *prepared `json:"prepared,omitempty"`
	Connect  *connect  `json:"connect,omitempty"`
	Started  *struct{} `json:"started,omitempty"`
	Finish   *finish   `json:"finish,omitempty"`
	Result   *Side     `json:"result,omitempty"`
	Alive    *struct{} `json:"alive,omitempty"`
	Failure  string    `json:"failure,omitempty"`
}

// request asks for a test.
type request struct {
	Test Test       `json:"test"`
	GIDs []port.GID `json:"gids"` // the client's, any of which will do
	LID  uint16     `json:"lid"`  // of an InfiniBand port, where there are no GIDs
	CPUs []int      `json:"cpus"` // that its loops are to run on; none: it takes what the server leaves
}

// prepared says where the server is.
type prepared struct {
	Port       Ends               `json:"port"`
	ClientGID  port.GID           `json:"client_gid"`
	ReadsIn    uint8              `json:"reads_in"` // reads and atomics that it answers at a time
	QueuePairs []endpoint.Address `json:"queue_pairs"`
	CPUs       []int              `json:"cpus"` // that its loops run on
	Yield      bool               `json:"yield"`
	AliveEvery time.Duration      `json:"alive_every_ns"` // how often the client is to say alive
}

// connect says where the client is.
type connect struct {
	GID        port.GID           `json:"gid"`
	LID        uint16             `json:"lid"`
	MTU        int                `json:"mtu"`
	ReadsIn    uint8              `json:"reads_in"`
	QueuePairs []endpoint.Address `json:"queue_pairs"`
}

// finish says how many messages the client sent, by queue pair.
type finish struct {
	Sent []uint64 `json:"sent"`
}

// maxMessage is the longest message, in bytes: enough for maxQueuePairs queue pairs.
const maxMessage = 1 << 20

var errMessage = errors.New("the other side sent what makes no sense")

// write sends a message in one piece.
func (m message) write(w io.Writer) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(body) > maxMessage {
		return fmt.Errorf("send message of %d bytes: it is too long", len(body))
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

// readMessage reads the next message.
func readMessage(r io.Reader) (message, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return message{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxMessage {
		return message{}, fmt.Errorf("%w: a message that begins with %q is %s", errMessage, head[:], whose(head))
	}
	// As much is read as comes, whatever the length says.
	body, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return message{}, err
	}
	if len(body) < int(n) {
		return message{}, io.ErrUnexpectedEOF
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return message{}, fmt.Errorf("%w: %s", errMessage, printable(err.Error())) // it may have what was sent in it
	}
	if m.Hello != nil {
		m.Hello.clean()
	}
	if m.Prepared != nil {
		m.Prepared.Port.clean()
	}
	if m.Result != nil {
		m.Result.clean()
	}
	return m, nil
}

// whose says of a message that is none of this program's whose it is.
func whose(head [4]byte) string {
	const hex = "0123456789abcdef"
	switch {
	case head[0] >= '0' && head[0] <= '9' && head[1] == '.': // a version, such as 6.06
		return "of one of perftest's programs, which want --peer perftest"
	case len(bytes.Trim(head[:], hex)) == 0: // a LID
		return "of one of libibverbs' pingpong programs, which want --peer pingpong"
	}
	return "none of ibkit perf's; does another program listen there, or talk to this one?"
}

// clean makes what the other side says of itself safe for a terminal.
func (id *Identity) clean() {
	for _, text := range []*string{&id.Program, &id.Host, &id.Kernel, &id.BootID} {
		*text = printable(*text)
	}
}

// clean makes what the other side says of its port safe for a terminal.
func (e *Ends) clean() {
	for _, text := range []*string{&e.Device, &e.Driver, &e.Link, &e.GIDType, &e.Why} {
		*text = printable(*text)
	}
	e.GID = e.GID.WithZone("") // which may be any text
}

// clean makes the names of what the other side's device counts safe for a terminal.
func (s *Side) clean() {
	safe := make(port.Counters, len(s.Counters))
	for name, v := range s.Counters {
		safe[printable(name)] = v
	}
	s.Counters = safe
}

// printable is a text of the other side's, safe for a terminal.
func printable(text string) string {
	const longest = 2000
	var b []rune
	for _, r := range text {
		if len(b) == longest {
			break
		}
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			r = ' '
		}
		b = append(b, r)
	}
	return string(b)
}
