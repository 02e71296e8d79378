// Package cmlink connects an endpoint's queue pairs through the connection manager.
package cmlink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// Config are the parameters for a test's connections.
type Config struct {
	Type        verbs.QPType
	Param       rdmacm.ConnParam
	MinRNRTimer uint8         // for RC
	ACKTimeout  *uint8        // for RC; nil: the connection manager's
	TOS         *uint8        // type of service; nil: the host's
	Timeout     time.Duration // for each step and the wait for a listener; 0: package rdmacm's default
}

// space returns the port space for a queue pair type.
func (c Config) space() rdmacm.PortSpace {
	switch c.Type {
	case verbs.QPTypeUD:
		return rdmacm.PortSpaceUDP
	case verbs.QPTypeUC:
		return rdmacm.PortSpaceIB // the only port space with a choice
	}
	return rdmacm.PortSpaceTCP
}

// control sets an ID's options.
func (c Config) control(id *rdmacm.ID) error {
	if c.TOS != nil {
		if err := id.SetTOS(*c.TOS); err != nil {
			return err
		}
	}
	if c.ACKTimeout != nil && c.Type == verbs.QPTypeRC {
		return id.SetACKTimeout(*c.ACKTimeout)
	}
	return nil
}

// checkPort returns an error unless an ID has the endpoint's port.
func checkPort(id *rdmacm.ID, e *endpoint.Endpoint) error {
	a, err := id.Addresses()
	if err != nil {
		return err
	}
	d, err := a.Device()
	if err == nil && (d.Name != e.Port.Device || a.Port != e.Port.Number) {
		err = fmt.Errorf("use %s/%d: %w %s/%d for this address", e.Port.Device, e.Port.Number, ErrSelection, d.Name, a.Port)
	}
	return err
}

// Links are an endpoint's queue pair connections, in order.
type Links struct{ conns []*rdmacm.Conn }

// A Peer is the target program's address.
type Peer struct {
	Local, Remote rdmacm.Addr // Local may be nil
}

