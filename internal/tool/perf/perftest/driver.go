package perftest

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
	"github.com/ibkit/ibkit/internal/tool/perf/stats"
	"github.com/ibkit/ibkit/verbs"
)

// A driver is the side of a Session: it operates the queue pairs.
type driver struct{ *Session }

func (d driver) connect(remote []Key) error {
	d.Remote = remote
	if d.conn.managed { // and connected already
		return nil
	}
	link := d.link(remote[0])
	if err := d.end.Begin(link); err != nil {
		return err
	}
	return d.end.Connect(link, d.peers())
}

func (d driver) hangUp() error {
	if d.manager == nil {
		return d.conn.hangUp()
	}
	if err := d.manager.hangUp(d.ctx); err != nil {
		return d.conn.wrap("end of connection", err)
	}
	return nil
}

func (d driver) connected() {
	if d.o.Connected != nil {
		d.o.Connected(d.Session)
	}
}

// ready posts receives for messages of all sizes. Unused receives stay posted for the
// next size. In tests without receives it warms up.
func (d driver) ready(size int) error {
	if !d.test.Consumes() {
		return d.warmUp(size)
	}
	n := d.receivesEach()
	if d.posted || n == 0 {
		return nil
	}
	for i := range d.end.Groups[0].QPs {
		f := d.flow(i, slices.Max(d.test.Sizes))
		f.Prepare(i, 1)
		if err := f.Receive(n); err != nil {
			return err
		}
	}
	d.posted = true
	return nil
}

// receivesEach returns the number of receives posted for each queue pair.
func (s *Session) receivesEach() int {
	n := s.receives()
	if s.test.Shared() {
		n /= s.test.QueuePairs
	}
	list := max(1, s.test.RecvList)
	return n / list * list
}

// warmUp sends as many messages as fit into the queues, or a list of them.
func (s *Session) warmUp(size int) error {
	supervisor := loop.NewSupervisor(s.ctx, s.o.PeerTimeout)
	defer supervisor.Stop()
	st := s.stream(supervisor, size)
	count := s.test.depth()
	if st.List > 1 {
		count = st.List
	}
	st.Plan, st.Moderation = loop.Plan{Count: uint64(count)}, 1
	return st.Run()
}

// run measures a size.
func (d driver) run(size int) (Report, error) {
	s := d.Session
	supervisor := loop.NewSupervisor(s.ctx, s.o.PeerTimeout)
	defer supervisor.Stop()
	s.result = Result{Size: size}
	measure := func() error { return s.latency(supervisor, size) }
	if s.test.Bandwidth {
		measure = func() error { return s.bandwidth(supervisor, size) }
	}
	var ended atomic.Bool // by the guard
	guard := s.conn.guard(guardDelay, guardMode{timed: s.test.Timed, passive: !s.test.Both() && !s.o.Client}, func() {
		ended.Store(true)
		supervisor.Stop()
	})
	cpu := loop.NoCPU
	if len(s.CPUs) > 0 {
		cpu = s.CPUs[0]
	}
	load := s.watchLoad()
	used, err := loop.Pinned(cpu, measure)
	s.result.CPUUtil = load()
	s.result.User, s.result.System, s.result.LoopTime = used.User, used.System, used.Elapsed
	reason := guard.stop()
	// The peer of a test by time may close the connection only after ib_write_lat.
	gone := s.test.Timed && errors.Is(reason, peererr.ErrClosed) && (s.test.Bandwidth || s.test.Verb != Write)
	if err == nil && (ended.Load() || gone) {
		err = reason
	}
	if err == nil {
		err = s.ctx.Err()
	}
	return s.report(), err
}

// startTimer ends a timed test. Neither side waits for messages in flight.
func (s *Session) startTimer(supervisor *loop.Supervisor) (stop func() bool) {
	if !s.test.Timed {
		return func() bool { return true }
	}
	return time.AfterFunc(s.test.Duration, supervisor.Stop).Stop
}

