package perf

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/perf/endpoint"
	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/port"
	"github.com/ibkit/ibkit/verbs"
)

// A side is this side of a test, from its endpoint to its figures.
type side struct {
	shape
	measurement *Measurement // the client's
	choice      port.Choice
	mtu         ib.MTU
	endpoint    *endpoint.Endpoint
	running     *running
	before      port.Counters
	cpus        []int
	crowded     bool // another loop runs on one of these, too
	release     func()
	own         Side
	stopped     bool
}

// open makes the client's endpoint at the GID that the server chose.
func (s *side) open(ports []*port.Port, p *prepared, o Options) error {
	if p.Port.GID.IsValid() {
		for _, one := range ports {
			for _, e := range one.GIDs {
				if e.GID == p.ClientGID.Addr && e.Type == p.ClientGID.Type && e.Index < 256 && s.choice.Port == nil &&
					(o.GIDIndex < 0 || int(e.Index) == o.GIDIndex) {
					s.choice = port.Choice{Port: one, Index: uint8(e.Index), Local: p.ClientGID, Why: p.Port.Why}
				}
			}
		}
	} else {
		s.choice.Port = port.InfiniBand(ports)
	}
	if s.choice.Port == nil {
		return fmt.Errorf("%w: it chose a GID that this side has not", errMessage)
	}
	if err := s.decideMTU(p.Port.MTU); err != nil {
		return err
	}
	if o.GIDIndex >= 0 {
		s.choice.Why = "it was asked for"
	}
	s.measurement.Client, s.measurement.MTU = ends(s.choice), s.mtu.Bytes()
	return s.makeEndpoint()
}

// decideMTU takes what both ports do, or what the test wants.
func (s *side) decideMTU(others int) error {
	own := s.choice.Port.Attr.ActiveMTU
	other := mtuOf(others)
	if other == 0 {
		return fmt.Errorf("%w: an MTU of %d", errMessage, others)
	}
	s.mtu = min(own, other)
	if s.MTU != 0 {
		if want := mtuOf(s.MTU); want > s.mtu {
			return fmt.Errorf("use an MTU of %d: the ports do %v and %v", s.MTU, own, other)
		}
		s.mtu = mtuOf(s.MTU)
	}
	return s.checkDatagram()
}

// checkDatagram looks whether a datagram fits a packet.
func (s *side) checkDatagram() error {
	if s.Transport == UD && s.Size > s.mtu.Bytes() {
		return ownError{fmt.Errorf("send %d bytes over ud: a datagram is one packet, of %v bytes at most here", s.Size, s.mtu)}
	}
	return nil
}

func (s *side) makeEndpoint() error {
	o := s.shape.endpoint()
	var err error
	if s.endpoint, err = endpoint.New(s.choice.Port, o); err == nil {
		return nil
	}
	switch {
	case !errors.Is(err, syscall.EINVAL):
	case errors.As(err, new(*verbs.LimitError)):
		err = fmt.Errorf("%w: less of --tx-depth, --rx-depth and --qps, or more --threads, want fewer", err)
	case o.Inline > 0:
		err = fmt.Errorf("%w: %d bytes may be more than the device takes in a work request (--inline)", err, o.Inline)
	}
	return ownError{err}
}

// ends says where a side's queue pairs are.
func ends(c port.Choice) Ends {
	p := c.Port
	e := Ends{
		Device: p.Device, Driver: p.Context.Driver().String(), Port: p.Number, Link: p.Attr.LinkLayer.String(), LID: uint16(p.Attr.LID),
		GIDIndex: -1, MTU: p.Attr.ActiveMTU.Bytes(),
	}
	if c.Local.Addr.IsValid() {
		e.GID, e.GIDType, e.GIDIndex, e.Why = c.Local.Addr, c.Local.Type.String(), int(c.Index), c.Why
	}
	return e
}

// readsIn is how many reads and atomics this side answers at a time.
func (s *side) readsIn() uint8 {
	if s.Op == Send || s.Op == Write {
		return 1
	}
	return uint8(min(16, max(1, s.choice.Port.Limits.MaxQPRdAtom)))
}

// link is how the queue pairs are connected.
func (s *side) link(gid netip.Addr, lid uint16, othersReads uint8) endpoint.Link {
	return endpoint.Link{
		GID: gid, GIDIndex: s.choice.Index, LID: lid, MTU: s.mtu, SL: s.SL, TrafficClass: s.TrafficClass, FlowLabel: s.FlowLabel,
		HopLimit: s.HopLimit, PKeyIndex: s.PKeyIndex, Timeout: s.Timeout, RetryCount: s.RetryCount, RNRRetry: s.RNRRetry,
		MinRNRTimer: minRNRTimer, ReadsOut: min(othersReads, s.readsIn()), ReadsIn: s.readsIn(), QKey: qkey,
	}
}

// minRNRTimer is 0.64 ms.
const minRNRTimer = 12

// start begins to move data.
func (s *side) start(ctx context.Context, cpus CPUs, others []int, yield bool) {
	loops := 0
	if !s.running.idle() {
		loops = s.Threads
	}
	if s.release == nil {
		s.cpus, s.crowded, s.release = cpus.reserve(s.choice.Port.Device, loops, others)
	}
	s.before = port.ReadCounters(sysfs.Default, s.choice.Port.Device, s.choice.Port.Number)
	s.running.start(ctx, s.cpus, yield || s.crowded)
	s.running.device.Begin(s.running.watch.Context(), s.running.fail)
}

// slack is how long the other side may take to come to its end after this one has
// sent all: its loops may still run.
func (s *side) slack() time.Duration { return answerTime + s.Duration + time.Since(s.running.begun) }

// stop ends the loops and takes the figures, once.
func (s *side) stop() {
	if s.stopped {
		return
	}
	s.stopped = true
	err := s.running.finish()
	after := port.ReadCounters(sysfs.Default, s.choice.Port.Device, s.choice.Port.Number)
	r := s.running
	s.own = Side{
		Elapsed: r.took, User: time.Duration(r.used.User), System: time.Duration(r.used.System),
		CPUs: s.cpus, Counters: after.Since(s.before), Verified: s.Verify && err == nil,
	}
	s.own.Sent, s.own.Received = r.counts((*loop.Lane).Posted), r.counts((*loop.Lane).Received)
	var out, in []*loop.Windows
	for _, st := range r.streams {
		out, in = append(out, &st.Out), append(in, &st.In)
	}
	var series []ThroughputPart
	if r.Kind == Bandwidth && r.sends() {
		s.own.Out, series = throughput(s.Test, out)
	}
	if r.Kind == Bandwidth && r.receives() {
		s.own.In, _ = throughput(s.Test, in)
	}
	if m := s.measurement; m != nil {
		m.ClientSide, m.Sent, m.Windows = s.own, s.own.Out, series
		if r.ping != nil {
			m.Latency, m.Lost = r.ping.Samples, r.ping.Lost
		}
	}
}

// close frees all that the side has.
func (s *side) close() error {
	if s.running != nil && s.running.watch != nil {
		s.stop()
	}
	if s.release != nil {
		s.release()
		s.release = nil
	}
	if s.endpoint == nil {
		return nil
	}
	err := s.endpoint.Close()
	s.endpoint = nil
	if errors.Is(err, verbs.ErrDeviceRemoved) {
		return nil // with the device all is gone
	}
	return err
}

// checkGIDs looks at what a client says of its GIDs.
func checkGIDs(gids []port.GID) error {
	const most = 2048
	if len(gids) > most || slices.ContainsFunc(gids, func(g port.GID) bool { return !validGID(g.Addr) }) {
		return errMessage
	}
	return nil
}