// Dial connects all queue pairs in an endpoint, one after the other, to a listener, which
// may begin to listen later. data, unless nil, returns the private data for a queue pair.
// after, unless nil, is called after each connection.
func Dial(ctx context.Context, e *endpoint.Endpoint, p Peer, c Config, data func(i int) []byte, after func(i int, conn *rdmacm.Conn) error) (_ *Links, err error) {
	l := new(Links)
	defer l.closeAfter(&err)
	for i, qp := range e.QPs() {
		param := c.Param
		if data != nil {
			param.PrivateData = data(i)
		}
		d := rdmacm.Dialer{
			Space: c.space(), QPType: c.Type, Local: p.Local, Control: c.control, Param: &param,
			Timeouts: rdmacm.Timeouts{Connect: c.Timeout, Establish: c.Timeout},
			Setup: func(_ context.Context, id *rdmacm.ID) (*verbs.QP, error) {
				return qp.QP, checkPort(id, e)
			},
		}
		conn, err := dial(ctx, d, p.Remote, c.Timeout)
		if err != nil {
			return nil, fmt.Errorf("queue pair %d: %w", i, err)
		}
		l.conns = append(l.conns, conn)
		if err := c.finish(qp.QP); err != nil {
			return nil, err
		}
		if after != nil {
			if err := after(i, conn); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// retryDelay is the time between two attempts to connect to a listener that does not
// exist yet.
const retryDelay = 50 * time.Millisecond

// dial connects to a listener. It retries for some time while the peer does not listen.
func dial(ctx context.Context, d rdmacm.Dialer, peer rdmacm.Addr, within time.Duration) (*rdmacm.Conn, error) {
	end := time.Now().Add(within)
	for {
		conn, err := d.DialAddr(ctx, peer)
		if err == nil || !noListener(err) || time.Now().After(end) {
			return conn, err
		}
		select {
		case <-time.After(retryDelay):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// statusNoService is the SIDR_REP status for a service ID that does not exist (enum
// ib_cm_sidr_status in the kernel's include/rdma/ib_cm.h).
const statusNoService rdmacm.ServiceStatus = 1

// noListener reports whether a connection failed because the peer does not listen.
func noListener(err error) bool {
	if r, ok := errors.AsType[*rdmacm.RejectError](err); ok {
		return r.Reason == rdmacm.RejectInvalidServiceID
	}
	s, ok := errors.AsType[*rdmacm.ServiceError](err)
	return ok && s.Status == statusNoService
}

// finish sets the attributes that the connection manager does not. iWARP has none.
func (c Config) finish(qp *verbs.QP) error {
	if c.Type != verbs.QPTypeRC || qp.IWARP() {
		return nil
	}
	return qp.Modify(verbs.QPStateRTS, verbs.QPAttr{MinRNRTimer: &c.MinRNRTimer})
}

// closeAfter closes the connections after an error.
func (l *Links) closeAfter(err *error) {
	if *err != nil {
		*err = errors.Join(*err, l.Close())
	}
}

// Datagram returns the destination for a queue pair's datagrams; nil if the peer has
// requested the connection.
func (l *Links) Datagram(i int) *rdmacm.Datagram { return l.conns[i].Datagram() }

// CheckPath compares the paths that the connection manager has selected with the GID and
// the MTU that a test requires. A negative index and MTU 0 are not compared. It returns
// the connections' MTU, 0 for datagrams.
func (l *Links) CheckPath(e *endpoint.Endpoint, gidIndex int, mtu ib.MTU) (selected ib.MTU, err error) {
	for i, qp := range e.QPs() {
		var path verbs.Path
		if qp.QP.Type() == verbs.QPTypeUD {
			d := l.Datagram(i)
			if d == nil { // at a server; its path is its GID's path
				continue
			}
			path = d.Path
		} else {
			status, err := qp.QP.Query()
			if err != nil {
				return 0, err
			}
			path, selected = status.Path, status.PathMTU
			if mtu != 0 && status.PathMTU != mtu {
				return 0, fmt.Errorf("use MTU %v: %w %v", mtu, ErrSelection, status.PathMTU)
			}
		}
		if got := int(path.SGIDIndex); gidIndex >= 0 && path.DGID.IsValid() && got != gidIndex {
			return 0, fmt.Errorf("use GID %d of %s: %w GID %d for this address", gidIndex, e.Port.Device, ErrSelection, got)
		}
	}
	return selected, nil
}

// ErrSelection is wrapped if the connection manager does not select what a test requires.
var ErrSelection = errors.New("the connection manager has selected")

// QKey is the Q_Key for datagram queue pairs (RDMA_UDP_QKEY in the kernel's
// include/rdma/rdma_cm.h).
const QKey = 0x01234567

// Close ends all connections.
func (l *Links) Close() error {
	var errs []error
	for _, conn := range slices.Backward(l.conns) {
		errs = append(errs, conn.Close())
	}
	l.conns = nil
	return errors.Join(errs...)
}

// Finish announces that this side ends and waits until the peer has announced its own, or
// ctx ends. The queue pairs stay ready until then: they acknowledge the peer's messages.
func (l *Links) Finish(ctx context.Context) error {
	for _, conn := range l.conns {
		// This fails if the peer has been first. It answers at its own end.
		_ = conn.ID().Disconnect()
	}
	return l.AwaitEnd(ctx)
}

// AwaitEnd waits until the peer has announced its end, or ctx ends.
func (l *Links) AwaitEnd(ctx context.Context) error {
	for _, conn := range l.conns {
		for ended := false; !ended; {
			e, err := conn.Next(ctx)
			if err != nil {
				return err
			}
			ended = e.Type == rdmacm.EventDisconnected || e.Type == rdmacm.EventDeviceRemoval
		}
	}
	return nil
}

// A Listener accepts queue pair connections.
type Listener struct {
	config Config
	l      *rdmacm.Listener
}

// Listen listens at a local address.
func Listen(local rdmacm.Addr, c Config) (*Listener, error) {
	l, err := rdmacm.ListenConfig{Space: c.space(), QPType: c.Type, Timeout: c.Timeout, Control: c.control}.ListenAddr(local)
	if err != nil {
		return nil, err
	}
	return &Listener{c, l}, nil
}

// Share returns a Listener for a listener in the queue pairs' port space.
func Share(l *rdmacm.Listener, c Config) *Listener { return &Listener{c, l} }

// Addr returns the local address with the port.
func (l *Listener) Addr() rdmacm.Addr { return l.l.Addr() }

// Close stops to listen.
func (l *Listener) Close() error { return l.l.Close() }

// Hooks are called during Accept. Each may be nil.
type Hooks struct {
	// Check returns the queue pair position that a request is for, or an error to reject
	// the request. Without it, requests are for the queue pairs in order.
	Check func(*rdmacm.Request) (int, error)

	// Before and After are called before and after a queue pair is connected.
	Before, After func(i int) error
}

// Accept accepts the connections for all queue pairs in an endpoint. Requests from
// other programs are rejected.
func (l *Listener) Accept(ctx context.Context, e *endpoint.Endpoint, h Hooks) (_ *Links, err error) {
	qps := e.QPs()
	links := &Links{conns: make([]*rdmacm.Conn, 0, len(qps))}
	defer links.closeAfter(&err)
	used := make([]bool, len(qps))
	for len(links.conns) < len(qps) {
		r, err := l.l.Accept(ctx)
		if err != nil {
			return nil, err
		}
		i := len(links.conns)
		if h.Check != nil {
			i, err = h.Check(r)
		}
		if err != nil || i < 0 || i >= len(qps) || used[i] {
			_ = r.Reject(nil) // the program may have given up
			continue
		}
		used[i] = true
		conn, err := l.accept(ctx, r, e, i, h)
		if err != nil {
			return nil, fmt.Errorf("queue pair %d: %w", i, err)
		}
		links.conns = append(links.conns, conn)
	}
	return links, nil
}

// accept accepts a queue pair's connection.
func (l *Listener) accept(ctx context.Context, r *rdmacm.Request, e *endpoint.Endpoint, i int, h Hooks) (*rdmacm.Conn, error) {
	qp := e.QPs()[i].QP
	prepare := func() error {
		if err := checkPort(r.ID(), e); err != nil {
			return err
		}
		if err := r.ID().InitQP(qp); err != nil || h.Before == nil {
			return err
		}
		return h.Before(i)
	}
	if err := prepare(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	param := l.config.Param
	if theirs := r.Param(); l.config.Type == verbs.QPTypeRC {
		param.ResponderResources = min(param.ResponderResources, theirs.ResponderResources)
		param.InitiatorDepth = min(param.InitiatorDepth, theirs.InitiatorDepth)
	}
	conn, err := r.Accept(ctx, qp, &param)
	if err != nil {
		return nil, err
	}
	if err = l.config.finish(qp); err == nil && h.After != nil {
		err = h.After(i)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
