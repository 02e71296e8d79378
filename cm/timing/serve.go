package timing

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/ibkit/ibkit/cm/exchange"
	"github.com/ibkit/ibkit/cm/internal/device"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// A Server accepts connections and holds each until its peer disconnects.
type Server struct {
	Warn func(*exchange.Failure) // called for failed connections; may be called concurrently

	channel *rdmacm.Channel
	devices device.Set

	lock sync.Mutex
	qps  map[*rdmacm.ID]*verbs.QP
}

// NewServer opens the connection manager.
func NewServer(warn func(*exchange.Failure)) (*Server, error) {
	channel, err := rdmacm.NewChannel()
	return &Server{Warn: warn, channel: channel, qps: map[*rdmacm.ID]*verbs.QP{}}, err
}

// Close ends all connections.
func (s *Server) Close() error { return errors.Join(s.channel.Close(), s.devices.Close()) }

// Serve accepts connections until ctx ends.
func (s *Server) Serve(ctx context.Context, local rdmacm.Addr) error {
	fail := func(op string, err error) error { return &exchange.Failure{Op: op, Err: err, Code: -1} }
	listener, err := s.channel.NewID(rdmacm.PortSpaceTCP, verbs.QPTypeRC)
	if err != nil {
		return fail("listen request failed", err)
	}
	if err := listener.Bind(local); err != nil {
		return fail("bind address failed", err)
	}
	if err := listener.Listen(0); err != nil {
		return fail("failure trying to listen", err)
	}
	// One queue for each kind of event: an end must not wait for new connections,
	// which use the same resources.
	requests, ends := make(chan rdmacm.Event, backlog), make(chan rdmacm.Event, backlog)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(requests)
	defer close(ends)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for e := range requests {
				s.accept(e)
			}
		})
		workers.Go(func() {
			for e := range ends {
				s.end(e.ID)
			}
		})
	}
	for {
		e, err := s.channel.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fail("failure in rdma_get_cm_event in process_server_events", err)
		}
		switch e.Type {
		case rdmacm.EventConnectRequest:
			requests <- e
		case rdmacm.EventDisconnected, rdmacm.EventConnectError, rdmacm.EventUnreachable, rdmacm.EventRejected:
			ends <- e
		}
	}
}

// backlog is the number of events that wait for a worker. The kernel keeps further ones.
const backlog = 64

// accept accepts a request, or rejects it if that fails.
func (s *Server) accept(e rdmacm.Event) {
	qp, _, err := s.devices.NewQP(e.ID)
	op := "failure creating qp"
	if err == nil {
		op = "failure accepting"
		err = s.reply(e, qp)
	}
	if err == nil {
		return
	}
	s.Warn(&exchange.Failure{Op: op, Err: err, Code: -1})
	s.Warn(&exchange.Failure{Op: "failing connection request"})
	_ = e.ID.Reject(nil) // fails if the peer has given up
	s.end(e.ID)
}

func (s *Server) reply(e rdmacm.Event, qp *verbs.QP) error {
	s.lock.Lock()
	s.qps[e.ID] = qp
	s.lock.Unlock()
	p := rdmacm.DefaultParam
	p.QPN = qp.Number()
	p.ResponderResources = min(p.ResponderResources, e.Param.ResponderResources)
	p.InitiatorDepth = min(p.InitiatorDepth, e.Param.InitiatorDepth)
	if err := e.ID.ReadyQP(qp, &p); err != nil {
		return err
	}
	return e.ID.Accept(p)
}

// end frees a connection that has ended.
func (s *Server) end(id *rdmacm.ID) {
	s.lock.Lock()
	qp := s.qps[id]
	delete(s.qps, id)
	s.lock.Unlock()
	if qp != nil {
		hangUp(id, qp)
	}
	_ = id.Close() // a second event of the same connection may follow
}
