package perftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/multicast"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/internal/tool/perf/memory"
	"github.com/ibkit/ibkit/verbs"
)

// Options are the settings of Run.
type Options struct {
	Test Test

	Device   string // "": the device that reaches the peer
	Port     uint8  // 0: the first active port
	GIDIndex int    // negative: the best
	IPv6     bool   // no GID of an IPv4 address
	Link     string // "" or the required link layer, such as "Ethernet"
	CPUs     host.CPUs
	Memory   memory.Source

	// Connect connects to the program, which is a server if Client is set, and
	// otherwise accepts its connection. Run calls it once the device is usable.
	Connect func(context.Context) (net.Conn, error)
	Client  bool

	// CM, unless nil, makes the connection manager connect. Connect is not called then.
	CM *CM

	// PeerTimeout is the time after which a silent peer counts as gone.
	PeerTimeout time.Duration

	// Begin, Connected and Done, unless nil, are called when the local queue pairs
	// exist, when they are connected, and after each size. An error of Begin ends the
	// test. If the test fails, the last call of Done has the figures until then and is
	// marked as partial. An endless test calls Done for each interval, on another
	// goroutine.
	Begin     func(*Session) error
	Connected func(*Session)
	Done      func(Result)

	// Ended, unless nil, is called after the test, before the release of its objects.
	Ended func()

	// Warn, unless nil, is called with the warnings that the programs print.
	Warn func(string)
}

// A Session is a test with a program.
type Session struct {
	Keys, Remote []Key // of the queue pairs; Remote is set when they are connected
	Agreed       Layout
	PeerVersion  string // of the protocol
	CPUs         []int  // of the loop; empty: any

	conn    *conn
	manager *manager // nil without Options.CM
	o       Options
	test    Test
	choice  port.Choice
	end     *endpoint.Endpoint
	ctx     context.Context
	posted  bool // receives are posted
	members []*multicast.Member

	result Result // of the current size
}

// Local describes the local port and memory.
func (s *Session) Local() host.PortInfo { return s.choice.Info(s.o.Memory) }

// IWARP reports whether the local device is an iWARP device.
func (s *Session) IWARP() bool { return s.choice.Port.Context.IWARP() }

// MTU returns the agreed MTU in bytes.
func (s *Session) MTU() int { return ib.MTU(s.Agreed.MTU).Bytes() }

// Run measures with a program of perftest.
func Run(ctx context.Context, o Options) (err error) {
	s := &Session{o: o, test: o.Test}
	if err := s.test.Check(); err != nil {
		return err
	}
	connect := o.Connect
	if o.CM != nil {
		if err := o.CM.check(&s.test); err != nil {
			return err
		}
		s.manager = &manager{CM: o.CM, client: o.Client, within: o.PeerTimeout}
		defer func() { err = errors.Join(err, s.manager.closeListeners()) }()
		connect = s.managerConnect
	}
	c, choice, err := port.Connect(ctx, o.Device, o.Port, port.Selector{Index: o.GIDIndex, IPv6: o.IPv6}, connect)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	s.choice = choice
	if got := choice.Port.Attr.LinkLayer.String(); o.Link != "" && o.Link != got {
		return errors.Join(fmt.Errorf("use %s/%d: its link layer is %s, want %s", choice.Port.Device, choice.Port.Number, got, o.Link), choice.Port.Close())
	}
	s.conn = newConn(c, o.Client, o.PeerTimeout)
	s.conn.managed = o.CM != nil && o.CM.QueuePairs
	cpus, _, release := o.CPUs.Reserve(choice.Port.Device, 1, port.LeaveToPeer(o.CPUs, choice.Port, c, o.Client))
	defer release()
	s.CPUs = cpus
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.ctx = ctx
	monitor := port.Monitor{Port: choice.Port}
	monitor.Start(ctx, cancel)
	defer func() { err = errors.Join(err, s.close()) }()
	return monitor.Explain(s.cause(s.run()))
}

// close releases all objects and the port.
func (s *Session) close() error {
	if s.o.Ended != nil {
		s.o.Ended()
	}
	var errs []error
	if s.manager != nil {
		errs = append(errs, s.manager.close())
	}
	for _, m := range s.members {
		errs = append(errs, m.Close())
	}
	if s.end != nil {
		errs = append(errs, s.end.Close())
	} else {
		errs = append(errs, s.choice.Port.Close())
	}
	return errors.Join(errs...)
}

