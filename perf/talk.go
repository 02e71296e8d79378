package perf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A talk is a connection of two of this program.
type talk struct {
	who   string // the other side: "server" or "client"
	conn  net.Conn
	inbox chan message
	err   error // why there is no more, once inbox is closed

	lock   sync.Mutex
	within time.Duration // how long the other side may be silent, 0: for ever
}

// answerTime is how long the other side may take to answer, and to take a message.
const answerTime = 20 * time.Second

// A PeerError is what the other side says of its own failure.
type PeerError struct {
	Who  string // "server" or "client"
	Text string
}

func (e *PeerError) Error() string { return e.Who + ": " + e.Text }

// errGone means that the other side hung up, errSilent that it is there no more, as
// far as can be told.
var (
	errGone   = errors.New("the other side hung up")
	errSilent = errors.New("the other side says nothing")
)

// newTalk begins to read messages of the server or client at the other side.
func newTalk(who string, conn net.Conn) *talk {
	if tcp, ok := conn.(*net.TCPConn); ok {
		// A host that is gone shows within some 20 seconds.
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 3})
	}
	t := &talk{who: who, conn: conn, inbox: make(chan message, 4)}
	go func() {
		defer close(t.inbox)
		for {
			m, err := readMessage(conn)
			if err != nil {
				t.err = err
				return
			}
			t.heard()
			if m.Alive == nil {
				t.inbox <- m
			}
		}
	}()
	return t
}

// close hangs up, and waits for the reader.
func (t *talk) close() error {
	err := t.conn.Close()
	for range t.inbox { // until the reader has seen it
	}
	return err
}

// How often a side says that it is alive.
const (
	aliveEvery = 5 * time.Second
	aliveLeast = 100 * time.Millisecond
)

// alive has each side watch the other one until stop is called: this one says again
// and again that it is there, and the talk ends when the other one is silent for too
// long.
func (t *talk) alive(every, within time.Duration) (stop func()) {
	t.expect(within)
	over := make(chan struct{})
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if t.send(message{Alive: &struct{}{}}) != nil {
					return // whoever talks next sees why
				}
			case <-over:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(over)
		t.expect(0)
	})
}

// expect sets how long the other side may be silent from now on.
func (t *talk) expect(within time.Duration) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.within = within
	t.extend()
}

// heard notes that the other side said something.
func (t *talk) heard() {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.within > 0 {
		t.extend()
	}
}

// extend begins the time anew. The lock is held.
func (t *talk) extend() {
	var end time.Time
	if t.within > 0 {
		end = time.Now().Add(t.within)
	}
	_ = t.conn.SetReadDeadline(end) // of one that was closed: the reader sees it
}

func (t *talk) send(m message) error {
	if err := t.conn.SetWriteDeadline(time.Now().Add(answerTime)); err != nil {
		return t.explain(err)
	}
	if err := m.write(t.conn); err != nil {
		return t.explain(err)
	}
	return nil
}

// explain says what an error of the connection means.
func (t *talk) explain(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		err = fmt.Errorf("%w (%w): it was stopped, or has ended by a fault", errGone, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("%w: it is stopped, hangs, or cannot be reached any more", errSilent)
	}
	return fmt.Errorf("talk with %v: %w", t.conn.RemoteAddr(), err)
}

// strange is the error of a message that is not the one awaited.
func (t *talk) strange() error {
	return fmt.Errorf("talk with %v: %w", t.conn.RemoteAddr(), errMessage)
}

// next returns the next message, which is to come within a time, 0: whenever. A
// failure of the other side's is a [PeerError].
func (t *talk) next(ctx context.Context, within time.Duration) (message, error) {
	var late <-chan time.Time
	if within > 0 {
		timer := time.NewTimer(within)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case m, ok := <-t.inbox:
		return t.take(m, ok)
	case <-late:
		return message{}, t.explain(os.ErrDeadlineExceeded)
	case <-ctx.Done():
		return message{}, context.Cause(ctx)
	}
}

// take makes an error of a message that is one, and of the end of messages.
func (t *talk) take(m message, ok bool) (message, error) {
	if !ok {
		return message{}, t.explain(t.err)
	}
	if m.Failure != "" {
		return message{}, &PeerError{t.who, printable(m.Failure)}
	}
	return m, nil
}
