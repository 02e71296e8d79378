package testenv

import (
	"context"
	"net"
	"sync"
)

// Pipes is a listener in memory, which accepts the connections that its Dial makes. Its
// time is the bubble's in testing/synctest.
type Pipes struct {
	conns chan net.Conn
	once  sync.Once
	over  chan struct{}
}

// NewPipes returns a listener.
func NewPipes() *Pipes { return &Pipes{conns: make(chan net.Conn), over: make(chan struct{})} }

// Accept waits for a connection. After Close it returns [net.ErrClosed].
func (l *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.over:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial.
func (l *Pipes) Close() error {
	l.once.Do(func() { close(l.over) })
	return nil
}

// Addr returns an address without a meaning.
func (l *Pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// Dial connects, whatever the address is.
func (l *Pipes) Dial(ctx context.Context, _ string) (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case l.conns <- b:
		return a, nil
	case <-l.over:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
