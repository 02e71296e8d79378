package perf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
	"github.com/ibkit/ibkit/internal/tool/perf/pingpong"
	"github.com/ibkit/ibkit/internal/tool/perf/stats"
)

// A Program is a family of programs other than ibkit.
type Program string

// Families of programs.
const (
	Perftest Program = "perftest" // ib_send_lat and others
	Pingpong Program = "pingpong" // ibv_rc_pingpong and others
)

// PeerOptions are the settings of RunPeer. The tests must be what a single program
// runs: a test with a single size or, for perftest, with all sizes of its option -a.
type PeerOptions struct {
	Options
	Program Program
	Margin  time.Duration // perftest by time: uncounted time at each end; negative: the default of the programs
	Shared  int           // pingpong: queue pairs with a shared receive queue; 0: a single queue pair

	// Listen, unless nil, makes this side the server: it waits for the program at the
	// listener, and ignores Server. RunPeer calls it once the device is usable.
	Listen func(context.Context) (net.Listener, error)

	// Manage are the local address and the port of a server for a test with CM. Listen
	// is not called then.
	Manage *perftest.CM
}

// RunPeer runs a test with a program, which must have been started with the same
// settings. It returns the measurements until then together with an error, nil only if a
// test is invalid.
func RunPeer(ctx context.Context, o PeerOptions) (*Result, error) {
	for _, t := range o.Tests {
		if err := errors.Join(t.Check(), o.check(t)); err != nil {
			return nil, err
		}
	}
	o.Tests = o.programTests()
	p := &peerRun{o: o, result: &Result{Client: o.Identity}}
	p.result.ClockSource, p.result.ClockCost = loop.ClockSource(!o.CPUs.Off)
	run := p.perftest
	if o.Program == Pingpong {
		run = p.pingpong
	}
	err := run(ctx)
	if p.conn == nil {
		p.result.NotBegun = o.Tests
	} else if err != nil {
		err = fmt.Errorf("measure %v with %s: %w", o.Tests[0], o.Program, err)
	}
	return p.result, err
}

// A peerRun is a test with a program.
type peerRun struct {
	o      PeerOptions
	conn   net.Conn
	local  host.PortInfo
	cpus   []int
	result *Result
}

// server reports whether this side is the server.
func (p *peerRun) server() bool { return p.o.Listen != nil }

// connect connects to the program or accepts its connection.
func (p *peerRun) connect(ctx context.Context) (_ net.Conn, err error) {
	if p.server() {
		p.conn, err = accept(ctx, p.o.Listen)
	} else {
		p.conn, err = dial(ctx, p.o.Server, perftest.Port, p.o.program())
	}
	if err != nil {
		return nil, err
	}
	p.connected(p.conn)
	return p.conn, nil
}

// connected records both ends of a connection.
func (p *peerRun) connected(conn net.Conn) {
	p.conn = conn
	other := &p.result.Server
	if p.server() {
		p.result.Client, p.result.Server = host.Identity{}, p.o.Identity
		other = &p.result.Client
	}
	*other = host.Identity{Program: string(p.o.Program), Host: addressOf(conn)}
}

// manager returns the settings of the connection manager, nil for a test without it.
func (p *peerRun) manager() (*perftest.CM, error) {
	t := p.o.Tests[0]
	if !t.CM {
		return nil, nil
	}
	var cm perftest.CM
	if p.server() {
		cm = *p.o.Manage
	} else {
		server, text, err := net.SplitHostPort(address(p.o.Server, perftest.Port))
		if err != nil {
			return nil, err
		}
		number, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("parse port %q: %w", text, err)
		}
		cm.Server, cm.Port = server, uint16(number)
	}
	cm.QueuePairs, cm.ACKTimeout, cm.Connected = true, &t.Timeout, p.connected
	if t.TOS != 0 {
		cm.TOS = &t.TOS
	}
	return &cm, nil
}

// accept accepts a connection.
func accept(ctx context.Context, listen func(context.Context) (net.Listener, error)) (net.Conn, error) {
	l, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	conn, err := l.Accept()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return conn, err
}

