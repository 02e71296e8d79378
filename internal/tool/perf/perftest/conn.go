package perftest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/internal/cmconn"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
)

// A conn is a connection to a program.
type conn struct {
	link    net.Conn
	client  bool
	binary  bool          // the connection is the connection manager's: keys are binary, messages have bounds
	managed bool          // the connection manager connects the queue pairs
	timeout time.Duration // of the peer's messages, 0: none
	begun   time.Time
	peer    peer

	aborted atomic.Bool
}

func newConn(link net.Conn, client bool, timeout time.Duration) *conn {
	_, binary := link.(*cmconn.Conn)
	return &conn{link: link, client: client, binary: binary, timeout: timeout, begun: time.Now()}
}

// abort makes all current and future exchanges time out.
func (c *conn) abort() error {
	c.aborted.Store(true)
	return c.link.SetDeadline(time.Unix(1, 0))
}

// limit sets the time that the peer has from now on, 0: unlimited.
func (c *conn) limit(within time.Duration) error {
	var end time.Time
	if within > 0 {
		end = time.Now().Add(within)
	}
	err := c.link.SetDeadline(end)
	if c.aborted.Load() { // in the meantime
		err = c.abort()
	}
	return err
}

// exchange sends b and replaces it with the peer's message of the same length. The
// subject of the messages is for errors.
func (c *conn) exchange(subject string, b []byte) error {
	if err := c.limit(c.timeout); err != nil {
		return c.wrap(subject, err)
	}
	return c.lockstep(subject, b)
}

// lockstep is exchange with the current deadline.
func (c *conn) lockstep(subject string, b []byte) error {
	out := append(make([]byte, 0, len(b)), b...)
	if c.client {
		if _, err := c.link.Write(out); err != nil {
			return c.wrap(subject, err)
		}
	}
	for got := 0; got < len(b); {
		n, err := c.link.Read(b[got:])
		got += n
		if err == nil && c.binary && n < len(b) || errors.Is(err, io.ErrShortBuffer) {
			return &ProtocolError{c.link.RemoteAddr(), fmt.Sprintf("a message of another size than the %d bytes of %s", len(b), subject)}
		}
		if err != nil {
			return c.wrap(fmt.Sprintf("%s (received %d of %d bytes)", subject, got, len(b)), err)
		}
	}
	if !c.client {
		if _, err := c.link.Write(out); err != nil {
			return c.wrap(subject, err)
		}
	}
	return nil
}

func (c *conn) wrap(subject string, err error) error {
	return fmt.Errorf("exchange %s with %v: %w", subject, c.link.RemoteAddr(), peererr.Classify(err))
}

// hangUp closes this direction and waits for the peer to close the other.
func (c *conn) hangUp() error {
	const subject = "end of connection"
	if half, ok := c.link.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // fails if the peer was first
	}
	if err := c.limit(c.timeout); err != nil {
		return c.wrap(subject, err)
	}
	n, err := c.link.Read(make([]byte, 1))
	switch {
	case n > 0:
		return c.wrap(subject, errors.New("the peer sent more data"))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return c.wrap(subject, err)
	}
	return nil
}

// A peer holds the properties that the peer announces before a test.
type peer struct {
	version   string  // of the protocol, such as "6.06"
	number    float64 // the version
	pageSize  uint32  // bytes
	cacheLine uint32  // bytes
	mtu       uint8   // enum ibv_mtu, 1 to 5; 0: none announced
}

// marksTail reports whether the binary keys of the peer have the address of its markers
// for the validation of data, which version 6.29 has added.
func (p peer) marksTail() bool { return p.number >= 6.29 }

// unknown returns a remark on a version that is newer than the known versions, or "".
func (p peer) unknown() string {
	if !(p.number > newest) {
		return ""
	}
	return fmt.Sprintf("protocol version %.16q of the peer is not known, the newest known version is %.2f", p.version, newest)
}

// A Layout is the use of memory on which both sides agree.
type Layout struct {
	Page      uint32 // bytes that small messages cycle through
	CacheLine uint32 // bytes
	MTU       uint8  // enum ibv_mtu
}

