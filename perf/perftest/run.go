package perftest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/ibkit/ibkit/perf/endpoint"
	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/port"
	"github.com/ibkit/ibkit/verbs"
)

// A Place is the port of this host, and the GID of it that the test uses.
type Place struct {
	Port *port.Port
	GID  verbs.GIDEntry // GID not valid: InfiniBand by LID
}

// A Session is a test with a program at the other side.
type Session struct {
	Local, Remote []Key
	Agreed        Layout

	conn   *Conn
	test   Test
	place  Place
	end    *endpoint.Endpoint
	ctx    context.Context
	posted bool // receives are

	result Result // of the size that runs
}

// cacheLine is what this side says its cache lines have. A program whose lines are
// larger has both take those.
const cacheLine = 64

// Place is the port that the session uses.
func (s *Session) Place() Place { return s.place }

// Start tells the other side about this one, and makes queue pairs and memory. The
// port is the session's from then on; Close closes it.
func Start(ctx context.Context, conn *Conn, place Place, test Test) (*Session, error) {
	s := &Session{conn: conn, test: test, place: place, ctx: ctx}
	if err := s.start(); err != nil {
		return nil, errors.Join(s.cause(err), s.Close())
	}
	return s, nil
}

func (s *Session) start() error {
	if err := s.test.Check(); err != nil {
		return err
	}
	mtu := s.place.Port.Attr.ActiveMTU
	if s.test.MTU > mtu {
		return fmt.Errorf("use an MTU of %v: the port's is %v", s.test.MTU, mtu)
	}
	if s.test.MTU != 0 {
		mtu = s.test.MTU
	}
	stop := s.abort()
	defer stop()
	var err error
	s.Agreed, err = s.conn.Begin(Layout{Page: uint32(os.Getpagesize()), CacheLine: cacheLine, MTU: uint8(mtu)})
	if err != nil {
		return err
	}
	if largest := slices.Max(s.test.Sizes); s.test.Type == verbs.QPTypeUD && largest > verbs.MTU(s.Agreed.MTU).Bytes() {
		return fmt.Errorf("send datagrams of %d bytes: the MTU of both sides is %v", largest, verbs.MTU(s.Agreed.MTU))
	}
	if s.end, err = endpoint.New(s.place.Port, s.options()); err != nil {
		return err
	}
	for _, a := range s.end.Addresses() {
		s.Local = append(s.Local, Key{
			LID: s.place.Port.Attr.LID, OutReads: uint32(s.reads()), QPN: a.QPN, PSN: a.PSN, RKey: a.RKey, VAddr: a.Addr, GID: s.place.GID.GID,
		})
	}
	return nil
}

// abort has exchanges return when the context ends, until what it returns is
// called.
func (s *Session) abort() (stop func() bool) {
	return context.AfterFunc(s.ctx, func() { _ = s.conn.Abort() })
}

// sameFlags are what both programs have to be started with.
const sameFlags = "flags for size, iterations, duration, queue pairs and connection"

// cause is why something did not go on: the context's end, if it has ended. Of
// another side that does not do what it should it says what that may be.
func (s *Session) cause(err error) error {
	switch {
	case err == nil:
		return nil
	case s.ctx.Err() != nil:
		return context.Cause(s.ctx)
	case errors.Is(err, ErrHungUp):
		return fmt.Errorf("%w: see what it says; it has to be %s with the same %s", err, s.test.Program(), sameFlags)
	case errors.Is(err, ErrSilent), errors.Is(err, loop.ErrStalled):
		return fmt.Errorf("%w: is it there, as %s with the same %s?", err, s.test.Program(), sameFlags)
	}
	return err
}

// reads is how many reads or atomics this side answers at a time; 1 where the test
// has none.
func (s *Session) reads() uint8 {
	if s.test.Verb != Read && s.test.Verb != Atomic {
		return 1
	}
	n := int(min(s.place.Port.Limits.MaxQPRdAtom, math.MaxUint8))
	if s.test.OutReads > 0 {
		n = min(n, s.test.OutReads)
	}
	return uint8(n)
}

// receives is how many receives are posted to a queue pair.
func (s *Session) receives() int {
	switch {
	case s.test.Verb != Send, s.test.Bandwidth && !s.test.Bidirectional && s.conn.client:
		return 0
	}
	return s.test.RxDepth
}

// slots is how much memory a queue pair has on each side. Programs lay out theirs
// alike: a page to walk through, or the largest message.
func (s *Session) slots() int {
	return max(int(s.Agreed.Page), slices.Max(s.test.Sizes))
}