// addressOf returns the address of the peer.
func addressOf(conn net.Conn) string {
	if a, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		return a.Addr().Unmap().String()
	}
	return conn.RemoteAddr().String()
}

// peer returns the identity of the program.
func (p *peerRun) peer() *host.Identity {
	if p.server() {
		return &p.result.Client
	}
	return &p.result.Server
}

// add adds a measurement.
func (p *peerRun) add(m Measurement, err error) {
	if err != nil {
		m.Partial, m.Err = true, err
	}
	p.result.Measurements = append(p.result.Measurements, m)
	if p.o.Done != nil {
		p.o.Done(&m)
	}
}

// measurement returns a measurement with both ends.
func (p *peerRun) measurement(t Test, other host.PortInfo) Measurement {
	m := Measurement{Test: t, Client: p.local, Server: other}
	if p.server() {
		m.Client, m.Server = m.Server, m.Client
	}
	return m
}

// own returns this side's part of a measurement.
func (p *peerRun) own(m *Measurement) *Side {
	if p.server() {
		return &m.ServerSide
	}
	return &m.ClientSide
}

// remoteEnds describes the peer's port.
func (p *peerRun) remoteEnds(program string, lid ib.LID, gid netip.Addr) host.PortInfo {
	e := host.PortInfo{Device: program, Link: p.local.Link, LID: lid, GIDIndex: -1}
	if gid.IsValid() && p.local.GID.IsValid() {
		e.GID, e.GIDType = gid, p.local.GIDType
	}
	return e
}

// perftestTest returns the test with all its sizes.
func (p *peerRun) perftestTest() perftest.Test {
	test := p.o.Tests[0].Perftest()
	test.All, test.Sizes = len(p.o.Tests) > 1, nil
	for _, t := range p.o.Tests {
		test.Sizes = append(test.Sizes, t.Size)
	}
	if p.o.Tests[0].Inline {
		test.Inline = slices.Max(test.Sizes)
	}
	test.Margin = p.o.margin(p.o.Tests[0])
	return test
}

// perftest runs the test with a program of perftest.
func (p *peerRun) perftest(ctx context.Context) error {
	test := p.perftestTest()
	var session *perftest.Session
	add := func(r *perftest.Result, err error) {
		t := p.o.Tests[0]
		t.Size = r.Size
		m := p.measurement(t, p.remoteEnds(test.Program(), session.Remote[0].LID, session.Remote[0].GID))
		m.MTU = session.MTU()
		p.fill(&m, test, r)
		p.add(m, err)
	}
	manager, err := p.manager()
	if err != nil {
		return err
	}
	var last *perftest.Result // only the next step shows whether it is complete
	err = perftest.Run(ctx, perftest.Options{
		Test: test, Device: p.o.Device, Port: p.o.Port, GIDIndex: p.o.GIDIndex, CPUs: p.o.CPUs, Memory: p.o.Memory,
		Connect: p.connect, Client: !p.server(), CM: manager, PeerTimeout: responseTime,
		Begin: func(s *perftest.Session) error {
			session, p.cpus = s, s.CPUs
			p.local = s.Local()
			p.peer().Program = "perftest " + s.PeerVersion
			return nil
		},
		Done: func(r perftest.Result) {
			if last != nil {
				add(last, nil)
			}
			last = &r
		},
	})
	switch {
	case last != nil:
		add(last, err)
	case err == nil: // a passive server has no figures of reads and atomics
		for _, size := range test.Sizes {
			add(&perftest.Result{Size: size}, nil)
		}
	}
	return err
}

