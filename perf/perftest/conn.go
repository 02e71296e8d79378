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
	"syscall"
	"time"
)

// ErrSilent is wrapped where the other side neither answers nor hangs up: most
// often it waits for something else, as it was started with other flags. ErrHungUp
// is wrapped where it hangs up too early.
var (
	ErrSilent = errors.New("the other side says nothing")
	ErrHungUp = errors.New("the other side hung up")
)

// A Conn is a connection to a program.
type Conn struct {
	conn   net.Conn
	client bool
	wait   time.Duration
	begun  time.Time
	peer   Peer

	aborted atomic.Bool
}

// NewConn talks over a TCP connection as its client or server. Nothing may take
// the other side longer than wait, 0: for ever.
func NewConn(conn net.Conn, client bool, wait time.Duration) *Conn {
	return &Conn{conn: conn, client: client, wait: wait, begun: time.Now()}
}

// Close hangs up.
func (c *Conn) Close() error { return c.conn.Close() }

// Abort has whatever waits for the other side return, from now on, as if it had
// taken too long.
func (c *Conn) Abort() error {
	c.aborted.Store(true)
	return c.conn.SetDeadline(time.Unix(1, 0))
}

// limit sets how long the other side may take from now on, 0: for ever.
func (c *Conn) limit(within time.Duration) error {
	var end time.Time
	if within > 0 {
		end = time.Now().Add(within)
	}
	err := c.conn.SetDeadline(end)
	if c.aborted.Load() { // meanwhile
		err = c.Abort()
	}
	return err
}

// Peer is what the other side said of itself.
func (c *Conn) Peer() Peer { return c.peer }

// exchange sends a message, and takes one of the same length in b. What says what
// it is about.
func (c *Conn) exchange(what string, b []byte) error {
	if err := c.limit(c.wait); err != nil {
		return c.fail(what, err)
	}
	return c.inStep(what, b)
}

// inStep is exchange without another deadline.
func (c *Conn) inStep(what string, b []byte) error {
	out := append(make([]byte, 0, len(b)), b...)
	if c.client {
		if _, err := c.conn.Write(out); err != nil {
			return c.fail(what, err)
		}
	}
	for got := 0; got < len(b); {
		n, err := c.conn.Read(b[got:])
		got += n
		if err != nil {
			return c.fail(fmt.Sprintf("%s (%d of %d bytes came)", what, got, len(b)), err)
		}
	}
	if !c.client {
		if _, err := c.conn.Write(out); err != nil {
			return c.fail(what, err)
		}
	}
	return nil
}

func (c *Conn) fail(what string, err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = ErrSilent
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		err = fmt.Errorf("%w (%w)", ErrHungUp, err)
	}
	return fmt.Errorf("exchange %s with %v: %w", what, c.conn.RemoteAddr(), err)
}

// hangUp says nothing more, and waits for the other side to do the same.
func (c *Conn) hangUp() error {
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the other side has hung up where that fails
	}
	if err := c.limit(c.wait); err != nil {
		return c.fail("the end", err)
	}
	n, err := c.conn.Read(make([]byte, 1))
	switch {
	case n > 0:
		return c.fail("the end", errors.New("the other side goes on"))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return c.fail("the end", err)
	}
	return nil
}

// A Peer is what the other side says of itself before a test.
type Peer struct {
	Version   string // of the protocol, such as "6.06"
	PageSize  uint32 // bytes
	CacheLine uint32 // bytes
	MTU       uint8  // enum ibv_mtu, 1 to 5; 0: it said none
}

// Layout is how memory is used in a test, agreed on by both sides.
type Layout struct {
	Page      uint32 // small messages walk through one of these
	CacheLine uint32
	MTU       uint8 // enum ibv_mtu
}

// limits of what a layout may be, far above those of any host.
const (
	maxPage      = 1 << 24
	maxCacheLine = 1 << 12
)

// Begin tells what this side is, and returns what both agree on: the larger sizes
// and the smaller MTU.
func (c *Conn) Begin(local Layout) (Layout, error) {
	version := make([]byte, 16)
	copy(version, Version)
	if err := c.exchange("versions", version); err != nil {
		return Layout{}, err
	}
	text, _, _ := strings.Cut(string(version), "\x00")
	text = strings.TrimSpace(text)
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Layout{}, fmt.Errorf("%v sent %.16q for its version: it is no perftest program%s", c.conn.RemoteAddr(), text, guess(version))
	}
	c.peer.Version = text
	if !(number >= oldest) {
		return Layout{}, fmt.Errorf("%v speaks version %s of perftest's protocol, which is too old: it takes 5.70", c.conn.RemoteAddr(), text)
	}
	page, err := c.number("page sizes", local.Page)
	if err != nil {
		return Layout{}, err
	}
	line, err := c.number("sizes of cache lines", local.CacheLine)
	if err != nil {
		return Layout{}, err
	}
	c.peer.PageSize, c.peer.CacheLine = page, line
	if page > maxPage || line > maxCacheLine {
		return Layout{}, fmt.Errorf("%v says that its pages have %d bytes and its cache lines %d", c.conn.RemoteAddr(), page, line)
	}
	mtu := []byte{'0' + local.MTU, 0}
	if err := c.exchange("MTUs", mtu); err != nil {
		return Layout{}, err
	}
	agreed := Layout{Page: max(page, local.Page), CacheLine: max(line, local.CacheLine), MTU: local.MTU}
	if n := mtu[0] - '0'; n >= 1 && n <= 5 {
		c.peer.MTU = n
		agreed.MTU = min(agreed.MTU, n)
	}
	return agreed, nil
}

// guess says what a message is that is not the one awaited.
func guess(b []byte) string {
	if len(b) > 11 && b[4] == ':' && b[11] == ':' {
		return ", it is one of libibverbs' pingpong programs"
	}
	return ""
}

// number exchanges a number of 32 bits.
func (c *Conn) number(what string, v uint32) (uint32, error) {
	b := binary.BigEndian.AppendUint32(nil, v)
	if err := c.exchange(what, b); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b), nil
}

// ExchangeKeys tells where this side's queue pair is and returns where the other
// side's is. Both have a GID, or neither has.
func (c *Conn) ExchangeKeys(local Key) (Key, error) {
	b := local.Append(nil)
	if err := c.exchange("keys", b); err != nil {
		return Key{}, err
	}
	return ParseKey(b, local.GID.IsValid())
}

// Sync waits for the other side to come to the same point. One that measures
// meanwhile may take as long as it likes; one that does what this side does may
// take as long again as all has taken. The key is the first queue pair's.
func (c *Conn) Sync(local Key, measures bool) error {
	within := time.Duration(0)
	if c.wait > 0 && !measures {
		within = time.Since(c.begun) + c.wait
	}
	if err := c.limit(within); err != nil {
		return c.fail("keys", err)
	}
	b := local.Append(nil)
	if err := c.inStep("keys", b); err != nil {
		return err
	}
	_, err := ParseKey(b, local.GID.IsValid())
	return err
}
