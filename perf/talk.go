package perf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// A talk is a connection of two of this program.
type talk struct {
	conn  net.Conn
	inbox chan message
	err   error // why there is no more, once inbox is closed
}

// answerTime is how long the other side may take to answer, and to take a message.
const answerTime = 20 * time.Second

// A PeerError is what the other side says of its own failure.
type PeerError struct {
	Who  string // "server" or "client"
	Text string
}

func (e *PeerError) Error() string { return e.Who + ": " + e.Text }

// errGone means that the other side hung up.
var errGone = errors.New("the other side hung up")

// newTalk begins to read messages.
func newTalk(conn net.Conn) *talk {
	if tcp, ok := conn.(*net.TCPConn); ok {
		// A host that is gone shows within some 20 seconds.
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 3})
	}
	t := &talk{conn: conn, inbox: make(chan message, 4)}
	go func() {
		defer close(t.inbox)
		for {
			m, err := readMessage(conn)
			if err != nil {
				t.err = err
				return
			}
			t.inbox <- m
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
		err = fmt.Errorf("%w: the other side does not answer", err)
	}
	return fmt.Errorf("talk with %v: %w", t.conn.RemoteAddr(), err)
}

// next returns the next message, which is to come within a time, 0: whenever.
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
	return m, nil
}