// fill sets the figures of a size.
func (p *peerRun) fill(m *Measurement, test perftest.Test, r *perftest.Result) {
	own := p.own(m)
	*own = Side{Elapsed: r.LoopTime, User: r.User, System: r.System, CPUs: p.cpus}
	if !test.Bandwidth {
		m.Latency = r.Samples
		if r.Samples != nil {
			own.Sent = []uint64{r.Messages}
		}
		return
	}
	ours := &Throughput{Messages: r.Messages, Bytes: r.Bytes(), Elapsed: r.Elapsed}
	for _, rate := range r.Rates {
		m.Windows = append(m.Windows, part(rate, r.Size))
	}
	ours.setExtremes(m.Windows)
	var theirs *Throughput
	if r.Theirs != nil {
		theirs = reported(r.Theirs)
	}
	switch {
	case !p.server():
		own.Sent, m.Sent, m.Reverse = []uint64{r.Messages}, ours, theirs
	case test.Bidirectional:
		own.Sent, m.Sent, m.Reverse = []uint64{r.Messages}, theirs, ours
	case test.Verb == perftest.Send: // the client does not report its figures
		own.Received, m.Sent, m.Received = []uint64{r.Messages}, ours, ours
	default:
		m.Sent = theirs
	}
}

// reported converts the figures of a program, which are in MiB/s. It returns nil for
// figures that are meaningless: a passive server reports zeros, and a program that does
// not find the frequency of its processor divides by zero.
func reported(r *perftest.Report) *Throughput {
	const mebi = 1 << 20
	messages := float64(r.Iterations)
	ns := messages * float64(r.Size) / (r.Average * mebi) * 1e9
	if !(r.Average > 0) || !(ns >= 1 && ns < float64(maxDuration)) || !(messages*float64(r.Size) < 1<<63) {
		return nil
	}
	t := &Throughput{Messages: r.Iterations, Elapsed: time.Duration(ns)}
	t.Bytes = t.Messages * r.Size
	if r.Peak > 0 && !math.IsInf(r.Peak, 0) {
		t.Peak = r.Peak * mebi
	}
	return t
}

// pingpong runs the test with an example program of libibverbs.
func (p *peerRun) pingpong(ctx context.Context) (err error) {
	conn, choice, err := port.Connect(ctx, p.o.Device, p.o.Port, port.Selector{Index: p.o.GIDIndex}, p.connect)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, choice.Port.Close(), conn.Close()) }()
	p.local = choice.Info(p.o.Memory)
	var release func()
	p.cpus, _, release = p.o.CPUs.Reserve(choice.Port.Device, 1, port.LeaveToPeer(p.o.CPUs, choice.Port, conn, !p.server()))
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	monitor := port.Monitor{Port: choice.Port}
	monitor.Start(ctx, cancel)

	t := p.o.Tests[0]
	samples := stats.NewSamples()
	test := p.o.pingpongTest(t)
	test.Sample = func(d time.Duration) { samples.Add(int64(d)) }
	place := pingpong.Place{Context: choice.Port.Context, Port: choice.Port.Number, GIDIndex: p.local.GIDIndex}
	cpu := loop.NoCPU
	if len(p.cpus) > 0 {
		cpu = p.cpus[0]
	}
	var r pingpong.Result
	used, err := loop.Pinned(cpu, func() error {
		var err error
		connected := func(context.Context) (net.Conn, error) { return conn, nil }
		r, err = pingpong.Run(ctx, connected, !p.server(), place, test)
		return err
	})
	err = monitor.Explain(err)
	if !r.Connected {
		return err
	}
	m := p.measurement(t, p.remoteEnds(p.o.program(), r.PeerLID, r.PeerGID))
	m.MTU, m.Latency = test.MTU.Bytes(), samples
	if test.MTU == 0 { // UD uses the MTU of the port
		m.MTU = choice.Port.Attr.ActiveMTU.Bytes()
	}
	*p.own(&m) = Side{
		Elapsed: used.Elapsed, User: used.User, System: used.System, CPUs: p.cpus,
		Sent: []uint64{uint64(r.Iterations)}, Verified: t.Verify && r.Corrupt == 0,
	}
	if r.Corrupt > 0 {
		err = errors.Join(err, fmt.Errorf("%w: %d of %d replies differ from their messages", loop.ErrCorrupt, r.Corrupt, r.Iterations))
	}
	p.add(m, err)
	return err
}