// watchLoad returns a function that returns the load of the processors during the
// counted part of a timed test.
func (s *Session) watchLoad() func() float64 {
	if !s.test.CPUUtil || !s.test.Timed {
		return func() float64 { return 0 }
	}
	var before, after atomic.Pointer[host.Load]
	read := func(to *atomic.Pointer[host.Load]) func() {
		return func() { to.Store(host.ReadLoad()) }
	}
	first := time.AfterFunc(s.test.Margin, read(&before))
	last := time.AfterFunc(s.test.Duration-s.test.Margin, read(&after))
	return func() float64 {
		first.Stop()
		last.Stop()
		return after.Load().Since(before.Load())
	}
}

func (s *Session) plan() loop.Plan {
	if s.test.Infinite {
		return loop.Plan{During: math.MaxInt64 / 2}
	}
	if s.test.Timed {
		return loop.Plan{Before: s.test.Margin, During: s.test.Duration - 2*s.test.Margin, After: s.test.Duration}
	}
	return loop.Plan{Count: uint64(s.test.Iterations)}
}

var opcodes = [...]verbs.Opcode{Send: verbs.OpSend, Write: verbs.OpWrite, Read: verbs.OpRead, Atomic: verbs.OpFetchAdd}

// flow returns the traffic of a queue pair with messages of a size.
func (s *Session) flow(i, size int) *loop.QPFlow {
	e := s.end.Groups[0].QPs[i]
	opcode := opcodes[s.test.Verb]
	if s.test.CompareSwap && s.test.Verb == Atomic {
		opcode = verbs.OpCompareSwap
	}
	if s.test.Imm {
		opcode = verbs.OpWriteWithImm
	}
	remote := s.receiver(s.Remote, i)
	f := &loop.QPFlow{
		Queue: e.QP, Size: size, Out: e.Out, In: e.In, Ring: s.ring(size), RecvSize: slices.Max(s.test.Sizes),
		Inline:  size <= s.test.Inline && (s.test.Verb == Send || s.test.Verb == Write),
		Message: verbs.SendWR{Opcode: opcode, RemoteAddr: remote.VAddr, RKey: remote.RKey, RemoteSRQN: remote.SRQN}, RecvList: s.test.RecvList,
	}
	if srq := s.end.Shared(); srq != nil {
		f.Shared = srq
	}
	if s.posted {
		f.RecvPosted = s.receivesEach()
	}
	f.Unordered = s.test.Type == verbs.QPTypeSRD
	if s.test.Type == verbs.QPTypeUD {
		f.GRH = endpoint.GRH
	}
	if endpoint.Datagrams(s.test.Type) {
		to := datagram{remote.QPN, qkey}
		if s.conn.managed {
			to = s.manager.datagrams[i]
		}
		f.Message.AH, f.Message.RemoteQPN, f.Message.QKey = s.end.AH().Destination(), to.qpn, to.qkey
	}
	return f
}

// ring returns the layout of messages in memory: in bandwidth tests small messages
// cycle through a page, at least a cache line apart.
func (s *Session) ring(size int) loop.Ring {
	line, page := int(s.Agreed.CacheLine), int(s.Agreed.Page)
	if !s.test.Bandwidth || size > page/2 {
		return loop.Ring{Stride: size, Slots: 1}
	}
	stride := (size + line - 1) / line * line
	return loop.Ring{Stride: stride, Slots: page / stride}
}

// latency runs round trips one at a time.
func (s *Session) latency(supervisor *loop.Supervisor, size int) error {
	f := s.flow(0, size)
	f.Prepare(0, 1)
	p := &loop.PingPong{
		Flow: f, CQ: s.end.Groups[0].CQ, Supervisor: supervisor, Plan: s.plan(), Events: s.test.Events,
		Depth: s.test.depth(), Samples: stats.NewSamples(), FollowerMeasures: true, Gap: s.test.Gap,
	}
	if !s.test.Timed {
		p.Quiet = loop.Quiet
	}
	if s.test.Keep && !s.test.Timed {
		p.Samples.Keep(s.test.Iterations - 1) // as many as the programs have
	}
	stop := s.startTimer(supervisor)
	defer stop()
	defer func() {
		s.result.Samples, s.result.Messages = p.Samples, uint64(p.Samples.Count)
		if s.test.Timed {
			s.result.Elapsed = s.test.Duration - 2*s.test.Margin
		}
	}()
	do := p.Single
	switch {
	case s.test.Imm && s.leads(): // the passive side writes first
		do = p.FollowSends
	case s.test.Imm:
		do = p.LeadSends
	case s.test.Verb == Send && s.leads():
		do = p.LeadSends
	case s.test.Verb == Send:
		do = p.FollowSends
	case s.test.Verb == Write && s.leads(): // the passive side writes first
		do = p.FollowWrites
	case s.test.Verb == Write:
		do = p.LeadWrites
	}
	if err := do(); err != nil {
		return err
	}
	return p.Drain()
}

