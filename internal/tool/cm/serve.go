package cm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/ibkit/ibkit/internal/tool/cm/internal/device"
	"github.com/ibkit/ibkit/internal/tool/cm/internal/event"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/verbs"
)

// ServeOptions are the options for Serve.
type ServeOptions struct {
	Address string // "host:port" to listen on; without a host: all local addresses
	Max     int    // connections at a time (default 1024); further requests are rejected

	// Listening, if not nil, is called when requests are accepted.
	Listening func(rdmacm.Addr)

	// Failed, if not nil, is called for each request that does not become a connection.
	Failed func(peer rdmacm.Addr, err error)
}

// ServeCounts are the connections in Serve. It is the command's JSON object.
type ServeCounts struct {
	report.Head
	Accepted int `json:"accepted"`
	Failed   int `json:"failed"`   // requests that did not become a connection
	Rejected int `json:"rejected"` // beyond Max
}

const (
	// ServeSchema identifies the JSON object from `ibkit cm --serve`.
	ServeSchema = "ibkit/cm-serve/2"

	defaultMax = 1024
)

// busy is the private data in a rejection beyond the maximum.
const busy = "too many connections"

// Serve accepts connections until ctx ends or the device is removed, and holds each
// until its peer disconnects. A failed request does not end it.
func Serve(ctx context.Context, o ServeOptions) (ServeCounts, error) {
	s := &server{
		options: o, most: cmp.Or(o.Max, defaultMax), counts: ServeCounts{Head: report.NewHead(ServeSchema, time.Now())}, held: map[*rdmacm.ID]*holding{}, base: time.Now(),
	}
	err := s.serve(ctx)
	if s.counts.Failed > 0 {
		s.counts.Add(report.New(report.FailedConnection, "", fmt.Sprintf("%d requests did not become a connection", s.counts.Failed)))
	}
	return s.counts, errors.Join(err, s.devices.Close())
}

// A server holds the connections for Serve. A single goroutine does all its work.
type server struct {
	options   ServeOptions
	most      int
	channel   *rdmacm.Channel
	batch     event.Batch
	listeners []*rdmacm.ID
	devices   device.Set
	counts    ServeCounts
	held      map[*rdmacm.ID]*holding
	base      time.Time
	limits    []serveLimit // in time order
}

// A holding is a connection or a request.
type holding struct {
	id    *rdmacm.ID
	peer  rdmacm.Addr
	qp    *verbs.QP
	ready bool // the connection is established
}

// A serveLimit is the deadline for a connection's confirmation.
type serveLimit struct {
	of *holding
	at time.Duration // since the base
}