// managerConnect connects to the program through the connection manager.
func (s *Session) managerConnect(ctx context.Context) (net.Conn, error) {
	c, err := s.manager.connect(ctx, s.test.Type)
	if err != nil {
		return nil, err
	}
	if connected := s.manager.Connected; connected != nil {
		connected(c)
	}
	return c, nil
}

// run runs the test.
func (s *Session) run() error {
	stop := context.AfterFunc(s.ctx, func() { _ = s.conn.abort() })
	defer stop()
	if err := s.begin(); err != nil {
		return err
	}
	if s.o.Begin != nil {
		if err := s.o.Begin(s); err != nil {
			return err
		}
	}
	err := s.conn.session(s.test.Order, s.Keys, driver{s}, func(size int, theirs *Report) {
		r := s.result
		if r.Size == 0 { // a passive server
			r.Size = size
		}
		r.Theirs = theirs
		s.result = Result{}
		s.done(r)
	})
	if err != nil && s.result.Messages > 0 {
		s.result.Partial = true
		s.done(s.result)
	}
	return err
}

func (s *Session) done(r Result) {
	if s.o.Done != nil {
		s.o.Done(r)
	}
}

// cacheLine is the size of a cache line of this side. If the peer's is larger, both
// sides use that.
const cacheLine = 64

// begin negotiates the layout and creates queue pairs and memory.
func (s *Session) begin() error {
	mtu := s.choice.Port.Attr.ActiveMTU
	if s.test.MTU > mtu {
		return fmt.Errorf("use MTU %v: the port supports %v", s.test.MTU, mtu)
	}
	if s.test.MTU != 0 {
		mtu = s.test.MTU
	}
	if s.IWARP() && s.test.Verb == Send && s.test.Bandwidth {
		return fmt.Errorf("measure the bandwidth of sends on %s: %w", s.choice.Port.Device, ErrCredits)
	}
	if s.IWARP() && s.test.Imm {
		return fmt.Errorf("write with immediate data on %s: not supported on iWARP", s.choice.Port.Device)
	}
	var err error
	s.Agreed, err = s.conn.begin(Layout{Page: uint32(os.Getpagesize()), CacheLine: cacheLine, MTU: uint8(mtu)})
	s.PeerVersion = s.conn.peer.version
	if remark := s.conn.peer.unknown(); remark != "" && s.o.Warn != nil {
		s.o.Warn(" Warning: " + remark + "\n")
	}
	if err != nil {
		return err
	}
	if err := s.fitSizes(); err != nil {
		return err
	}
	if n := s.choice.Port.Context.CompVectors(); uint32(s.test.Vector) >= max(1, n) {
		return fmt.Errorf("use completion vector %d of %s: the device has %d", s.test.Vector, s.choice.Port.Device, n)
	}
	if s.end, err = endpoint.New(s.choice.Port, s.options()); err != nil {
		if s.test.OnDemand {
			err = fmt.Errorf("use on-demand paging, which the device may not support: %w", err)
		}
		return err
	}
	if s.conn.managed {
		if err := s.connectQueuePairs(); err != nil {
			return err
		}
	}
	s.Keys = s.keys()
	if s.test.Multicast != nil {
		return s.joinGroup(&s.Keys[0])
	}
	return nil
}

// ErrCredits is wrapped for ib_send_bw tests on iWARP, a transport without a signal for a
// receiver that is late: the program then writes credits to the memory of the sender.
var ErrCredits = errors.New("not supported on iWARP, where ib_send_bw needs credits")

// fitSizes reduces the sizes of datagrams to the MTU of both sides or, over SRD, to the
// port's limit of a message. perftest prints the same notices.
func (s *Session) fitSizes() error {
	limit, notice, name := s.MTU(), " Max msg size in UD is MTU %d\n Changing to this MTU\n", "the MTU of both sides"
	if s.test.Type == verbs.QPTypeSRD {
		limit, notice, name = int(s.choice.Port.Attr.MaxMsgSize), " Max msg size is %d\n Changing to this size\n", "the limit of the port"
	}
	size := s.test.Sizes[0]
	switch {
	case !s.test.fitDatagrams(limit):
	case s.test.SizeGiven && !s.test.All:
		return fmt.Errorf("send datagrams of %d bytes: %s is %d", size, name, limit)
	case s.o.Warn != nil:
		s.o.Warn(fmt.Sprintf(notice, limit))
	}
	return nil
}

// A MismatchError is a failure that different settings of both sides would explain.
type MismatchError struct {
	Program string // that should be the peer
	GID     bool   // the peer must send its GID without an Ethernet port: EFA
	Err     error
}