func (s *Session) options() endpoint.Options {
	o := endpoint.Options{
		Type: s.test.Type, Groups: 1, Lanes: s.test.QueuePairs, Depth: s.test.depth(), RecvDepth: s.receives(),
		Out: s.slots(), In: s.slots() + int(s.Agreed.CacheLine), Inline: s.test.Inline, Events: s.test.Events,
		OutAccess: verbs.AccessLocalWrite, InAccess: verbs.AccessLocalWrite,
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

// link is how the queue pairs are connected.
func (s *Session) link(remote Key) endpoint.Link {
	return endpoint.Link{
		GID: remote.GID, GIDIndex: uint8(s.place.GID.Index), LID: remote.LID, MTU: verbs.MTU(s.Agreed.MTU),
		SL: s.test.SL, TrafficClass: s.test.TrafficClass, HopLimit: HopLimit, PKeyIndex: s.test.PKeyIndex,
		Timeout: s.test.Timeout, RetryCount: s.test.RetryCount, RNRRetry: 7, MinRNRTimer: 12,
		ReadsOut: uint8(min(uint32(s.reads()), remote.OutReads)), ReadsIn: s.reads(), QKey: QKey,
	}
}

// Run does the test. It tells of each size as it is done; where it ends with an
// error, of the one that was under way, as far as that came.
func (s *Session) Run(done func(Result)) error {
	stop := s.abort()
	defer stop()
	err := s.conn.Session(s.test.Order, s.Local, (*driver)(s), func(size int, theirs *Report) {
		r := s.result
		if r.Size == 0 { // a server that only served
			r.Size = size
		}
		r.Theirs = theirs
		s.result = Result{}
		done(r)
	})
	if err != nil && s.result.Messages > 0 {
		done(s.result)
	}
	return s.cause(err)
}

// Close gives everything back, and hangs up.
func (s *Session) Close() error {
	if s.end == nil {
		return errors.Join(s.place.Port.Close(), s.conn.Close())
	}
	return errors.Join(s.end.Close(), s.conn.Close())
}

// driver is the Side of a Session.
type driver Session

// Connect brings the queue pairs to where they can send.
func (d *driver) Connect(remote []Key) error {
	d.Remote = remote
	link := (*Session)(d).link(remote[0])
	if err := d.end.Begin(link); err != nil {
		return err
	}
	var peers []endpoint.Address
	for _, k := range remote {
		peers = append(peers, endpoint.Address{QPN: k.QPN, PSN: k.PSN, Addr: k.VAddr, RKey: k.RKey})
	}
	return d.end.Connect(link, peers)
}

// Ready posts receives, which take messages of all sizes. Those of the size before
// that were not used are still there.
func (d *driver) Ready(int) error {
	n := (*Session)(d).receives()
	if d.posted || n == 0 {
		return nil
	}
	for i := range d.end.Groups[0].Lanes {
		l := (*Session)(d).lane(i, slices.Max(d.test.Sizes))
		l.Prepare(i, 1)
		if err := l.Receive(n); err != nil {
			return err
		}
	}
	d.posted = true
	return nil
}

// Run measures one size.
func (d *driver) Run(size int) (Report, error) {
	s := (*Session)(d)
	watch := loop.NewWatch(s.ctx, s.test.Silence)
	defer watch.Stop()
	s.result = Result{Size: size}
	run := func() error { return s.latency(watch, size) }
	if s.test.Bandwidth {
		run = func() error { return s.bandwidth(watch, size) }
	}
	// A test by time comes to its end by itself, and the other side may be at its own
	// a little earlier.
	hungUp := func() bool { return false }
	if !s.test.Timed {
		hungUp = s.conn.guard(watch.Stop).stop
	}
	var err error
	s.result.CPU, err = loop.Pinned(s.test.CPU, run)
	if gone := hungUp(); gone && err == nil && watch.Stopped() {
		err = fmt.Errorf("%w before the end of the test", ErrHungUp)
	}
	if err == nil {
		err = s.ctx.Err()
	}
	return s.report(), err
}

// end of the test, if it is one by time: neither side waits for what is still
// under way.
func (s *Session) timer(watch *loop.Watch) (stop func() bool) {
	if !s.test.Timed {
		return func() bool { return true }
	}
	return time.AfterFunc(s.test.Duration, watch.Stop).Stop
}

func (s *Session) plan() loop.Plan {
	if s.test.Timed {
		return loop.Plan{Before: s.test.Margin, During: s.test.Duration - 2*s.test.Margin, After: s.test.Duration}
	}
	return loop.Plan{Count: uint64(s.test.Iterations)}
}

var opcodes = [...]verbs.Opcode{Send: verbs.OpSend, Write: verbs.OpWrite, Read: verbs.OpRead, Atomic: verbs.OpFetchAdd}

// lane is a queue pair with messages of a size.
func (s *Session) lane(i, size int) *loop.Lane {
	e := s.end.Groups[0].Lanes[i]
	opcode := opcodes[s.test.Verb]
	if s.test.CompareSwap && s.test.Verb == Atomic {
		opcode = verbs.OpCompareSwap
	}
	remote := s.Remote[i]
	l := &loop.Lane{
		Queue: e.QP, Size: size, Out: e.Out, In: e.In, Walk: s.walk(size), Room: slices.Max(s.test.Sizes),
		Inline:  size <= s.test.Inline && (s.test.Verb == Send || s.test.Verb == Write),
		Message: verbs.SendWR{Opcode: opcode, RemoteAddr: remote.VAddr, RKey: remote.RKey},
	}
	if s.posted {
		l.Waiting = s.receives()
	}
	if s.test.Type == verbs.QPTypeUD {
		l.GRH = endpoint.GRH
		l.Message.AH, l.Message.RemoteQPN, l.Message.QKey = s.end.AH(), remote.QPN, QKey
	}
	return l
}

// walk is how small messages go through a page in tests of bandwidth: a cache line
// at least from one to the next.
func (s *Session) walk(size int) loop.Walk {
	line, page := int(s.Agreed.CacheLine), int(s.Agreed.Page)
	if !s.test.Bandwidth || size > page/2 {
		return loop.Walk{Step: size, Slots: 1}
	}
	step := (size + line - 1) / line * line
	return loop.Walk{Step: step, Slots: page / step}
}

// latency runs round trips, one at a time.
func (s *Session) latency(watch *loop.Watch, size int) error {
	l := s.lane(0, size)
	l.Prepare(0, 1)
	p := &loop.PingPong{
		Lane: l, CQ: s.end.Groups[0].CQ, Watch: watch, Plan: s.plan(), Events: s.test.Events,
		Depth: s.test.depth(), Samples: loop.NewSamples(), FollowerMeasures: true,
	}
	stop := s.timer(watch)
	defer stop()
	defer func() { s.result.Samples, s.result.Messages = p.Samples, uint64(p.Samples.Count) }()
	do := p.Single
	switch {
	case s.test.Verb == Send && s.conn.client:
		do = p.LeadSends
	case s.test.Verb == Send:
		do = p.FollowSends
	case s.test.Verb == Write && s.conn.client: // it is the server that begins
		do = p.FollowWrites
	case s.test.Verb == Write:
		do = p.LeadWrites
	}
	if err := do(); err != nil {
		return err
	}
	// The next size begins with nothing under way.
	return p.Drain()
}

// bandwidth keeps messages under way on all queue pairs.
func (s *Session) bandwidth(watch *loop.Watch, size int) error {
	st := &loop.Stream{
		CQ: s.end.Groups[0].CQ, Watch: watch, Events: s.test.Events, Depth: s.test.depth(), List: min(s.test.List, s.test.depth()),
		Moderation: s.test.Moderate(size), Receives: s.receives() > 0,
	}
	for i := range s.end.Groups[0].Lanes {
		l := s.lane(i, size)
		l.Prepare(i, st.List)
		st.Lanes = append(st.Lanes, l)
	}
	sends := s.conn.client || s.test.Bidirectional
	if sends {
		st.Plan = s.plan()
	}
	if !s.test.Timed {
		st.Expect = uint64(s.test.Iterations)
	}
	stop := s.timer(watch)
	defer stop()
	err := st.Run()
	counted := &st.Out
	if !sends {
		counted = &st.In
	}
	messages, ns := counted.Total()
	s.result.Messages, s.result.Elapsed, s.result.Rates = messages, time.Duration(ns), counted.Rates(maxRates)
	return err
}

// maxRates is how many rates over time are kept.
const maxRates = 100

// report is what the other side is told of a size, in the unit that it takes it to
// be.
func (s *Session) report() Report {
	unit := float64(1 << 20)
	if s.test.Gbits {
		unit = 1e9 / 8
	}
	r := Report{Size: uint64(s.result.Size), Iterations: uint64(s.test.Iterations)}
	if seconds := s.result.Elapsed.Seconds(); seconds > 0 {
		r.Average = float64(s.result.Bytes()) / seconds / unit
		r.MsgRate = float64(s.result.Messages) / seconds / 1e6
	}
	for _, rate := range s.result.Rates {
		r.Peak = max(r.Peak, float64(rate.Count)*float64(s.result.Size)/(float64(rate.Length)/1e9)/unit)
	}
	return r
}

// GIDOf returns the place of a port: the GID by its index, or none on InfiniBand.
func GIDOf(p *port.Port, index int) (Place, error) {
	if index < 0 && !p.Ethernet() {
		return Place{Port: p, GID: verbs.GIDEntry{GID: netip.Addr{}}}, nil
	}
	for _, g := range p.GIDs {
		if int(g.Index) == index {
			return Place{Port: p, GID: g}, nil
		}
	}
	return Place{}, fmt.Errorf("use GID %d of %s port %d: it has none of that index", index, p.Device, p.Number)
}