// stream returns the loop of a bandwidth test without its extent.
func (s *Session) stream(supervisor *loop.Supervisor, size int) *loop.Stream {
	st := &loop.Stream{
		CQ: s.end.Groups[0].CQ, Supervisor: supervisor, Events: s.test.Events, Depth: s.test.depth(), List: min(s.test.List, s.test.depth()),
		Moderation: s.test.Moderate(size), Receives: s.receives() > 0, Batch: s.test.PollBatch,
	}
	for i := range s.end.Groups[0].QPs {
		f := s.flow(i, size)
		f.Prepare(i, st.List)
		st.Flows = append(st.Flows, f)
	}
	return st
}

// bandwidth keeps messages in flight on all queue pairs.
func (s *Session) bandwidth(supervisor *loop.Supervisor, size int) error {
	st := s.stream(supervisor, size)
	sends := s.leads() || s.test.Bidirectional
	if sends {
		st.Plan, st.Rate, st.Burst = s.plan(), s.test.rate(size), s.test.Burst
	}
	if !s.test.Timed && !s.test.Infinite {
		st.Expect = uint64(s.test.Iterations)
		if sends && !s.test.NoPeak && s.test.Iterations <= maxPeak {
			st.Peak = stats.NewPeak(s.test.Iterations * len(st.Flows))
		}
	}
	stop := s.startTimer(supervisor)
	defer stop()
	if s.test.Infinite {
		st.Progress = new(atomic.Uint64)
		defer s.reportProgress(size, st.Progress)()
	}
	begin := time.Now()
	err := st.Run()
	counted := &st.Out
	if !sends {
		counted = &st.In
	}
	messages, ns := counted.Total()
	s.result.Messages, s.result.Elapsed, s.result.Rates = messages, time.Duration(ns), counted.Rates(maxRates)
	if st.Peak != nil && err == nil {
		s.result.Peak = st.Peak.PerSecond()
	}
	// All messages may have arrived before the first poll, which starts the clock.
	if !sends && messages == 0 && err == nil {
		s.result.Elapsed = time.Since(begin)
		for _, f := range st.Flows {
			s.result.Messages += f.Received()
		}
	}
	return err
}

// reportProgress reports the messages of each interval until the returned function is
// called.
func (s *Session) reportProgress(size int, progress *atomic.Uint64) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(s.test.Duration)
	go func() {
		defer close(ended)
		load, count, since := host.ReadLoad(), progress.Load(), time.Now()
		for {
			select {
			case <-end:
				return
			case <-ticker.C:
			}
			r := Result{Size: size, Messages: progress.Load() - count, Elapsed: time.Since(since)}
			now := host.ReadLoad()
			r.CPUUtil = now.Since(load)
			s.done(r)
			load, count, since = now, count+r.Messages, since.Add(r.Elapsed)
		}
	}()
	return func() {
		ticker.Stop()
		close(end)
		<-ended
	}
}

// maxPeak is the largest number of iterations for which the programs measure a peak.
const maxPeak = 20000

// maxRates is the number of rates over time.
const maxRates = 100

// report returns the figures of a size for the peer, in the unit that it expects.
func (s *Session) report() Report {
	unit := float64(1 << 20)
	if s.test.Gbits {
		unit = 1e9 / 8
	}
	r := Report{Size: uint64(s.result.Size), Iterations: s.result.Messages}
	if seconds := s.result.Elapsed.Seconds(); seconds > 0 {
		r.Average = float64(s.result.Bytes()) / seconds / unit
		r.MsgRate = float64(s.result.Messages) / seconds / 1e6
	}
	r.Peak = s.result.Peak * float64(s.result.Size) / unit
	return r
}
