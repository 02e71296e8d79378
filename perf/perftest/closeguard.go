package perftest

import (
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A closeGuard detects that the peer closes the connection during a measurement, when
// neither side sends messages.
type closeGuard struct {
	conn   *conn
	start  *time.Timer   // nil: the connection cannot be watched
	done   chan struct{} // closed when the guard has ended after its start
	closed atomic.Bool
}

// closeGrace is the time from the peer's close to the end of the measurement: its last
// messages may still be in flight.
const closeGrace = time.Second

// guardDelay is the time from the start of a measurement to that of its guard, whose
// threads would delay the first messages. Most tests of latency end earlier.
const guardDelay = 200 * time.Millisecond

// guard calls end after the peer has closed the connection. It begins after a delay. The
// caller must stop the guard before the next exchange. The guard does not consume data:
// a peer that finishes first sends its next message.
func (c *conn) guard(delay time.Duration, end func()) *closeGuard {
	g := &closeGuard{conn: c}
	file, ok := c.tcp.(syscall.Conn)
	if !ok || c.limit(0) != nil {
		return g
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return g
	}
	g.done = make(chan struct{})
	g.start = time.AfterFunc(delay, func() {
		defer close(g.done)
		// Stop and abort make Read return an error.
		_ = raw.Read(func(fd uintptr) bool {
			var b [1]byte
			n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
			if err == unix.EAGAIN || err == unix.EINTR {
				return false
			}
			g.closed.Store(n <= 0)
			return true
		})
		if g.closed.Load() {
			time.AfterFunc(closeGrace, end)
		}
	})
	return g
}

// stop ends the guard and reports whether the peer has closed the connection.
func (g *closeGuard) stop() bool {
	if g.start == nil || g.start.Stop() {
		return false
	}
	_ = g.conn.tcp.SetReadDeadline(time.Unix(1, 0))
	<-g.done
	return g.closed.Load()
}
