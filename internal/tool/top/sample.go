package top

import (
	"math"
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// A Sample is the fabric's state in a window. It does not change.
type Sample struct {
	*Layout
	Time     time.Time     // the window's end
	Window   time.Duration // 0: there was a single pass, and values have no rates
	Took     time.Duration // the pass's duration
	Interval time.Duration // until the next pass; 0: it is the last pass
	Stats    umad.Stats    // since the start

	Values []Value // of Layout.Ports

	// Findings are the findings about counters, and Changes the error counters that
	// increased, by port index, for ports that have some.
	Findings map[int32][]counters.Finding
	Changes  map[int32][]Change

	Failed   int     // requests in the pass without a response
	Failures []error // of the pass, with node names
	Totals   Totals
}

// Partial reports whether a request in the scan or pass had no valid response.
func (s *Sample) Partial() bool { return s.Failed > 0 || s.Fabric.Partial() }

// A Value is a port's rates in a window, NaN if unknown.
type Value struct {
	Errors float32 // error counter increases per second, without waiting
	Xmit   float32 // share of the link rate, 0 to 1
	Rcv    float32
	Wait   float32 // share of the link rate lost by waiting
}

// A Change is an error counter's increase.
type Change struct {
	Counter   counters.Counter
	Increase  uint64
	Value     uint64
	PerSecond float64
}

// Totals are sums over a sample's ports.
type Totals struct {
	Xmit    float64 // bits per second that adapters sent
	Errors  float64 // per second
	Erring  int     // links with errors in the window
	Waiting int     // links that lost bandwidth above the limit
}

var unknown = float32(math.NaN())

// newSample returns a pass's sample.
func (l *Layout) newSample(port func(int32) *counters.Port, limits *counters.Limits) *Sample {
	s := &Sample{
		Layout: l, Values: make([]Value, len(l.Ports)),
		Findings: map[int32][]counters.Finding{}, Changes: map[int32][]Change{},
	}
	for i := range s.Values {
		s.Values[i] = Value{unknown, unknown, unknown, unknown}
		if p := port(int32(i)); p != nil {
			s.add(int32(i), p, limits)
		}
	}
	for i := range l.Links {
		v := s.Link(int32(i))
		if v.Errors > 0 {
			s.Totals.Erring++
		}
		if float64(v.Wait) > limits.Wait {
			s.Totals.Waiting++
		}
	}
	return s
}

// NewSample returns a sample of another tool's sweep, which ended now and took some time.
func NewSample(r *counters.Result, names *fabric.NameMap, took time.Duration) *Sample {
	l := newLayout(r.Fabric, names)
	s := l.newSample(func(i int32) *counters.Port { return r.Port(l.Ports[i].Port) }, &r.Limits)
	s.Time, s.Took, s.Stats = time.Now(), took, r.Stats
	s.addFailures(r.Nodes)
	return s
}

// AddFindings adds findings on a port from another source to its link. It may be called before
// the sample is used. A port that the sample does not have is ignored.
func (s *Sample) AddFindings(p *fabric.Port, findings []report.Finding) {
	i := s.Port(p.Node.GUID, p.Number)
	if i < 0 || s.Ports[i].Port != p || len(findings) == 0 {
		return
	}
	s.Ports[i].Findings = slices.Concat(s.Ports[i].Findings, findings)
	s.Links[s.Ports[i].Link].Problems += problems(findings)
}

// addFailures adds the failed requests to nodes.
func (s *Sample) addFailures(nodes []*counters.Node) {
	for _, n := range nodes {
		s.Failed += len(n.Failures)
		s.Failures = append(s.Failures, n.FailureErrors(s.Names)...)
	}
}

// add adds a port's counters.
func (s *Sample) add(i int32, p *counters.Port, limits *counters.Limits) {
	if found := limits.Findings(p); len(found) > 0 {
		s.Findings[i] = found
	}
	d := p.Delta()
	if d == nil {
		return
	}
	s.Window = max(s.Window, d.Window())
	v := &s.Values[i]
	rate := func(part float64, ok bool) float32 {
		if !ok {
			return unknown
		}
		return float32(part)
	}
	v.Xmit = rate(p.Utilization(d, counters.XmitData))
	v.Rcv = rate(p.Utilization(d, counters.RcvData))
	v.Wait = rate(p.LostBandwidth(d))
	for c := range counters.XmitData {
		ch, ok := d.Change(c)
		if !ok || c == counters.XmitWait {
			continue
		}
		if math.IsNaN(float64(v.Errors)) {
			v.Errors = 0
		}
		if ch.Increase == 0 {
			continue
		}
		perSecond := float64(ch.Increase) / ch.Window.Seconds()
		v.Errors += float32(perSecond)
		s.Changes[i] = append(s.Changes[i], Change{c, ch.Increase, ch.Now.N, perSecond})
	}
	if !s.Ports[i].Port.Node.IsSwitch() && v.Xmit > 0 {
		s.Totals.Xmit += float64(v.Xmit) * s.Ports[i].Rate
	}
	if v.Errors > 0 {
		s.Totals.Errors += float64(v.Errors)
	}
}

// Link returns a link's values: the error sum over both ends, the near end's transmission
// as Xmit and the far end's as Rcv, and the larger part of waiting.
func (s *Sample) Link(link int32) Value {
	l := s.Links[link]
	v := s.Values[l.Near]
	if l.Far < 0 {
		return v
	}
	far := s.Values[l.Far]
	v.Errors = sum(v.Errors, far.Errors)
	if far.Xmit == far.Xmit { // known: the sender counts what it sends
		v.Rcv = far.Xmit
	}
	v.Wait = larger(v.Wait, far.Wait)
	return v
}

// sum adds values, and ignores an unknown value.
func sum(a, b float32) float32 {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return a + b
}

// larger returns the larger value, and ignores an unknown value.
func larger(a, b float32) float32 {
	if a != a || b > a {
		return b
	}
	return a
}

// size returns the sample's memory in bytes, without the layout.
func (s *Sample) size() int {
	const value, entry = 16, 120
	return len(s.Values)*value + (len(s.Findings)+len(s.Changes))*entry
}