// Limits of a layout, far above any host's.
const (
	maxPage      = 1 << 24
	maxCacheLine = 1 << 12
)

// begin announces this side and returns the common layout: the larger sizes and the
// smaller MTU.
func (c *conn) begin(local Layout) (Layout, error) {
	version := make([]byte, 16)
	copy(version, Version)
	if err := c.exchange("versions", version); err != nil {
		return Layout{}, err
	}
	text, _, _ := strings.Cut(string(version), "\x00")
	text = strings.TrimSpace(text)
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Layout{}, &ProtocolError{c.link.RemoteAddr(), fmt.Sprintf("version %.16q%s", text, likeness(version))}
	}
	c.peer.version, c.peer.number = text, number
	if !(number >= oldest) {
		return Layout{}, &ProtocolError{c.link.RemoteAddr(), fmt.Sprintf("version %s: too old, want %.2f", text, oldest)}
	}
	page, err := c.number("page sizes", local.Page)
	if err != nil {
		return Layout{}, err
	}
	line, err := c.number("sizes of cache lines", local.CacheLine)
	if err != nil {
		return Layout{}, err
	}
	c.peer.pageSize, c.peer.cacheLine = page, line
	if page > maxPage || line > maxCacheLine {
		return Layout{}, &ProtocolError{c.link.RemoteAddr(), fmt.Sprintf("pages of %d bytes and cache lines of %d", page, line)}
	}
	mtu := []byte{'0' + local.MTU, 0}
	if err := c.exchange("MTUs", mtu); err != nil {
		return Layout{}, err
	}
	agreed := Layout{Page: max(page, local.Page), CacheLine: max(line, local.CacheLine), MTU: local.MTU}
	if n := mtu[0] - '0'; n >= 1 && n <= 5 {
		c.peer.mtu = n
		agreed.MTU = min(agreed.MTU, n)
	}
	return agreed, nil
}

// A ProtocolError is returned if the peer does not speak the protocol of perftest.
type ProtocolError struct {
	Peer net.Addr
	Text string // the unexpected property
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("the peer %v is not a usable perftest program: it sent %s", e.Peer, e.Text)
}

// likeness names the program that a message seems to come from.
func likeness(b []byte) string {
	if len(b) > 11 && b[4] == ':' && b[11] == ':' {
		return ", like a pingpong program of libibverbs"
	}
	return ""
}

// number exchanges a number of 32 bits.
func (c *conn) number(subject string, v uint32) (uint32, error) {
	b := binary.BigEndian.AppendUint32(nil, v)
	if err := c.exchange(subject, b); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b), nil
}

// encodeKey encodes a key in the format of the connection.
func (c *conn) encodeKey(k Key) []byte {
	if c.binary {
		return k.appendBinary(nil, c.peer.marksTail())
	}
	return k.Append(nil)
}

// decodeKey decodes a key of the peer. Either both keys have a GID or neither has.
func (c *conn) decodeKey(b []byte, local Key) (Key, error) {
	if c.binary {
		return parseBinaryKey(b, c.peer.marksTail(), local.GID.IsValid())
	}
	return ParseKey(b, local.GID.IsValid())
}

// exchangeKeys exchanges the keys of a queue pair.
func (c *conn) exchangeKeys(local Key) (Key, error) {
	b := c.encodeKey(local)
	if err := c.exchange("keys", b); err != nil {
		return Key{}, err
	}
	return c.decodeKey(b, local)
}

// sync waits until the peer reaches the same step. A peer that measures meanwhile has
// unlimited time; any other has the time since the start of the connection again. The
// key is that of the first queue pair.
func (c *conn) sync(local Key, measures bool) error {
	within := time.Duration(0)
	if c.timeout > 0 && !measures {
		within = time.Since(c.begun) + c.timeout
	}
	if err := c.limit(within); err != nil {
		return c.wrap("keys", err)
	}
	b := c.encodeKey(local)
	if err := c.lockstep("keys", b); err != nil {
		return err
	}
	_, err := c.decodeKey(b, local)
	return err
}
