// Package exchange implements the librdmacm tests that exchange messages over several
// connections at a time: ucmatose, udaddy, mckey, rdma_client and rdma_server. Both
// ends have the same connection and message counts.
//
// Their step order, parameters and failure texts match librdmacm/examples.
package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/tool/cm/internal/device"
	"github.com/ibkit/ibkit/internal/tool/cm/internal/event"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// Options are a Session's options.
type Options struct {
	Client      bool // Connect or Join follows, otherwise Listen
	Space       rdmacm.PortSpace
	Datagrams   bool // datagrams instead of connections, over UD queue pairs
	Connections int
	Size        int // message size in bytes
	Count       int // messages per connection and direction

	Param      rdmacm.ConnParam // for connection requests
	TOS        *uint8           // type of service; nil: the route's value
	ACKTimeout *uint8           // see rdmacm.ID.SetACKTimeout; nil: the path's value

	// Warn is called for failures that do not end the test.
	Warn func(*Error)
}

// DefaultCount and DefaultSize are the message count and size unless given.
const (
	DefaultCount = 10
	DefaultSize  = 100
)

// A Session has a test's connections. Its methods must not be called concurrently.
type Session struct {
	Options
	channel  *rdmacm.Channel
	listener *rdmacm.ID
	devices  device.Set
	ports    map[*device.Device]*port

	nodes    []*node
	byID     map[*rdmacm.ID]*node
	accepted int // requests

	connecting int // connections that are neither established nor failed
	connected  int // connections that are established

	batch event.Batch
	early []rdmacm.Event // events that await handles next

	local, peer rdmacm.Addr // passed to Connect

	multicast Membership
}

// A node is a connection.
type node struct {
	id        *rdmacm.ID
	qp        *verbs.QP
	cq        *verbs.CQ
	port      *port
	connected bool
	failed    bool // the reply could not be confirmed; later events are discarded

	peer      destination // for datagrams
	group     *rdmacm.Group
	groupPath verbs.Path

	sent, received int // completed messages
}

// New opens the connection manager and creates the client's IDs.
func New(o Options) (*Session, error) {
	channel, err := rdmacm.NewChannel()
	if err != nil {
		return nil, err
	}
	s := &Session{
		Options: o, channel: channel, connecting: o.Connections,
		ports: map[*device.Device]*port{}, byID: map[*rdmacm.ID]*node{},
	}
	if o.Client {
		if err := s.create(); err != nil {
			return nil, errors.Join(err, channel.Close())
		}
	}
	return s, nil
}

// Close ends all connections and frees their objects.
func (s *Session) Close() error {
	errs := []error{s.channel.Close(), s.devices.Close()}
	for _, p := range s.ports {
		errs = append(errs, p.memory.Close())
	}
	return errors.Join(errs...)
}

// create creates the client's IDs.
func (s *Session) create() error {
	for range s.Connections {
		id, err := s.channel.NewID(s.Space, s.qpType())
		if err != nil {
			return err
		}
		s.add(id)
	}
	return nil
}

func (s *Session) qpType() verbs.QPType {
	if s.Datagrams {
		return verbs.QPTypeUD
	}
	return verbs.QPTypeRC
}

func (s *Session) add(id *rdmacm.ID) *node {
	n := &node{id: id}
	s.nodes = append(s.nodes, n)
	s.byID[id] = n
	return n
}

// await handles events until left is zero.
func (s *Session) await(ctx context.Context, left *int) error {
	for *left > 0 {
		e, err := s.next(ctx)
		if err != nil {
			return failed("failure in rdma_get_cm_event", err)
		}
		if err := s.handle(e); err != nil {
			return err
		}
	}
	return nil
}

// next returns the next event.
func (s *Session) next(ctx context.Context) (e rdmacm.Event, err error) {
	if len(s.early) > 0 {
		e, s.early = s.early[0], s.early[1:]
		return e, nil
	}
	if err := s.batch.Wait(ctx, s.channel); err != nil {
		return e, err
	}
	s.early = slices.AppendSeq(s.early, s.batch.All())
	return s.next(ctx)
}

