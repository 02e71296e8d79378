package perf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/perftest"
	"github.com/ibkit/ibkit/perf/pingpong"
	"github.com/ibkit/ibkit/perf/port"
)

// A Program is whose programs are at the other side.
type Program string

// Programs that are no ibkit.
const (
	Perftest Program = "perftest"
	Pingpong Program = "pingpong"
)

// PeerOptions are what is wanted of a test with a program that is no ibkit: one
// test, with one size, or all of those that the program does. It has to be started
// with the same. Server is where it listens, unless Listener is there.
type PeerOptions struct {
	Options
	Program  Program
	Listener net.Listener  // the program connects to this side
	Margin   time.Duration // perftest, by time: what does not count at either end
	Shared   int           // pingpong: queue pairs with one receive queue; 0: one with its own
}

// RunPeer does a test with a program. What was measured until an error comes with
// it.
func RunPeer(ctx context.Context, o PeerOptions) (_ *Result, err error) {
	for _, t := range o.Tests {
		if err := errors.Join(t.Check(), o.check(t)); err != nil {
			return nil, err
		}
	}
	o.Tests = o.settled()
	conn, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ports, err := port.OpenAll(o.Device, o.Port)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, port.CloseAll(ports)) }()
	choice, err := o.choose(ports, conn)
	if err != nil {
		return nil, err
	}
	p := &peerRun{o: o, choice: choice, conn: conn}
	p.result = &Result{Client: o.Identity}
	p.result.ClockSource, p.result.ClockCost = loop.ClockSource(!o.CPUs.Off)
	other := &p.result.Server
	if o.Listener != nil {
		p.result.Client, p.result.Server = Identity{}, o.Identity
		other = &p.result.Client
	}
	*other = Identity{Program: string(o.Program), Host: host(conn)}
	var release func()
	p.cpus, _, release = o.CPUs.reserve(choice.Port.Device, 1, o.others(choice.Port.Device, conn))
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	device := port.Watch{Port: choice.Port}
	device.Begin(ctx, cancel)
	if o.Program == Pingpong {
		err = p.pingpong(ctx)
	} else {
		err = p.perftest(ctx, other)
	}
	if err = device.Explain(err); err != nil {
		err = fmt.Errorf("measure %v with %s: %w", o.Tests[0], o.Program, err)
	}
	return p.result, err
}

// connect reaches the program, or waits for it.
func (o PeerOptions) connect(ctx context.Context) (net.Conn, error) {
	if o.Listener != nil {
		stop := context.AfterFunc(ctx, func() { _ = o.Listener.Close() }) // Accept returns
		defer stop()
		conn, err := o.Listener.Accept()
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return conn, err
	}
	return dial(ctx, o.Server, perftest.Port, o.program())
}

// host is the other side's address.
func host(conn net.Conn) string {
	if a, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		return a.Addr().Unmap().String()
	}
	return conn.RemoteAddr().String()
}

// others are processors that this side leaves to the other one. They cannot agree on
// that, so on one host a client leaves those that a server of this program takes.
func (o PeerOptions) others(device string, conn net.Conn) []int {
	own, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if o.Listener != nil || err != nil || own.Addr().Unmap().String() != host(conn) {
		return nil
	}
	cpus, _ := o.CPUs.pick(device, 1, nil)
	return cpus
}

// choose picks the port and the GID for the way to the other side.
func (o PeerOptions) choose(ports []*port.Port, conn net.Conn) (port.Choice, error) {
	a, err := netip.ParseAddr(host(conn))
	if err != nil {
		return port.Choice{}, fmt.Errorf("take %v for an address: %w", conn.RemoteAddr(), err)
	}
	c, err := port.ChooseFor(ports, a, o.GIDIndex, port.Routes)
	if ib := port.InfiniBand(ports); err != nil && ib != nil && o.GIDIndex < 0 {
		return port.Choice{Port: ib}, nil
	}
	return c, err
}

// A peerRun is a test with a program.
type peerRun struct {
	o      PeerOptions
	choice port.Choice
	conn   net.Conn
	cpus   []int
	result *Result
}

// add adds what was measured with a size.
func (p *peerRun) add(m Measurement, err error) {
	if err != nil {
		m.Partial, m.Err = true, err
	}
	p.result.Measurements = append(p.result.Measurements, m)
	if p.o.Done != nil {
		p.o.Done(&m)
	}
}

// measurement is one with both ends filled in.
func (p *peerRun) measurement(t Test, other Ends) Measurement {
	m := Measurement{Test: t, Client: ends(p.choice), Server: other}
	if p.o.Listener != nil {
		m.Client, m.Server = m.Server, m.Client
	}
	return m
}

// own is this side's part of a measurement.
func (p *peerRun) own(m *Measurement) *Side {
	if p.o.Listener != nil {
		return &m.ServerSide
	}
	return &m.ClientSide
}

// otherEnds are where the other side's queue pair is.
func (p *peerRun) otherEnds(program string, lid uint16, gid netip.Addr) Ends {
	own := ends(p.choice)
	e := Ends{Device: program, Link: own.Link, LID: lid}
	if gid.IsValid() && own.GID.IsValid() {
		e.GID, e.GIDType, e.GIDIndex = gid, own.GIDType, -1
	}
	return e
}

func (p *peerRun) cpu() int {
	if len(p.cpus) == 0 {
		return loop.NoCPU
	}
	return p.cpus[0]
}

// perftestTest is the test with all its sizes, as this side does it.
func (p *peerRun) perftestTest() perftest.Test {
	test := p.o.Tests[0].Perftest()
	test.All, test.Sizes = len(p.o.Tests) > 1, nil
	for _, t := range p.o.Tests {
		test.Sizes = append(test.Sizes, t.Size)
	}
	if p.o.Tests[0].Inline {
		test.Inline = slices.Max(test.Sizes)
	}
	test.Margin, test.CPU = p.o.Margin, p.cpu()
	return test
}

