package perf

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ibkit/ibkit/perf/endpoint"
	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/port"
	"github.com/ibkit/ibkit/verbs"
)

// How long a side waits for something to complete before it takes it for stuck.
// The queue pair's own time-outs come first where the other side is gone, unless
// they are set higher.
const (
	patience      = 20 * time.Second
	lossyPatience = time.Second
)

// warmupTime is how long a test by time goes on before it counts.
const warmupTime = 200 * time.Millisecond

// A running is one side of a test while it moves data.
type running struct {
	shape
	endpoint *endpoint.Endpoint
	watch    *loop.Watch
	streams  []*loop.Stream
	ping     *loop.PingPong
	lanes    [][]*loop.Lane // by group

	sent chan struct{} // closed when all is sent
	done chan struct{} // closed when all loops have ended
	err  error         // of the loops, once done
	used loop.Usage

	device port.Watch

	lock  sync.Mutex
	toGo  int   // loops that still send
	cause error // why the loops were stopped, unless they were to
	begun time.Time
	took  time.Duration
}

// prepare makes work requests and posts receives. The queue pairs are connected.
func prepare(s shape, e *endpoint.Endpoint, peers []endpoint.Address) (*running, error) {
	r := &running{shape: s, endpoint: e, sent: make(chan struct{}), done: make(chan struct{})}
	r.device.Port = e.Port
	i := 0
	for _, g := range e.Groups {
		var lanes []*loop.Lane
		for n, l := range g.Lanes {
			lane := r.lane(l, peers[i], uint64(i))
			lane.Prepare(n, s.list())
			if s.receives() {
				if err := lane.Receive(s.recvDepth()); err != nil {
					return nil, err
				}
			}
			if s.target() && s.Verify && s.Op == Read {
				lane.Offer()
			}
			lanes = append(lanes, lane)
			i++
		}
		r.lanes = append(r.lanes, lanes)
	}
	return r, nil
}

// seeds of payload: a lane's number, and which side sends.
func seed(lane uint64, leads bool) uint64 {
	if leads {
		return 2*lane + 1
	}
	return 2 * lane
}

// lane is a queue pair with what it sends and receives.
func (r *running) lane(l endpoint.Lane, peer endpoint.Address, number uint64) *loop.Lane {
	lane := &loop.Lane{
		Queue: l.QP, Size: r.Size, Walk: r.walk(r.depth()), Out: l.Out, In: l.In, InWalk: r.inWalk(), GRH: r.grh(),
		Inline: r.Inline && r.sends(), Verify: r.Verify, Seed: seed(number, r.leads), PeerSeed: seed(number, !r.leads),
	}
	lane.Message = verbs.SendWR{Opcode: r.Op.opcode(), RemoteAddr: peer.Addr, RKey: peer.RKey}
	if ah := r.endpoint.AH(); ah != nil {
		lane.Message.AH, lane.Message.RemoteQPN, lane.Message.QKey = ah, peer.QPN, qkey
	}
	return lane
}

// qkey is that of datagrams between two of this program.
const qkey = 0x69626b74

// idle tells whether this side only has its memory used.
func (r *running) idle() bool { return !r.sends() && !r.receives() }