// watch receives events during transfers, until ctx ends.
func (s *Session) watch(ctx context.Context) {
	for {
		e, err := s.channel.Next(ctx)
		if err != nil {
			return // await returns the error
		}
		s.early = append(s.early, e)
		switch e.Type {
		case rdmacm.EventDisconnected:
			if n := s.byID[e.ID]; n != nil {
				n.hangUp()
			}
		case rdmacm.EventMulticastError, rdmacm.EventAddrChange:
			if s.multicast.Changed != nil {
				s.multicast.Changed(e)
			}
		}
	}
}

// handle handles an event.
func (s *Session) handle(e rdmacm.Event) error {
	if e.Type == rdmacm.EventConnectRequest {
		return s.accept(e)
	}
	n := s.byID[e.ID]
	if n == nil {
		return nil // from the listener
	}
	switch e.Type {
	case rdmacm.EventAddrResolved:
		if s.multicast.Group != nil {
			return s.join(n)
		}
		return s.addressResolved(n)
	case rdmacm.EventRouteResolved:
		return s.routeResolved(n)
	case rdmacm.EventConnectResponse:
		return s.confirm(n)
	case rdmacm.EventEstablished:
		return s.established(n, e)
	case rdmacm.EventMulticastJoin:
		return s.joined(n, e)
	case rdmacm.EventRejected:
		if n.failed {
			return nil
		}
		_ = n.qp.Modify(verbs.QPStateError, verbs.QPAttr{}) // the request is over
		return s.ended(e)
	case rdmacm.EventAddrError, rdmacm.EventRouteError, rdmacm.EventConnectError, rdmacm.EventUnreachable, rdmacm.EventMulticastError:
		return s.ended(e)
	case rdmacm.EventDisconnected:
		if !n.failed {
			n.hangUp()
			s.connected--
		}
	}
	return nil
}

// ended returns the connection failure that an event reports.
func (s *Session) ended(e rdmacm.Event) error {
	s.connecting--
	f := &Error{Op: fmt.Sprintf("event: %v, error: %d", e.Type, e.Status), Code: int(e.Status), Event: &e}
	if f.Code == 0 {
		s.Warn(f)
		return nil
	}
	return f
}

// fail counts a connection that failed.
func (s *Session) fail(err error) error {
	if err != nil {
		s.connecting--
	}
	return err
}

// hangUp ends a connection, or confirms that the peer has ended it.
func (n *node) hangUp() {
	// Either fails if the connection has ended already.
	_ = n.qp.Modify(verbs.QPStateError, verbs.QPAttr{})
	_ = n.id.Disconnect()
}

// Disconnect begins to end the connections. AwaitDisconnect waits for their ends.
func (s *Session) Disconnect() {
	for _, n := range s.nodes {
		if n.connected {
			n.connected = false
			n.hangUp()
		}
	}
}

// AwaitDisconnect waits until the peer has ended all connections, or has confirmed
// their end.
func (s *Session) AwaitDisconnect(ctx context.Context) error { return s.await(ctx, &s.connected) }

// Migrate moves the IDs to a new channel.
func (s *Session) Migrate() error {
	channel, err := rdmacm.NewChannel()
	if err != nil {
		return failed("failed to create event channel", err)
	}
	ids := make([]*rdmacm.ID, 0, len(s.nodes)+1)
	if s.listener != nil {
		ids = append(ids, s.listener)
	}
	for _, n := range s.nodes {
		ids = append(ids, n.id)
	}
	for _, id := range ids {
		if err := id.Migrate(channel); err != nil {
			return errors.Join(failed("failure migrating to channel", err), channel.Close())
		}
	}
	old := s.channel
	s.channel = channel
	return old.Close()
}

// outOfMemory is the result when a test cannot create an object.
const outOfMemory = unix.ENOMEM
