package perf

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/cmlink"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/multicast"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/internal/tool/perf/memory"
	"github.com/ibkit/ibkit/internal/tool/perf/stats"
	"github.com/ibkit/ibkit/verbs"
)

// An endpointTest is a side's part in a test, from the creation of its endpoint to its
// figures.
type endpointTest struct {
	role
	measurement *Measurement // of the client
	choice      port.Choice
	mtu         ib.MTU
	endpoint    *endpoint.Endpoint
	links       *cmlink.Links // of the connection manager
	group       *multicast.Managed
	runner      *runner
	before      host.Counters
	cpus        []int
	crowded     bool // a loop shares its processor with another loop
	release     func()
	own         Side
	stopped     bool

	requestedGID int // negative: any
	memory       memory.Source
}

// open creates the client's endpoint for the GIDs that the server chose.
func (t *endpointTest) open(ports []*port.Port, p *prepared, s port.Selector) error {
	if t.Imm && !p.Imm {
		return testError{errors.New("write with immediate data: the ibkit of the server is too old for it")}
	}
	var err error
	if p.Port.GID.IsValid() {
		t.choice, err = s.ChooseWith(ports, p.ClientGID, port.GID{Addr: p.Port.GID, Type: p.ClientGID.Type})
	} else {
		t.choice, err = s.Choose(ports, port.Remote{})
	}
	if err != nil {
		return fmt.Errorf("%w: the server's choice of GIDs does not fit: %w", errMessage, err)
	}
	if err := t.setMTU(p.Port.MTU); err != nil {
		return err
	}
	t.measurement.Client, t.measurement.MTU = t.choice.Info(t.memory), t.mtu.Bytes()
	return t.createEndpoint()
}

// setMTU selects the requested MTU, or the largest that both ports support.
func (t *endpointTest) setMTU(others int) error {
	own := t.choice.Port.Attr.ActiveMTU
	other := ib.MTUOf(others)
	if other == 0 {
		return fmt.Errorf("%w: MTU %d", errMessage, others)
	}
	t.mtu = min(own, other)
	if t.MTU != 0 {
		if want := ib.MTUOf(t.MTU); want > t.mtu {
			return testError{fmt.Errorf("use MTU %d: the ports support %v and %v", t.MTU, own, other)}
		}
		t.mtu = ib.MTUOf(t.MTU)
	}
	return t.checkDatagram()
}

// checkDatagram returns an error if a UD message does not fit into a packet, or an SRD
// message into the limit of the port.
func (t *endpointTest) checkDatagram() error {
	if most := int(t.choice.Port.Attr.MaxMsgSize); t.Transport == SRD && t.Op == Send && t.Size > most {
		return testError{fmt.Errorf("send %d bytes over srd: messages of %s have at most %d bytes (writes and reads may have more)", t.Size, t.choice.Port.Device, most)}
	}
	if t.Transport == UD && t.Size > t.mtu.Bytes() {
		return testError{fmt.Errorf("send %d bytes over ud: the MTU is %v, and a datagram is a single packet", t.Size, t.mtu)}
	}
	return nil
}

// ErrClock is wrapped if the clock of a test is uneven.
var ErrClock = loop.ErrClock

// ErrSelection is wrapped if the connection manager selects another port, GID or MTU than
// the test requires, ErrScope if the packets to a multicast group do not leave the host.
var (
	ErrSelection = cmlink.ErrSelection
	ErrScope     = multicast.ErrScope
)

// ErrQueueLimit, ErrInlineLimit and ErrRate are wrapped if the device does not support
// the depths, the inline data or the rate of a test, ErrAddressable if its memory does not.
var (
	ErrQueueLimit  = endpoint.ErrQueueLimit
	ErrInlineLimit = endpoint.ErrInlineLimit
	ErrTransport   = endpoint.ErrTransport
	ErrRate        = endpoint.ErrRate
	ErrAddressable = endpoint.ErrAddressable
)

func (t *endpointTest) createEndpoint() error {
	// The connection may still have to transport the data of a write that is complete. A
	// latency test waits for the data.
	if t.Verify && t.Op == Write && t.Kind == Bandwidth && t.choice.Port.Context.IWARP() {
		return testError{fmt.Errorf("verify writes on %s: on iWARP, a write is complete before its data is in the memory of the peer", t.choice.Port.Device)}
	}
	if t.Imm && t.choice.Port.Context.IWARP() {
		return testError{fmt.Errorf("write with immediate data on %s: not supported on iWARP", t.choice.Port.Device)}
	}
	var err error
	o := t.role.endpoint()
	o.Memory = t.memory
	if t.endpoint, err = endpoint.New(t.choice.Port, o); err != nil {
		return testError{err}
	}
	return nil
}

