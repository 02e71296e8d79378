package perftest

import (
	"fmt"
	"slices"
	"time"

	"github.com/ibkit/ibkit/perf/endpoint"
	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/verbs"
)

// A driver is the Side of a Session: what it does with its queue pairs.
type driver struct{ *Session }

// Connect brings the queue pairs to where they can send.
func (d driver) Connect(remote []Key) error {
	d.Remote = remote
	link := d.link(remote[0])
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
func (d driver) Ready(int) error {
	n := d.receives()
	if d.posted || n == 0 {
		return nil
	}
	for i := range d.end.Groups[0].Lanes {
		l := d.lane(i, slices.Max(d.test.Sizes))
		l.Prepare(i, 1)
		if err := l.Receive(n); err != nil {
			return err
		}
	}
	d.posted = true
	return nil
}

// Run measures one size.
func (d driver) Run(size int) (Report, error) {
	s := d.Session
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

// timer ends a test by time: neither side waits for what is still under way.
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
	if !s.test.Timed { // there is none by time, and no peak is below the average
		r.Peak = r.Average
	}
	for _, rate := range s.result.Rates {
		r.Peak = max(r.Peak, rate.PerSecond()*float64(s.result.Size)/unit)
	}
	return r
}