// start runs the loops, the i-th on the i-th processor, and returns.
func (r *running) start(ctx context.Context, cpus []int, yield bool) {
	wait := time.Duration(0) // who only answers is told when it is over
	switch {
	case r.leads && r.Transport.lossy() && r.Kind == Latency:
		wait = lossyPatience
	case r.leads:
		wait = patience
	}
	r.watch = loop.NewWatch(ctx, wait)
	r.watch.Yield = yield
	r.begun = time.Now()
	var loops []func() error
	if !r.idle() {
		loops = r.loops()
	}
	if r.Kind == Bandwidth && r.sends() {
		r.toGo = len(loops)
	} else {
		close(r.sent) // whoever measures latency is done when the loop is
	}
	errs := make([]error, len(loops))
	var all sync.WaitGroup
	for i, f := range loops {
		all.Go(func() {
			cpu := loop.NoCPU
			if i < len(cpus) {
				cpu = cpus[i]
			}
			used, err := loop.Pinned(cpu, f)
			if err != nil {
				r.watch.Stop() // the others have no use
			}
			errs[i] = err
			r.lock.Lock()
			r.used.User += used.User
			r.used.System += used.System
			r.lock.Unlock()
		})
	}
	go func() {
		all.Wait()
		if len(loops) == 0 { // it is over when somebody says so
			<-r.watch.Done()
		}
		r.lock.Lock()
		r.err = r.device.Explain(errors.Join(append(errs, r.cause)...))
		r.lock.Unlock()
		r.took = time.Since(r.begun)
		close(r.done)
	}()
}

// loops returns what runs: one for each group.
func (r *running) loops() []func() error {
	if r.Kind == Latency {
		return []func() error{r.latency()}
	}
	var all []func() error
	for i, lanes := range r.lanes {
		s := &loop.Stream{
			Lanes: lanes, CQ: r.endpoint.Groups[i].CQ, Watch: r.watch, Events: r.Events, Lossy: r.Transport.lossy(),
			Depth: r.depth(), List: r.list(), Moderation: r.moderation(), Rate: r.Rate / float64(r.Threads),
			Receives: r.receives(), Sent: r.oneSent,
		}
		if r.sends() {
			s.Plan = r.plan()
		}
		r.streams = append(r.streams, s)
		all = append(all, s.Run)
	}
	return all
}

// oneSent counts loops that have sent all.
func (r *running) oneSent() {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.toGo--; r.toGo == 0 {
		close(r.sent)
	}
}

// plan is how long this side leads.
func (r *running) plan() loop.Plan {
	if r.Iterations > 0 {
		return loop.Plan{Count: r.Iterations, Warmup: r.Warmup}
	}
	return loop.Plan{Before: warmupTime, During: r.Duration}
}

// latency returns the loop of a test of latency.
func (r *running) latency() func() error {
	p := &loop.PingPong{
		Lane: r.lanes[0][0], CQ: r.endpoint.Groups[0].CQ, Watch: r.watch, Events: r.Events, Depth: r.depth(),
		Lossy: r.Transport.lossy(),
	}
	r.ping = p
	if r.leads {
		p.Plan = r.plan()
	}
	switch {
	case r.Op == Send && r.leads:
		return p.LeadSends
	case r.Op == Send:
		return p.FollowSends
	case r.Op == Write && r.leads:
		return p.LeadWrites
	case r.Op == Write:
		return p.FollowWrites
	}
	return p.Single
}

// fail ends the loops with an error that they cannot see.
func (r *running) fail(err error) {
	r.lock.Lock()
	if r.cause == nil {
		r.cause = err
	}
	r.lock.Unlock()
	r.watch.Stop()
}

// finish ends the loops, and returns their error.
func (r *running) finish() error {
	r.watch.Stop()
	<-r.done
	return r.err
}

// counts returns what is counted of each queue pair.
func (r *running) counts(of func(*loop.Lane) uint64) []uint64 {
	var all []uint64
	for _, lanes := range r.lanes {
		for _, l := range lanes {
			all = append(all, of(l))
		}
	}
	return all
}

// verify looks at memory that the other side has used, in so many messages by
// queue pair. The loops are over.
func (r *running) verify(messages []uint64) error {
	if !r.Verify || !r.target() || r.Kind == Latency && r.Op == Write {
		return nil
	}
	i := 0
	for _, lanes := range r.lanes {
		for _, l := range lanes {
			if i >= len(messages) {
				return errMessage
			}
			var err error
			switch r.Op {
			case Write:
				err = l.CheckWritten(messages[i])
			case FetchAdd, CompareSwap:
				err = l.CheckCounted(messages[i])
			}
			if err != nil {
				return err
			}
			i++
		}
	}
	return nil
}
