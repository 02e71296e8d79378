package perf

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/cmlink"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/multicast"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/verbs"
)

// Stall timeouts of a leading side. The timeouts of a queue pair expire earlier if the
// peer is gone, unless they are set higher.
const (
	stallTimeout      = 20 * time.Second
	lossyStallTimeout = time.Second
)

// warmupTime is the warm-up of a test by time.
const warmupTime = 200 * time.Millisecond

// A runner moves a side's data in a test.
type runner struct {
	role
	endpoint   *endpoint.Endpoint
	supervisor *loop.Supervisor
	streams    []*loop.Stream
	ping       *loop.PingPong
	flows      [][]*loop.QPFlow // by group

	sent chan struct{} // closed when all messages are sent
	done chan struct{} // closed when all loops have ended
	err  error         // of the loops, once done
	used loop.Usage    // of all loops; Elapsed is the longest

	monitor port.Monitor

	lock    sync.Mutex
	sending int   // loops that still send
	cause   error // external reason for the end of the loops
	begun   time.Time
}

// newRunner prepares work requests and posts receives. The queue pairs must be
// connected.
func newRunner(r role, e *endpoint.Endpoint, peers []endpoint.Address) (*runner, error) {
	n := &runner{role: r, endpoint: e, sent: make(chan struct{}), done: make(chan struct{})}
	n.monitor.Port = e.Port
	number := 0
	for _, g := range e.Groups {
		var flows []*loop.QPFlow
		for i, q := range g.QPs {
			flow := n.flow(q, peers[number], uint64(number))
			flow.Prepare(i, r.list())
			if r.receives() {
				n := r.recvDepth()
				switch srq := e.Shared(); {
				case srq != nil:
					flow.Shared = srq
					n /= r.QueuePairs
				case q.SRQ != nil:
					flow.Shared = q.SRQ
				}
				if err := flow.Receive(n); err != nil {
					return nil, err
				}
			}
			if r.target() && r.Verify && r.Op == Read {
				if err := flow.FillTarget(); err != nil {
					return nil, err
				}
			}
			flows = append(flows, flow)
			number++
		}
		n.flows = append(n.flows, flows)
	}
	return n, nil
}

// seed returns the seed of the payloads that a side of a flow sends.
func seed(flow uint64, leads bool) uint64 {
	if leads {
		return 2*flow + 1
	}
	return 2 * flow
}

// flow returns the traffic of a queue pair.
func (r *runner) flow(q endpoint.QueuePair, peer endpoint.Address, number uint64) *loop.QPFlow {
	flow := &loop.QPFlow{
		Queue: q.QP, Size: r.Size, Ring: r.ring(r.depth()), Out: q.Out, In: q.In, InRing: r.inRing(), GRH: r.grh(),
		Inline: r.Inline && r.sends(), Unordered: r.Transport == SRD, Verify: r.Verify, Seed: seed(number, r.leads), PeerSeed: seed(number, !r.leads),
	}
	flow.Message = verbs.SendWR{Opcode: r.opcode(), RemoteAddr: peer.Addr, RKey: peer.RKey, RemoteSRQN: peer.SRQN}
	if ah := r.endpoint.AH(); ah != nil {
		flow.Message.AH, flow.Message.RemoteQPN, flow.Message.QKey = ah.Destination(), peer.QPN, qkey
		if r.CM || r.Multicast.IsValid() {
			flow.Message.QKey = cmlink.QKey
		}
		if r.leads && r.Multicast.IsValid() {
			flow.Message.RemoteQPN = multicast.QPN
		}
	}
	return flow
}

// qkey is the Q_Key of datagrams between two ibkit processes.
const qkey = 0x69626b74

// passive reports whether this side runs no loop.
func (r *runner) passive() bool { return !r.sends() && !r.receives() }