// maxDestRdAtomic returns the number of reads and atomics that this side answers at a
// time.
func (t *endpointTest) maxDestRdAtomic() uint8 {
	if t.Op == Send || t.Op == Write {
		return 1
	}
	return uint8(min(16, max(1, t.choice.Port.Limits.MaxQPRdAtom)))
}

// link returns the connection to a peer that answers others reads and atomics at a
// time.
func (t *endpointTest) link(gid netip.Addr, lid ib.LID, others uint8) endpoint.Link {
	return endpoint.Link{
		GID: gid, GIDIndex: t.choice.Index, LID: lid, MTU: t.mtu, SL: t.SL, TrafficClass: t.TrafficClass, FlowLabel: t.FlowLabel,
		HopLimit: t.HopLimit, PKeyIndex: t.PKeyIndex, Timeout: t.Timeout, RetryCount: t.RetryCount, RNRRetry: t.RNRRetry,
		MinRNRTimer: minRNRTimer, MaxRdAtomic: min(others, t.maxDestRdAtomic()), MaxDestRdAtomic: t.maxDestRdAtomic(), QKey: qkey,
	}
}

// connect connects the local queue pairs to the peer's.
func (t *endpointTest) connect(link endpoint.Link, peers []endpoint.Address) error {
	if err := t.endpoint.Begin(link); err != nil {
		return err
	}
	return t.endpoint.Connect(link, peers)
}

// minRNRTimer is the code of 0.64 ms.
const minRNRTimer = 12

// start starts to move data.
func (t *endpointTest) start(ctx context.Context, cpus host.CPUs, others []int, yield bool) {
	loops := 0
	if !t.runner.passive() {
		loops = t.Threads
	}
	if t.release == nil {
		t.cpus, t.crowded, t.release = cpus.Reserve(t.choice.Port.Device, loops, others)
	}
	t.before = host.ReadCounters(t.choice.Port.Device, t.choice.Port.Number)
	t.runner.start(ctx, t.cpus, yield || t.crowded)
	t.runner.monitor.Start(t.runner.supervisor.Context(), t.runner.fail)
}

// peerTime is the time that the peer has to finish after this side has sent its last
// message: its loops may still run.
func (t *endpointTest) peerTime() time.Duration {
	return responseTime + t.Duration + time.Since(t.runner.begun)
}

// stop ends the loops and computes the figures. Only the first call has an effect.
func (t *endpointTest) stop() {
	if t.stopped {
		return
	}
	t.stopped = true
	err := t.runner.finish()
	after := host.ReadCounters(t.choice.Port.Device, t.choice.Port.Number)
	r := t.runner
	t.own = Side{
		Elapsed: r.used.Elapsed, User: r.used.User, System: r.used.System,
		CPUs: t.cpus, Counters: after.Since(t.before), Verified: t.Verify && err == nil,
	}
	t.own.Sent, t.own.Received = r.counts((*loop.QPFlow).Posted), r.counts((*loop.QPFlow).Received)
	var out, in []*stats.Windows
	for _, s := range r.streams {
		out, in = append(out, &s.Out), append(in, &s.In)
	}
	var series []ThroughputPart
	if r.Kind == Bandwidth && r.sends() {
		t.own.Out, series = throughput(t.Test, out)
	}
	if r.Kind == Bandwidth && r.receives() {
		t.own.In, _ = throughput(t.Test, in)
	}
	if m := t.measurement; m != nil {
		m.ClientSide, m.Sent, m.Windows = t.own, t.own.Out, series
		if r.ping != nil {
			m.Latency, m.Lost = r.ping.Samples, r.ping.Lost
		}
	}
}

// close releases all resources.
func (t *endpointTest) close() error {
	if t.runner != nil && t.runner.supervisor != nil {
		t.stop()
	}
	if t.release != nil {
		t.release()
		t.release = nil
	}
	if t.endpoint == nil {
		return nil
	}
	var err error
	if t.links != nil {
		err = t.links.Close()
	}
	if t.group != nil {
		err = errors.Join(err, t.group.Close())
	}
	err = errors.Join(err, t.endpoint.Close())
	t.endpoint = nil
	if errors.Is(err, verbs.ErrDeviceRemoved) {
		return nil // the removal has released the objects
	}
	return err
}

// checkGIDs validates the GIDs of a client.
func checkGIDs(gids []port.GID) error {
	const most = 2048
	if len(gids) > most || slices.ContainsFunc(gids, func(g port.GID) bool { return !validGID(g.Addr) }) {
		return errMessage
	}
	return nil
}

// validGID reports whether an address can be a GID.
func validGID(a netip.Addr) bool { return a.Is6() && a.Zone() == "" }
