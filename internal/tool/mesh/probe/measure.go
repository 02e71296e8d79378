package probe

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
)

// Measure runs tests with the rail of another member.
func (p *Probe) Measure(ctx context.Context, tests []perf.Test, s crew.Send) (f crew.Figures) {
	if s.Rail < 0 || s.Rail >= len(p.offer.Rails) || s.Peer == "" {
		return crew.Figures{Error: "no rail at one of the ends"}
	}
	rail := p.offer.Rails[s.Rail]
	before := p.link(rail)
	r, err := perf.Run(ctx, perf.Options{
		Server: s.Peer, Tests: tests, Identity: p.identity, Device: rail.Device, Port: rail.Port, GIDIndex: -1, ReduceDepth: true,
	})
	f = figures(r, err)
	if after := p.link(rail); after != before {
		f.Signs = append(f.Signs, crew.Sign{Text: fmt.Sprintf("link %s before, %s after", before, after)})
	}
	return f
}

// link describes the state and rate of a rail's link.
func (p *Probe) link(r crew.Rail) string {
	port, err := p.sysfs.Port(r.Device, r.Port)
	if err != nil {
		return "not readable"
	}
	return fmt.Sprintf("%v, %s", port.State, linkRate(p.sysfs, r.Device, r.Port))
}

// figures returns the figures of all tests, with the counters that explain bad ones.
func figures(r *perf.Result, err error) (f crew.Figures) {
	if err != nil {
		f.Error, f.Corrupt = err.Error(), perf.IsCorrupt(err)
	}
	if r == nil {
		return f
	}
	sender, receiver := host.Counters{}, host.Counters{}
	for i := range r.Measurements {
		m := &r.Measurements[i]
		addFigure(&f, m)
		addCounters(sender, m.ClientSide.Counters)
		addCounters(receiver, m.ServerSide.Counters)
	}
	f.Signs = append(signs(sender, false), signs(receiver, true)...)
	return f
}

// addFigure takes the figure of a measurement.
func addFigure(f *crew.Figures, m *perf.Measurement) {
	switch {
	case m.Err != nil:
	case m.Latency != nil:
		f.Latency = new(float64(m.Latency.Quantile(0.5)) * m.Test.LatencyFactor() / 1000)
	case m.Received != nil: // of sends
		f.Gbps = new(m.Received.Rate() * 8 / 1e9)
	case m.Sent != nil:
		f.Gbps = new(m.Sent.Rate() * 8 / 1e9)
	}
}

func addCounters(sum, c host.Counters) {
	for name, n := range c {
		sum[name] += n
	}
}

// signs describes the counters that explain bad figures.
func signs(c host.Counters, receiver bool) (all []crew.Sign) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if meaning := host.Trouble(name); meaning != "" {
			all = append(all, crew.Sign{Receiver: receiver, Text: fmt.Sprintf("%s %d", meaning, c[name])})
		}
	}
	return all
}
