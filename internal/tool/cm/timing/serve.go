package timing

import (
	"context"
	"errors"

	"github.com/ibkit/ibkit/internal/tool/cm/exchange"
	"github.com/ibkit/ibkit/internal/tool/cm/internal/device"
	"github.com/ibkit/ibkit/internal/tool/cm/internal/event"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// A Server accepts connections and holds each until its peer disconnects. A single
// goroutine does all its work, as in a Client.
type Server struct {
	Warn func(*exchange.Error) // called for failed connections

	channel *rdmacm.Channel
	batch   event.Batch
	devices device.Set
	qps     map[*rdmacm.ID]*verbs.QP
}

// NewServer opens the connection manager.
func NewServer(warn func(*exchange.Error)) (*Server, error) {
	channel, err := rdmacm.NewChannel()
	if err != nil {
		return nil, err
	}
	return &Server{Warn: warn, channel: channel, qps: map[*rdmacm.ID]*verbs.QP{}}, nil
}

// Close ends all connections.
func (s *Server) Close() error { return errors.Join(s.channel.Close(), s.devices.Close()) }

// Serve accepts connections until ctx ends.
func (s *Server) Serve(ctx context.Context, local rdmacm.Addr) error {
	fail := func(op string, err error) error { return &exchange.Error{Op: op, Err: err, Code: -1} }
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
	for {
		err := s.batch.Wait(ctx, s.channel)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fail("failure in rdma_get_cm_event in process_server_events", err)
		}
		for e := range s.batch.All() {
			s.handle(e)
		}
	}
}

// handle handles an event.
func (s *Server) handle(e rdmacm.Event) {
	switch e.Type {
	case rdmacm.EventConnectRequest:
		s.accept(e)
	case rdmacm.EventDisconnected, rdmacm.EventConnectError, rdmacm.EventUnreachable, rdmacm.EventRejected:
		s.end(e.ID)
	}
}

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
	s.Warn(&exchange.Error{Op: op, Err: err, Code: -1})
	s.Warn(&exchange.Error{Op: "failing connection request"})
	_ = e.ID.Reject(nil) // fails if the peer has given up
	s.end(e.ID)
}

func (s *Server) reply(e rdmacm.Event, qp *verbs.QP) error {
	s.qps[e.ID] = qp
	p := device.Reply(e.Param, qp.Number())
	if err := e.ID.ReadyQP(qp, &p); err != nil {
		return err
	}
	return e.ID.Accept(p)
}

// end frees a connection that has ended. The kernel confirms its end to the peer when it
// destroys the ID.
func (s *Server) end(id *rdmacm.ID) {
	_ = id.Close() // a second event from the same connection may follow
	if qp := s.qps[id]; qp != nil {
		delete(s.qps, id)
		_ = qp.Close()
	}
}