// perftest does the test with one of perftest's programs.
func (p *peerRun) perftest(ctx context.Context, other *Identity) error {
	place, err := perftest.PlaceAt(p.choice.Port, p.gidIndex())
	if err != nil {
		return err
	}
	test := p.perftestTest()
	c := perftest.NewConn(p.conn, p.o.Listener == nil, answerTime)
	s, err := perftest.Start(ctx, c, place, test)
	if err != nil {
		return err
	}
	other.Program = "perftest " + c.Peer().Version
	add := func(r *perftest.Result, err error) {
		t := p.o.Tests[0]
		t.Size = r.Size
		m := p.measurement(t, p.otherEnds(test.Program(), s.Remote[0].LID, s.Remote[0].GID))
		m.MTU = ib.MTU(s.Agreed.MTU).Bytes()
		p.fill(&m, test, r)
		p.add(m, err)
	}
	var last *perftest.Result // whether it is whole is only known by what comes after it
	err = s.Run(func(r perftest.Result) {
		if last != nil {
			add(last, nil)
		}
		last = &r
	})
	switch {
	case last != nil:
		add(last, err)
	case err == nil: // the client of reads and atomics alone has their times
		for _, size := range test.Sizes {
			add(&perftest.Result{Size: size}, nil)
		}
	}
	return errors.Join(err, s.Close())
}

// gidIndex is that of this side's GID, -1 if it has none.
func (p *peerRun) gidIndex() int {
	if !p.choice.Local.Addr.IsValid() {
		return -1
	}
	return int(p.choice.Index)
}

// fill takes what was measured with a size.
func (p *peerRun) fill(m *Measurement, test perftest.Test, r *perftest.Result) {
	own := p.own(m)
	*own = Side{Elapsed: r.Elapsed, User: time.Duration(r.CPU.User), System: time.Duration(r.CPU.System), CPUs: p.cpus}
	if !test.Bandwidth {
		m.Latency = r.Samples
		if r.Samples != nil {
			own.Elapsed = time.Duration(r.Samples.Avg() * float64(r.Samples.Count))
			own.Sent = []uint64{r.Messages}
		}
		return
	}
	ours := &Throughput{Messages: r.Messages, Bytes: r.Bytes(), Elapsed: r.Elapsed}
	for _, rate := range r.Rates {
		m.Windows = append(m.Windows, part(rate, r.Size))
	}
	ours.extremes(m.Windows)
	var theirs *Throughput
	if r.Theirs != nil {
		theirs = reported(r.Theirs, test.QueuePairs)
	}
	switch {
	case p.o.Listener == nil:
		own.Sent, m.Sent, m.Reverse = []uint64{r.Messages}, ours, theirs
	case test.Bidirectional:
		own.Sent, m.Sent, m.Reverse = []uint64{r.Messages}, theirs, ours
	case test.Verb == perftest.Send: // the client does not tell its figures
		own.Received, m.Sent, m.Received = []uint64{r.Messages}, ours, ours
	default:
		m.Sent = theirs
	}
}

// reported are the figures that a program sends, in MiB/s; nil of those that are
// none: a server that only served has zeros, and a program that finds no frequency
// of its processor divides by zero.
func reported(r *perftest.Report, qps int) *Throughput {
	const mebi = 1 << 20
	messages := float64(r.Iterations) * float64(qps)
	ns := messages * float64(r.Size) / (r.Average * mebi) * 1e9
	if !(r.Average > 0) || !(ns >= 1 && ns < float64(maxDuration)) || !(messages*float64(r.Size) < 1<<63) {
		return nil
	}
	t := &Throughput{Messages: r.Iterations * uint64(qps), Elapsed: time.Duration(ns)}
	t.Bytes = t.Messages * r.Size
	if r.Peak > 0 && !math.IsInf(r.Peak, 0) {
		t.Peak = r.Peak * mebi
	}
	return t
}

// pingpong does the test with one of libibverbs' examples.
func (p *peerRun) pingpong(ctx context.Context) error {
	t := p.o.Tests[0]
	samples := loop.NewSamples()
	test := p.o.pingpongTest(t)
	test.Sample = func(d time.Duration) { samples.Add(int64(d)) }
	place := pingpong.Place{Context: p.choice.Port.Context, Port: p.choice.Port.Number, GIDIndex: p.gidIndex()}
	var r pingpong.Result
	used, err := loop.Pinned(p.cpu(), func() error {
		var err error
		r, err = pingpong.Run(ctx, p.conn, p.o.Listener == nil, place, test)
		return err
	})
	if len(r.Remote) == 0 {
		return err
	}
	m := p.measurement(t, p.otherEnds(p.o.program(), r.Remote[0].LID, r.Remote[0].GID))
	m.MTU, m.Latency = test.MTU.Bytes(), samples
	if test.MTU == 0 { // a datagram is as long as it is
		m.MTU = p.choice.Port.Attr.ActiveMTU.Bytes()
	}
	*p.own(&m) = Side{
		Elapsed: r.Elapsed, User: time.Duration(used.User), System: time.Duration(used.System), CPUs: p.cpus,
		Sent: []uint64{uint64(r.Iterations)}, Verified: t.Verify && r.Corrupt == 0,
	}
	if r.Corrupt > 0 {
		err = errors.Join(err, fmt.Errorf("%w: %d of %d messages did not come back as they went", loop.ErrCorrupt, r.Corrupt, r.Iterations))
	}
	p.add(m, err)
	return err
}
