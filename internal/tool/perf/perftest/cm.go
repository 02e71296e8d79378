package perftest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/internal/cmconn"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/cmlink"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// CM are the settings of connections by the connection manager. The programs exchange
// their messages over a queue pair that it has connected (-z), and with QueuePairs it
// connects the queue pairs of the test as well (-R).
type CM struct {
	Server     string // host; ignored by a server
	Port       uint16
	Source     netip.Addr // local address; invalid: any
	QueuePairs bool       // -R
	TOS        *uint8     // -T: type of service of the queue pairs; nil: that of the host
	ACKTimeout *uint8     // -u; nil: that of the connection manager

	// Waiting and Connected, unless nil, are called when a server listens, and when the
	// programs are connected.
	Waiting   func()
	Connected func(net.Conn)
}

// check returns an error if the connection manager does not support a test.
func (c *CM) check(t *Test) error {
	selects := func(text string) error {
		return fmt.Errorf("%s: not supported with queue pairs of the connection manager, which selects it", text)
	}
	switch {
	case c.QueuePairs && t.XRC():
		return errors.New("XRC: the connection manager does not connect its queue pairs")
	case !c.QueuePairs && c.TOS != nil:
		return errors.New("type of service: only the connection manager's queue pairs have it")
	case !c.QueuePairs:
		return nil
	case t.Type == verbs.QPTypeUC:
		return errors.New("UC: not supported by the programs with queue pairs of the connection manager")
	case t.Multicast != nil:
		return errors.New("multicast: not supported by the programs with queue pairs of the connection manager")
	case t.StaticRate != 0:
		return errors.New("rate limit by the device: not supported by the programs with queue pairs of the connection manager")
	case t.SL != 0:
		return selects(fmt.Sprintf("service level %d", t.SL))
	case t.TrafficClass != 0:
		return fmt.Errorf("traffic class %d: queue pairs of the connection manager have a type of service instead", t.TrafficClass)
	case t.FlowLabels != nil:
		return selects("flow labels")
	case t.DLID != 0:
		return selects(fmt.Sprintf("LID %d of the peer", t.DLID))
	case t.PKeyIndex != 0:
		return selects(fmt.Sprintf("P_Key index %d", t.PKeyIndex))
	}
	return nil
}

// A manager makes a side's connections.
type manager struct {
	*CM
	client bool
	within time.Duration // limit of each step

	link      *cmconn.Conn
	listeners []*rdmacm.Listener // of a server: of messages and, for datagrams, of the queue pairs
	links     *cmlink.Links
	datagrams []datagram // destinations by queue pair, of UD
}

// A datagram is the destination of the datagrams of a queue pair.
type datagram struct{ qpn, qkey uint32 }