// start starts the loops, loop i on processor i.
func (r *runner) start(ctx context.Context, cpus []int, yield bool) {
	timeout := time.Duration(0) // a following side ends on request
	switch {
	case r.leads && r.Transport.lossy() && r.Kind == Latency:
		timeout = lossyStallTimeout
	case r.leads:
		timeout = stallTimeout
	}
	r.supervisor = loop.NewSupervisor(ctx, timeout)
	r.supervisor.Yield = yield
	r.begun = time.Now()
	var loops []func() error
	if !r.passive() {
		loops = r.loops()
	}
	if r.Kind == Bandwidth && r.sends() {
		r.sending = len(loops)
	} else {
		close(r.sent) // a latency test ends with its loop
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
				r.supervisor.Stop() // end the other loops
			}
			errs[i] = err
			r.lock.Lock()
			r.used.User += used.User
			r.used.System += used.System
			r.used.Elapsed = max(r.used.Elapsed, used.Elapsed)
			r.lock.Unlock()
		})
	}
	go func() {
		all.Wait()
		if len(loops) == 0 {
			<-r.supervisor.Done()
		}
		r.lock.Lock()
		r.err = r.monitor.Explain(errors.Join(append(errs, r.cause)...))
		r.lock.Unlock()
		if r.passive() {
			r.used.Elapsed = time.Since(r.begun)
		}
		close(r.done)
	}()
}

// loops returns the loops, a loop for each group.
func (r *runner) loops() []func() error {
	if r.Kind == Latency {
		return []func() error{r.latency()}
	}
	var all []func() error
	for i, flows := range r.flows {
		s := &loop.Stream{
			Flows: flows, CQ: r.endpoint.Groups[i].CQ, Supervisor: r.supervisor, Events: r.Events, Lossy: r.Transport.lossy(),
			Depth: r.depth(), List: r.list(), Moderation: r.moderation(), Rate: r.Rate / float64(r.Threads), Burst: r.Burst,
			Receives: r.receives(), Sent: r.loopSent,
		}
		if r.sends() {
			s.Plan = r.plan()
		}
		r.streams = append(r.streams, s)
		all = append(all, s.Run)
	}
	return all
}

// loopSent records that a loop has sent all its messages.
func (r *runner) loopSent() {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.sending--; r.sending == 0 {
		close(r.sent)
	}
}

// plan returns the extent of the test for a leading side.
func (r *runner) plan() loop.Plan {
	if r.Iterations > 0 {
		return loop.Plan{Count: r.Iterations, Warmup: r.Warmup}
	}
	return loop.Plan{Before: warmupTime, During: r.Duration}
}

// latency returns the loop of a latency test.
func (r *runner) latency() func() error {
	p := &loop.PingPong{
		Flow: r.flows[0][0], CQ: r.endpoint.Groups[0].CQ, Supervisor: r.supervisor, Events: r.Events, Depth: r.depth(),
		Lossy: r.Transport.lossy(),
	}
	r.ping = p
	if r.leads {
		p.Plan, p.Quiet = r.plan(), loop.Quiet
	}
	switch {
	case r.consumes() && r.leads:
		return p.LeadSends
	case r.consumes():
		return p.FollowSends
	case r.Op == Write && r.leads:
		return p.LeadWrites
	case r.Op == Write:
		return p.FollowWrites
	}
	return p.Single
}

// fail ends the loops with an error that they cannot detect.
func (r *runner) fail(err error) {
	r.lock.Lock()
	if r.cause == nil {
		r.cause = err
	}
	r.lock.Unlock()
	r.supervisor.Stop()
}

// finish ends the loops and returns their error.
func (r *runner) finish() error {
	r.supervisor.Stop()
	<-r.done
	return r.err
}

// counts returns a count of each queue pair.
func (r *runner) counts(of func(*loop.QPFlow) uint64) []uint64 {
	var all []uint64
	for _, flows := range r.flows {
		for _, f := range flows {
			all = append(all, of(f))
		}
	}
	return all
}

// verify checks the memory that the peer used, given the number of its messages by
// queue pair. The loops must have ended.
func (r *runner) verify(messages []uint64) error {
	if !r.Verify || !r.target() || r.Kind == Latency && r.Op == Write {
		return nil
	}
	i := 0
	for _, flows := range r.flows {
		for _, f := range flows {
			if i >= len(messages) {
				return errMessage
			}
			var err error
			switch r.Op {
			case Write:
				err = f.VerifyWrites(messages[i])
			case FetchAdd, CompareSwap:
				err = f.VerifyAtomics(messages[i])
			}
			if err != nil {
				return err
			}
			i++
		}
	}
	return nil
}

// crowded reports whether the loops of both sides may have to share a processor. They
// then yield between polls.
func crowded(own, other host.Identity, loops int) bool {
	return own.BootID != "" && own.BootID == other.BootID && own.CPUs < loops
}