func (e *MismatchError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *MismatchError) Unwrap() error { return e.Err }

// cause returns the reason of an error: the end of the context, or a peer that may have
// other settings.
func (s *Session) cause(err error) error {
	switch {
	case err == nil:
		return nil
	case s.ctx.Err() != nil:
		return context.Cause(s.ctx)
	case errors.Is(err, peererr.ErrClosed), errors.Is(err, peererr.ErrTimeout), errors.Is(err, loop.ErrStalled), errors.Is(err, errFinished),
		errors.As(err, new(*verbs.CompletionError)):
		if remark := s.conn.peer.unknown(); remark != "" {
			err = fmt.Errorf("%w: %s", err, remark)
		}
		return &MismatchError{s.test.Program(), s.choice.Port != nil && s.choice.Port.Attr.LinkLayer == ib.LinkLayerUnspecified, err}
	}
	return err
}

// maxRdAtomic returns the number of reads or atomics that this side answers at a time;
// 1 for other tests.
func (s *Session) maxRdAtomic() uint8 {
	if s.test.Verb != Read && s.test.Verb != Atomic {
		return 1
	}
	n := int(min(s.choice.Port.Limits.MaxQPRdAtom, math.MaxUint8))
	if s.test.OutReads > 0 {
		n = min(n, s.test.OutReads)
	}
	return uint8(n)
}

// receives returns the number of receives posted to a queue pair.
func (s *Session) receives() int {
	switch {
	case !s.test.Consumes(), s.test.Bandwidth && !s.test.Bidirectional && s.leads():
		return 0
	}
	return s.test.RxDepth
}

// leads reports whether this side is the active side.
func (s *Session) leads() bool { return s.test.leads(s.o.Client) }

// slots returns the size of the memory of a queue pair. The programs all use a page for
// small messages to cycle through, or the largest message.
func (s *Session) slots() int {
	return max(int(s.Agreed.Page), slices.Max(s.test.Sizes))
}

func (s *Session) options() endpoint.Options {
	o := endpoint.Options{
		Type: s.test.Type, Groups: 1, GroupSize: s.test.QueuePairs, Depth: s.test.depth(), RecvDepth: s.receives(),
		Out: s.slots(), In: s.slots() + int(s.Agreed.CacheLine), Inline: s.test.Inline, Events: s.test.Events,
		Vector: uint32(s.test.Vector), Memory: s.o.Memory, Huge: s.test.Huge,
		Polled:   s.test.Verb == Write && !s.test.Bandwidth && !s.test.Imm,
		Separate: s.test.RegionPerQP, Shared: s.test.XRC() || s.test.SharedReceives && s.receives() > 0,
		OutAccess: verbs.AccessLocalWrite, InAccess: verbs.AccessLocalWrite,
	}
	if s.test.OnDemand {
		o.OutAccess |= verbs.AccessOnDemand
		o.InAccess |= verbs.AccessOnDemand
	}
	switch s.test.Verb {
	case Write:
		o.InAccess |= verbs.AccessRemoteWrite
		o.QPAccess = verbs.AccessRemoteWrite
	case Read:
		o.InAccess |= verbs.AccessRemoteRead
		o.QPAccess = verbs.AccessRemoteRead
	case Atomic:
		o.InAccess |= verbs.AccessRemoteAtomic
		o.QPAccess = verbs.AccessRemoteAtomic
	}
	return o
}

// Parameters of all queue pairs: retries without end if no receive is posted, with a
// delay of 0.64 ms.
const (
	rnrRetry    = 7
	minRNRTimer = 12
)

// link returns the connection to a remote queue pair.
func (s *Session) link(remote Key) endpoint.Link {
	return endpoint.Link{
		GID: remote.GID, GIDIndex: s.choice.Index, LID: cmp.Or(s.test.DLID, remote.LID), MTU: ib.MTU(s.Agreed.MTU),
		SL: s.test.SL, TrafficClass: s.test.TrafficClass, FlowLabels: s.test.FlowLabels, StaticRate: s.test.StaticRate, HopLimit: HopLimit, PKeyIndex: s.test.PKeyIndex,
		Timeout: s.test.Timeout, RetryCount: s.test.RetryCount, RNRRetry: rnrRetry, MinRNRTimer: minRNRTimer,
		MaxRdAtomic: uint8(min(uint32(s.maxRdAtomic()), remote.OutReads)), MaxDestRdAtomic: s.maxRdAtomic(), QKey: qkey,
	}
}