// connect connects to the program, or waits for its connection.
func (m *manager) connect(ctx context.Context, kind verbs.QPType) (_ *cmconn.Conn, err error) {
	local := rdmacm.IPAddr{AddrPort: netip.AddrPortFrom(m.Source, 0)}
	if m.client {
		peer, err := rdmacm.ResolveAddr(ctx, net.JoinHostPort(m.Server, strconv.Itoa(int(m.Port))))
		if err != nil {
			return nil, err
		}
		d := rdmacm.Dialer{Timeouts: rdmacm.Timeouts{Connect: m.within}}
		if m.Source.IsValid() {
			d.Local = local
		}
		m.link, err = cmconn.Dial(ctx, d, peer)
		return m.link, err
	}
	local.AddrPort = netip.AddrPortFrom(m.Source, m.Port)
	spaces := []rdmacm.PortSpace{rdmacm.PortSpaceTCP}
	if m.QueuePairs && kind == verbs.QPTypeUD {
		spaces = append(spaces, rdmacm.PortSpaceUDP)
	}
	for _, space := range spaces {
		l, err := rdmacm.ListenConfig{Space: space, Timeout: m.within}.ListenAddr(local)
		if err != nil {
			return nil, err
		}
		m.listeners = append(m.listeners, l)
	}
	if m.Waiting != nil {
		m.Waiting()
	}
	r, err := m.listeners[0].Accept(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	m.link, err = cmconn.Accept(ctx, r)
	return m.link, err
}

// close ends the connections of the queue pairs and stops to listen.
func (m *manager) close() error {
	var errs []error
	if m.links != nil {
		errs = append(errs, m.links.Close())
	}
	m.links = nil
	return errors.Join(append(errs, m.closeListeners())...)
}

func (m *manager) closeListeners() error {
	var errs []error
	for _, l := range m.listeners {
		errs = append(errs, l.Close())
	}
	m.listeners = nil
	return errors.Join(errs...)
}

// connectQueuePairs connects the queue pairs of the test. Both sides synchronize before
// and after.
func (s *Session) connectQueuePairs() error {
	if err := s.conn.sync(Key{}, false); err != nil {
		return err
	}
	if err := s.manage(); err != nil {
		return err
	}
	if _, err := s.manager.links.CheckPath(s.end, s.o.GIDIndex, s.test.MTU); err != nil {
		return err
	}
	return s.conn.sync(Key{}, false)
}

// manage connects the queue pairs through the connection manager.
func (s *Session) manage() (err error) {
	m := s.manager
	c := cmlink.Config{
		Type: s.test.Type, MinRNRTimer: minRNRTimer, ACKTimeout: m.ACKTimeout, TOS: m.TOS, Timeout: m.within,
		Param: rdmacm.ConnParam{RetryCount: s.test.RetryCount, RNRRetryCount: rnrRetry},
	}
	if s.test.Verb == Read || s.test.Verb == Atomic {
		c.Param.ResponderResources, c.Param.InitiatorDepth = s.maxRdAtomic(), s.maxRdAtomic()
	}
	m.datagrams = make([]datagram, s.test.QueuePairs)
	ctx, stop := context.WithTimeoutCause(s.ctx, max(m.within, time.Millisecond), os.ErrDeadlineExceeded)
	defer stop()
	if m.client {
		peer, err := rdmacm.ResolveAddr(ctx, s.conn.link.RemoteAddr().String())
		if err != nil {
			return err
		}
		p := cmlink.Peer{Remote: peer}
		if m.Source.IsValid() {
			p.Local = rdmacm.IPAddr{AddrPort: netip.AddrPortFrom(m.Source, 0)}
		}
		m.links, err = cmlink.Dial(ctx, s.end, p, c, nil, s.announce)
		return err
	}
	// Connections, but not datagrams, have the listener of the messages.
	l := cmlink.Share(m.listeners[len(m.listeners)-1], c)
	next := 0
	m.links, err = l.Accept(ctx, s.end, cmlink.Hooks{
		Check: func(r *rdmacm.Request) (int, error) {
			if hostOf(r.Peer()) != hostOf(m.link.RemoteAddr()) {
				return 0, errors.New("request from another host")
			}
			next++
			return next - 1, nil
		},
		Before: s.expectAnnouncement, After: s.awaitAnnouncement(ctx),
	})
	return errors.Join(err, m.closeListeners())
}

// hostOf returns the address of a host without the port.
func hostOf(a net.Addr) netip.Addr {
	if p, err := netip.ParseAddrPort(a.String()); err == nil {
		return p.Addr().Unmap()
	}
	return netip.Addr{}
}

// answers reports whether the server of a test of datagrams sends to the client. It then
// needs the client's address, which the first datagram of a queue pair announces: its
// immediate data is the number of the queue pair.
func (t *Test) answers() bool {
	return t.Type == verbs.QPTypeUD && (!t.Bandwidth || t.Bidirectional)
}

// announcementSize is the size of an announcement, without its immediate data.
const announcementSize = 4

// announce sends the client's address to the server.
func (s *Session) announce(i int, conn *rdmacm.Conn) error {
	d := conn.Datagram()
	if d == nil {
		return nil
	}
	s.manager.datagrams[i] = datagram{d.QPN, d.QKey}
	if i == 0 {
		if err := s.end.SetDestination(d.Path); err != nil {
			return err
		}
	}
	if !s.test.answers() {
		return nil
	}
	qp := s.end.QPs()[i]
	binary.NativeEndian.PutUint32(qp.Out.Bytes, qp.Address.QPN)
	if err := qp.Out.End(0, announcementSize); err != nil {
		return err
	}
	wr := verbs.SendWR{
		Opcode: verbs.OpSendWithImm, Imm: qp.Address.QPN, Flags: verbs.SendSignaled, AH: s.end.AH().Destination(), RemoteQPN: d.QPN, QKey: d.QKey,
		SGEs: []verbs.SGE{{Addr: qp.Out.Addr, Length: announcementSize, LKey: qp.Out.LKey}},
	}
	if _, err := qp.QP.PostSend([]verbs.SendWR{wr}); err != nil {
		return err
	}
	_, err := s.completion(s.ctx)
	return err
}

// expectAnnouncement posts the receive of an announcement.
func (s *Session) expectAnnouncement(i int) error {
	if !s.test.answers() {
		return nil
	}
	qp := s.end.QPs()[i]
	wr := []verbs.RecvWR{{SGEs: []verbs.SGE{{Addr: qp.In.Addr, Length: endpoint.GRH + announcementSize, LKey: qp.In.LKey}}}}
	var err error
	if srq := s.end.Shared(); srq != nil {
		_, err = srq.PostRecv(wr)
	} else {
		_, err = qp.QP.PostRecv(wr)
	}
	return err
}

// awaitAnnouncement returns a function that waits for the announcement of a client.
func (s *Session) awaitAnnouncement(ctx context.Context) func(i int) error {
	return func(i int) error {
		if !s.test.answers() {
			return nil
		}
		c, err := s.completion(ctx)
		if err != nil {
			return fmt.Errorf("receive the address of the client: %w", err)
		}
		// The first connection names the address: all queue pairs of a client have the
		// same.
		if i == 0 {
			in := s.end.QPs()[0].In
			if err := in.Begin(0, endpoint.GRH); err != nil {
				return err
			}
			path, err := s.choice.Port.Context.ReplyPath(c, in.Bytes, s.choice.Port.Number)
			if err != nil {
				return err
			}
			if err := s.end.SetDestination(path); err != nil {
				return err
			}
		}
		status, err := s.end.QPs()[i].QP.Query()
		s.manager.datagrams[i] = datagram{c.Imm, status.QKey}
		return err
	}
}

// pollDelay is the time between two polls for a completion.
const pollDelay = 20 * time.Microsecond

// completion waits for a completion before a test.
func (s *Session) completion(ctx context.Context) (verbs.Completion, error) {
	into := make([]verbs.Completion, 1)
	for {
		n, err := s.end.Groups[0].CQ.Poll(into)
		switch {
		case err != nil:
			return into[0], err
		case n > 0:
			return into[0], into[0].Err()
		case ctx.Err() != nil:
			return into[0], context.Cause(ctx)
		}
		time.Sleep(pollDelay)
	}
}

// hangUp waits until the peer of a test without a last synchronization has ended: the
// queue pairs acknowledge its last message until then.
func (m *manager) hangUp(ctx context.Context) error {
	if m.within > 0 {
		limited, stop := context.WithTimeoutCause(ctx, m.within, os.ErrDeadlineExceeded)
		defer stop()
		ctx = limited
	}
	if m.links == nil {
		return m.link.Finish(ctx)
	}
	err := m.links.Finish(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}
