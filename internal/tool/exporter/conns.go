package exporter

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Conns are a server's connections. A new connection beyond the limit replaces the oldest
// connection without a request in progress: neither half-open nor idle connections keep
// scrapers out.
type conns struct {
	limit int

	mu    sync.Mutex
	all   map[net.Conn]*list.Element
	order list.List // of *conn, the oldest first
}

// A conn is a server connection.
type conn struct {
	net.Conn
	answering atomic.Int32 // requests; several with HTTP/2
}

func newConns(limit int) *conns {
	return &conns{limit: limit, all: map[net.Conn]*list.Element{}}
}

// add adds a connection. It returns false if all others are in use.
func (c *conns) add(n net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) >= c.limit && !c.evict() {
		return false
	}
	c.all[n] = c.order.PushBack(&conn{Conn: n})
	return true
}

// evict closes the oldest connection without a request that is being answered.
func (c *conns) evict() bool {
	for at := c.order.Front(); at != nil; at = at.Next() {
		if old, _ := at.Value.(*conn); old.answering.Load() == 0 {
			_ = old.Close() // without a response to write
			c.order.Remove(at)
			delete(c.all, old.Conn)
			return true
		}
	}
	return false
}

func (c *conns) remove(n net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.all[n]; ok {
		c.order.Remove(at)
		delete(c.all, n)
	}
}

// state is a server's ConnState.
func (c *conns) state(n net.Conn, s http.ConnState) {
	if s == http.StateClosed || s == http.StateHijacked {
		c.remove(underlying(n))
	}
}

// connKey is the key of the connection in a request's context.
type connKey struct{}

// context is a server's ConnContext.
func (c *conns) context(ctx context.Context, n net.Conn) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.all[underlying(n)]; ok {
		return context.WithValue(ctx, connKey{}, at.Value)
	}
	return ctx
}

// handler returns a handler that marks connections with a request that is being answered.
func (c *conns) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, ok := r.Context().Value(connKey{}).(*conn); ok {
			n.answering.Add(1)
			defer n.answering.Add(-1)
		}
		h.ServeHTTP(w, r)
	})
}

// A listener adds its connections to conns.
type listener struct {
	net.Listener
	conns *conns
}

// Accept returns the next connection within the limit.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.conns.add(c) {
			return c, nil
		}
		_ = c.Close() // all connections are in use
	}
}
