package perf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/ibkit/ibkit/internal/jsonframe"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
)

// A controlConn is the TCP connection between client and server.
type controlConn struct {
	peer  string // "server" or "client"
	conn  net.Conn
	inbox chan message
	err   error // of the reader, once inbox is closed

	lock     sync.Mutex
	lifetime time.Duration // maximum silence of the peer, 0: unlimited
}

// responseTime is the time that the peer has to answer or to read a message.
const responseTime = 20 * time.Second

// A PeerError is a failure that the peer reported.
type PeerError struct {
	Peer string // "server" or "client"
	Text string
}

func (e *PeerError) Error() string { return e.Peer + ": " + e.Text }

// newControlConn starts to read the messages of the peer.
func newControlConn(peer string, conn net.Conn) *controlConn {
	if tcp, ok := conn.(*net.TCPConn); ok {
		// Detects the loss of the peer's host within some 20 seconds.
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 3})
	}
	c := &controlConn{peer: peer, conn: conn, inbox: make(chan message, 4)}
	go func() {
		defer close(c.inbox)
		for {
			m, err := readMessage(conn)
			if err != nil {
				c.err = err
				return
			}
			c.received()
			if m.Alive == nil {
				c.inbox <- m
			}
		}
	}()
	return c
}

// close closes the connection and waits for the reader.
func (c *controlConn) close() error {
	err := c.conn.Close()
	for range c.inbox { // until the reader ends
	}
	return err
}

// Interval of keepalive messages: default and minimum.
const (
	keepaliveInterval    = 5 * time.Second
	minKeepaliveInterval = 100 * time.Millisecond
)

// keepalive sends keepalive messages, and closes the inbox when the peer is silent for
// longer than lifetime, until stop is called.
func (c *controlConn) keepalive(interval, lifetime time.Duration) (stop func()) {
	c.expect(lifetime)
	over := make(chan struct{})
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if c.send(message{Alive: &struct{}{}}) != nil {
					return // the next send reports it
				}
			case <-over:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(over)
		c.expect(0)
	})
}

// expect sets the maximum silence of the peer from now on.
func (c *controlConn) expect(lifetime time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.lifetime = lifetime
	c.extend()
}

// received extends the read deadline after a message.
func (c *controlConn) received() {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.lifetime > 0 {
		c.extend()
	}
}

// extend sets the read deadline. The lock must be held.
func (c *controlConn) extend() {
	var end time.Time
	if c.lifetime > 0 {
		end = time.Now().Add(c.lifetime)
	}
	_ = c.conn.SetReadDeadline(end) // fails only on a closed connection, which the reader reports
}

func (c *controlConn) send(m message) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(responseTime)); err != nil {
		return c.wrap(err)
	}
	if err := m.write(c.conn); err != nil {
		return c.wrap(err)
	}
	return nil
}

// wrap adds the peer's address to an error of the connection.
func (c *controlConn) wrap(err error) error {
	return fmt.Errorf("exchange messages with %v: %w", c.conn.RemoteAddr(), peererr.Classify(err))
}

// errUnexpected returns the error for an unexpected message.
func (c *controlConn) errUnexpected() error { return c.wrap(errMessage) }

// next returns the next message. It waits up to a time, 0: without limit. A failure
// that the peer reports is a [PeerError].
func (c *controlConn) next(ctx context.Context, within time.Duration) (message, error) {
	var timeout <-chan time.Time
	if within > 0 {
		timer := time.NewTimer(within)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case m, ok := <-c.inbox:
		return c.take(m, ok)
	case <-timeout:
		return message{}, c.wrap(os.ErrDeadlineExceeded)
	case <-ctx.Done():
		return message{}, context.Cause(ctx)
	}
}

// take converts the result of a receive from inbox: a reported failure and a closed
// inbox become errors.
func (c *controlConn) take(m message, ok bool) (message, error) {
	if !ok {
		return message{}, c.wrap(c.err)
	}
	if m.Failure != "" {
		return message{}, &PeerError{c.peer, jsonframe.Printable(m.Failure)}
	}
	return m, nil
}

// isPeerError reports whether an error is a failure that the peer reported.
func isPeerError(err error) bool { return errors.As(err, new(*PeerError)) }
