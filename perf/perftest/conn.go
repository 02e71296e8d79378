package perftest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/perf/internal/peererr"
)

// A conn is a connection to a program.
type conn struct {
	tcp     net.Conn
	client  bool
	timeout time.Duration // of the peer's messages, 0: none
	begun   time.Time
	peer    peer

	aborted atomic.Bool
}

func newConn(tcp net.Conn, client bool, timeout time.Duration) *conn {
	return &conn{tcp: tcp, client: client, timeout: timeout, begun: time.Now()}
}

// abort makes all current and future exchanges time out.
func (c *conn) abort() error {
	c.aborted.Store(true)
	return c.tcp.SetDeadline(time.Unix(1, 0))
}

// limit sets the time that the peer has from now on, 0: unlimited.
func (c *conn) limit(within time.Duration) error {
	var end time.Time
	if within > 0 {
		end = time.Now().Add(within)
	}
	err := c.tcp.SetDeadline(end)
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
		if _, err := c.tcp.Write(out); err != nil {
			return c.wrap(subject, err)
		}
	}
	for got := 0; got < len(b); {
		n, err := c.tcp.Read(b[got:])
		got += n
		if err != nil {
			return c.wrap(fmt.Sprintf("%s (received %d of %d bytes)", subject, got, len(b)), err)
		}
	}
	if !c.client {
		if _, err := c.tcp.Write(out); err != nil {
			return c.wrap(subject, err)
		}
	}
	return nil
}

func (c *conn) wrap(subject string, err error) error {
	return fmt.Errorf("exchange %s with %v: %w", subject, c.tcp.RemoteAddr(), peererr.Classify(err))
}

// hangUp closes this direction and waits for the peer to close the other one.
func (c *conn) hangUp() error {
	const subject = "end of connection"
	if half, ok := c.tcp.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // fails if the peer was first
	}
	if err := c.limit(c.timeout); err != nil {
		return c.wrap(subject, err)
	}
	n, err := c.tcp.Read(make([]byte, 1))
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
	version   string // of the protocol, such as "6.06"
	pageSize  uint32 // bytes
	cacheLine uint32 // bytes
	mtu       uint8  // enum ibv_mtu, 1 to 5; 0: none announced
}

// A Layout is the use of memory on which both sides agree.
type Layout struct {
	Page      uint32 // bytes that small messages cycle through
	CacheLine uint32 // bytes
	MTU       uint8  // enum ibv_mtu
}

// Limits of a layout, far above those of any host.
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
		return Layout{}, &ProtocolError{c.tcp.RemoteAddr(), fmt.Sprintf("version %.16q%s", text, likeness(version))}
	}
	c.peer.version = text
	if !(number >= oldest) {
		return Layout{}, &ProtocolError{c.tcp.RemoteAddr(), fmt.Sprintf("version %s: too old, want %.2f", text, oldest)}
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
		return Layout{}, &ProtocolError{c.tcp.RemoteAddr(), fmt.Sprintf("pages of %d bytes and cache lines of %d", page, line)}
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

// exchangeKeys exchanges the keys of a queue pair. Either both have a GID or neither
// has.
func (c *conn) exchangeKeys(local Key) (Key, error) {
	b := local.Append(nil)
	if err := c.exchange("keys", b); err != nil {
		return Key{}, err
	}
	return ParseKey(b, local.GID.IsValid())
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
	b := local.Append(nil)
	if err := c.lockstep("keys", b); err != nil {
		return err
	}
	_, err := ParseKey(b, local.GID.IsValid())
	return err
}
