package perftest

import (
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A guard looks whether the other side hangs up while this one measures, and says
// nothing on the connection.
type guard struct {
	conn   *Conn
	done   chan struct{} // nil: the connection cannot be looked at
	hungUp atomic.Bool
}

// hangUpGrace is how long a side may go on after the other one hung up: what that
// did last may be still on its way.
const hangUpGrace = time.Second

// guard calls end some time after the other side has hung up. Its stop is to be
// called before the next exchange. What the other side says is left for that: it
// says something when it has measured.
func (c *Conn) guard(end func()) *guard {
	g := &guard{conn: c}
	file, ok := c.conn.(syscall.Conn)
	if !ok || c.limit(0) != nil {
		return g
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return g
	}
	g.done = make(chan struct{})
	go func() {
		defer close(g.done)
		// Read ends with an error by stop, and by Abort.
		_ = raw.Read(func(fd uintptr) bool {
			var b [1]byte
			n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
			if err == unix.EAGAIN || err == unix.EINTR {
				return false
			}
			g.hungUp.Store(n <= 0)
			return true
		})
		if g.hungUp.Load() {
			time.AfterFunc(hangUpGrace, end)
		}
	}()
	return g
}

// stop ends the guard and tells whether the other side has hung up.
func (g *guard) stop() bool {
	if g.done == nil {
		return false
	}
	_ = g.conn.conn.SetReadDeadline(time.Unix(1, 0))
	<-g.done
	return g.hungUp.Load()
}
