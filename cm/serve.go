package cm

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/ibkit/ibkit/cm/internal/device"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// ServeOptions are the options of Serve.
type ServeOptions struct {
	Address string // "host:port" to listen on; without a host: all local addresses
	Max     int    // connections at a time (default 1024); further requests are rejected

	// Listening, if not nil, is called when requests are accepted.
	Listening func(rdmacm.Addr)

	// Failed, if not nil, is called for each request that does not become a connection.
	// Calls are serialized.
	Failed func(peer rdmacm.Addr, err error)
}

// ServeCounts are the connections of Serve. It is the JSON object of the command.
type ServeCounts struct {
	Schema   string `json:"schema"`
	Accepted int    `json:"accepted"`
	Failed   int    `json:"failed"`   // requests that did not become a connection
	Rejected int    `json:"rejected"` // beyond Max
}

const (
	// ServeSchema identifies the JSON object of `ibkit cm --serve`.
	ServeSchema = "ibkit/cm-serve/1"

	defaultMax = 1024
)

// busy is the private data of a rejection beyond the maximum.
const busy = "too many connections"

// Serve accepts connections until ctx ends or the device is removed, and holds each
// until its peer disconnects. A failed request does not end it.
func Serve(ctx context.Context, o ServeOptions) (ServeCounts, error) {
	s := &server{options: o, free: make(chan struct{}, cmp.Or(o.Max, defaultMax)), counts: ServeCounts{Schema: ServeSchema}}
	l, err := rdmacm.ListenConfig{}.Listen(ctx, o.Address)
	if err != nil {
		return s.counts, err
	}
	if o.Listening != nil {
		o.Listening(l.Addr())
	}
	err = s.accept(ctx, l)
	err = errors.Join(err, l.Close())
	s.handlers.Wait()
	return s.counts, errors.Join(err, s.devices.Close())
}

// A server holds the connections of Serve.
type server struct {
	options  ServeOptions
	devices  device.Set
	free     chan struct{} // one element per connection
	handlers sync.WaitGroup

	lock   sync.Mutex
	counts ServeCounts
}

// accept accepts requests until ctx ends.
func (s *server) accept(ctx context.Context, l *rdmacm.Listener) error {
	for {
		r, err := l.Accept(ctx)
		switch {
		case ctx.Err() != nil:
			if r != nil {
				return r.Close()
			}
			return nil
		case errors.Is(err, verbs.ErrDeviceRemoved), errors.Is(err, fs.ErrClosed):
			return err
		case err != nil:
			s.fail(nil, err)
			continue
		}
		select {
		case s.free <- struct{}{}:
			s.handlers.Go(func() {
				defer func() { <-s.free }()
				s.hold(ctx, r)
			})
		default:
			s.reject(r)
		}
	}
}

func (s *server) fail(peer rdmacm.Addr, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.counts.Failed++
	if s.options.Failed != nil {
		s.options.Failed(peer, err)
	}
}

func (s *server) accepted() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.counts.Accepted++
}

func (s *server) reject(r *rdmacm.Request) {
	_ = r.Reject([]byte(busy)) // fails if the peer has given up
	s.lock.Lock()
	defer s.lock.Unlock()
	s.counts.Rejected++
}

// hold accepts a request and waits for the end of the connection.
func (s *server) hold(ctx context.Context, r *rdmacm.Request) {
	qp, _, err := s.devices.NewQP(r.ID())
	if err != nil {
		s.fail(r.Peer(), errors.Join(err, r.Close()))
		return
	}
	defer qp.Close()
	conn, err := r.Accept(ctx, qp, nil)
	if ended, ok := errors.AsType[*rdmacm.EventError](err); ok && ended.Type == rdmacm.EventDisconnected {
		s.accepted() // the end of the connection overtook the confirmation of its start
		return
	}
	if err != nil {
		s.fail(r.Peer(), err)
		return
	}
	defer conn.Close()
	s.accepted()
	_ = conn.AwaitEnd(ctx) // the end of ctx disconnects: Close destroys the ID
}
