package perftest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
)

// A closeGuard detects that the peer closes the connection during a measurement, or that
// it has finished: until then, neither side sends messages.
type closeGuard struct {
	conn     *conn
	start    *time.Timer   // nil: the connection cannot be watched
	quit     chan struct{} // closed to end the guard
	done     chan struct{} // closed when the guard has ended after its start
	closed   atomic.Bool
	finished atomic.Bool
	end      *time.Timer // of the measurement; set before done is closed
}

// closeGrace is the time from the peer's close to the end of the measurement: its last
// messages may still be in flight.
const closeGrace = time.Second

// finishGrace is the time from the end of the peer's measurement to that of this side:
// lost packets may be sent again meanwhile. In a test by time, it is also that from the
// peer's close, which ends tests of ib_write_lat: the peer may have begun earlier.
const finishGrace = 10 * time.Second

// errFinished is the error of a peer with fewer messages, or with another direction.
var errFinished = errors.New("the peer has finished its test, and this side has not")

// guardDelay is the time from a measurement's start to its guard's start, because the
// guard's threads would delay the first messages. Most latency tests end earlier.
const guardDelay = 200 * time.Millisecond

// A guardMode has the properties of a test that a guard depends on.
type guardMode struct {
	timed   bool // both sides end by themselves
	passive bool // the peer is a client without a loop: it sends its next message at once
}

// guard calls end some time after the peer has closed the connection or finished. It
// begins after a delay. The caller must stop the guard before the next exchange. The guard
// does not consume data: a peer that finishes first sends its next message.
func (c *conn) guard(delay time.Duration, mode guardMode, end func()) *closeGuard {
	g := &closeGuard{conn: c, quit: make(chan struct{})}
	await := awaiter(c.link)
	if mode.passive {
		await = g.closeAwaiter()
	}
	if await == nil || c.limit(0) != nil {
		return g
	}
	grace := closeGrace
	if mode.timed {
		grace = finishGrace
	}
	g.done = make(chan struct{})
	g.start = time.AfterFunc(delay, func() {
		defer close(g.done)
		switch err := await(); {
		case err == nil:
			g.finished.Store(true)
			g.end = time.AfterFunc(finishGrace, end)
		case !errors.Is(err, os.ErrDeadlineExceeded): // of stop or abort
			g.closed.Store(true)
			g.end = time.AfterFunc(grace, end)
		}
	})
	return g
}

// pollInterval is the time between two checks of a connection with unread data.
const pollInterval = 500 * time.Millisecond

// closeAwaiter returns a function that waits until the peer has closed the connection,
// which may have unread data. It returns nil for a connection that cannot be watched.
func (g *closeGuard) closeAwaiter() func() error {
	raw := rawConn(g.conn.link)
	if raw == nil {
		return nil
	}
	return func() error {
		ticker := time.NewTicker(pollInterval)
		defer ticker.Stop()
		for {
			closed := false
			err := raw.Control(func(fd uintptr) {
				n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}, 0)
				closed = err == nil && n > 0
			})
			switch {
			case err != nil:
				return err
			case closed:
				return io.EOF
			}
			select {
			case <-g.quit:
				return os.ErrDeadlineExceeded
			case <-ticker.C:
			}
		}
	}
}

// rawConn returns the descriptor of a connection, or nil if it has none.
func rawConn(link net.Conn) syscall.RawConn {
	if file, ok := link.(syscall.Conn); ok {
		if raw, err := file.SyscallConn(); err == nil {
			return raw
		}
	}
	return nil
}

// awaiter returns a function that waits until there is data to read, or returns an error.
// It returns nil for a connection that cannot be watched.
func awaiter(link net.Conn) func() error {
	if c, ok := link.(interface{ Await() error }); ok {
		return c.Await
	}
	raw := rawConn(link)
	if raw == nil {
		return nil
	}
	return func() error {
		var end error
		err := raw.Read(func(fd uintptr) bool {
			var b [1]byte
			n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
			if err == unix.EAGAIN || err == unix.EINTR {
				return false
			}
			if n <= 0 {
				end = io.EOF
			}
			return true
		})
		return errors.Join(err, end)
	}
}

// stop ends the guard. It returns the reason to end a measurement early, nil if there is no
// reason.
func (g *closeGuard) stop() error {
	if g.start == nil || g.start.Stop() {
		return nil
	}
	close(g.quit)
	_ = g.conn.link.SetReadDeadline(time.Unix(1, 0))
	<-g.done
	if g.end != nil {
		g.end.Stop()
	}
	switch {
	case g.closed.Load():
		return fmt.Errorf("%w before the end of the test", peererr.ErrClosed)
	case g.finished.Load():
		return errFinished
	}
	return nil
}