// serve listens and handles events.
func (s *server) serve(ctx context.Context) (err error) {
	local, err := rdmacm.ResolveAddr(ctx, s.options.Address)
	if err != nil {
		return err
	}
	if s.channel, err = rdmacm.NewChannel(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	var addr rdmacm.Addr
	if s.listeners, addr, err = (rdmacm.ListenConfig{}).ListenOn(s.channel, local); err != nil {
		return err
	}
	if s.options.Listening != nil {
		s.options.Listening(addr)
	}
	w := waiter{ctx: ctx, base: s.base}
	defer w.stop()
	for ctx.Err() == nil {
		limited := ctx
		if s.expire(); len(s.limits) > 0 {
			limited = w.until(s.limits[0].at)
		}
		err := s.batch.Wait(limited, s.channel)
		if err == nil {
			err = s.batch.Handle(s.handle)
		}
		switch {
		case err == nil, limited.Err() != nil:
		case errors.Is(err, verbs.ErrDeviceRemoved), errors.Is(err, fs.ErrClosed):
			return err
		default:
			s.fail(nil, err)
		}
	}
	return nil
}

// close ends all connections.
func (s *server) close() error {
	errs := []error{s.channel.Close()}
	for _, h := range s.held {
		if h.qp != nil {
			errs = append(errs, h.qp.Close())
		}
	}
	return errors.Join(errs...)
}

// expire fails the requests that the peer has not confirmed in time.
func (s *server) expire() {
	for len(s.limits) > 0 {
		l := s.limits[0]
		over := l.of.ready || s.held[l.of.id] != l.of
		if !over && l.at > time.Since(s.base) {
			return
		}
		s.limits = s.limits[1:]
		if !over {
			s.drop(l.of, s.step(l.of, &rdmacm.TimeoutError{After: defaultTimeout}))
		}
	}
}

// step returns the confirmation error.
func (s *server) step(h *holding, err error) error {
	return &rdmacm.StepError{Step: rdmacm.StepEstablish, Peer: h.peer, Err: err}
}

// handle handles an event. It returns the error from a listener event.
func (s *server) handle(e rdmacm.Event) error {
	if e.Type == rdmacm.EventConnectRequest {
		s.request(e)
		return nil
	}
	if slices.Contains(s.listeners, e.ID) {
		return e.Err()
	}
	h := s.held[e.ID]
	if h == nil {
		return nil
	}
	err := e.Err()
	switch {
	case e.Type == rdmacm.EventEstablished && e.Status == 0:
		s.establish(h)
	case e.Type == rdmacm.EventDisconnected:
		if !h.ready { // the connection's end overtook the confirmation that it started
			s.counts.Accepted++
		}
		s.free(h) // the kernel confirms the end when it destroys the ID
	case err != nil && h.ready:
		s.free(h)
	case err != nil:
		s.drop(h, s.step(h, err))
	}
	return nil
}

// establish completes a connection.
func (s *server) establish(h *holding) {
	if h.qp.IWARP() {
		if err := h.id.ReadyQP(h.qp, nil); err != nil {
			s.drop(h, s.step(h, err))
			return
		}
	}
	h.ready = true
	s.counts.Accepted++
}

// request accepts a request, or rejects it beyond the maximum.
func (s *server) request(e rdmacm.Event) {
	if len(s.held) >= s.most {
		s.counts.Rejected++
		_ = e.ID.Reject([]byte(busy)) // fails if the peer has given up
		_ = e.ID.Close()
		return
	}
	h := &holding{id: e.ID}
	s.held[h.id] = h
	if err := s.accept(h, e.Param); err != nil {
		if peerGone(err) { // no event reports it
			err = rdmacm.ErrPeerGone
		}
		s.drop(h, s.step(h, err))
		return
	}
	s.limits = append(s.limits, serveLimit{h, time.Since(s.base) + defaultTimeout})
}

// accept replies to a request.
func (s *server) accept(h *holding, peer rdmacm.ConnParam) error {
	a, err := h.id.Addresses()
	if err != nil {
		return err
	}
	h.peer = a.Peer
	if h.qp, _, err = s.devices.NewQPAt(a, h.id.QPType()); err != nil {
		return err
	}
	p := rdmacm.DefaultParam
	p.QPN = h.qp.Number()
	p.ResponderResources = min(p.ResponderResources, peer.ResponderResources)
	p.InitiatorDepth = min(p.InitiatorDepth, peer.InitiatorDepth)
	if err := h.id.ReadyQP(h.qp, &p); err != nil {
		return err
	}
	return h.id.Accept(p)
}

// drop reports a request that does not become a connection.
func (s *server) drop(h *holding, err error) {
	s.free(h)
	s.fail(h.peer, err)
}

func (s *server) fail(peer rdmacm.Addr, err error) {
	s.counts.Failed++
	if s.options.Failed != nil {
		s.options.Failed(peer, err)
	}
}

// free destroys a connection's objects.
func (s *server) free(h *holding) {
	delete(s.held, h.id)
	_ = h.id.Close() // a removed device's objects are gone
	if h.qp != nil {
		_ = h.qp.Close()
	}
}
