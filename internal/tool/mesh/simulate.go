package mesh

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// SimulateOptions are the [Simulate] options.
type SimulateOptions struct {
	Schedule Schedule
	Faults   []Fault
	Noise    float64 // relative deviation of figures
	Seed     uint64

	// Alone calculates each flow without the others in its round.
	Alone bool
}

// The model of an undisturbed flow.
const (
	efficiency  = 0.93 // of the data rate
	unknownGbps = 100  // rate of links with an unknown rate
	adapterTime = 0.62 // µs
	switchTime  = 0.13 // µs
)

// A model calculates figures from the routes, the links' rates and faults. Flows that use
// a link at the same time share its rate equally.
type model struct {
	options SimulateOptions
	wiring  *Wiring
	all     *elements
	rate    []float64 // by element, 0: without data; switches: relative, of each flow
	delay   []float64
	hangs   []bool // by end port
	missing []bool
	own     []Fault // of the host, by end port
	flows   []int32 // of the round, by element
	path    []element
	random  *rand.Rand
}

// Simulate calculates the results of a schedule. It returns an error if ctx ends, or for a host
// in a schedule's file that the fabric does not have.
func Simulate(ctx context.Context, w *Wiring, o SimulateOptions) (*Results, error) {
	if err := o.Schedule.file.check(w); err != nil {
		return nil, err
	}
	take := newMembers(w, nil)
	return simulateRounds(ctx, take, o.Schedule.rounds(take), o)
}

// simulateRounds is [Simulate] for rounds of members.
func simulateRounds(ctx context.Context, take *members, rounds iter.Seq[[]pair], o SimulateOptions) (*Results, error) {
	w := take.wiring
	m := newModel(w, o)
	r := &Results{Format: JSON}
	for _, end := range take.ends {
		r.name([]byte(w.endName(end)))
	}
	parts, number := o.Schedule.parts(take), -1
	for round := range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		number++
		m.load(take, round)
		for _, p := range round {
			a, b := take.ends[p.from], take.ends[p.to]
			if m.missing[a] || m.missing[b] {
				continue
			}
			f := m.measure(a, b)
			f.From, f.To = p.from, p.to
			r.addPart(parts(number, p.from), f)
		}
	}
	return r, nil
}

// newModel sets the elements' rates and delays.
func newModel(w *Wiring, o SimulateOptions) *model {
	m := &model{options: o, wiring: w, all: w.allElements(), random: rand.New(rand.NewPCG(o.Seed, 2))}
	m.rate, m.delay = make([]float64, m.all.count), make([]float64, m.all.count)
	m.hangs, m.missing = make([]bool, len(w.ends)), make([]bool, len(w.ends))
	m.flows, m.own = make([]int32, m.all.count), make([]Fault, len(w.ends))
	for i := range m.own {
		m.own[i].Share = 1
	}
	for x := range m.rate {
		switch kind, number, _ := m.all.kind(element(x)); kind {
		case linkElement:
			p := w.channels.Port(number)
			m.rate[x] = portRate(p, dataRate(p))
		case endElement:
			m.rate[x] = portRate(w.ends[number].port, w.ends[number].gbps)
		case switchElement, hostElement:
			m.rate[x] = 1
		}
	}
	for i := range o.Faults {
		m.addFault(&o.Faults[i])
	}
	return m
}

// portRate returns the rate of flows over a port's link, 0 if it is not active.
func portRate(p *route.Port, gbps float64) float64 {
	if p.Inactive() != nil {
		return 0
	}
	return efficiency * linkRate(gbps)
}

func linkRate(gbps float64) float64 {
	if gbps == 0 {
		return unknownGbps
	}
	return gbps
}

func (m *model) addFault(f *Fault) {
	for _, x := range f.elements {
		m.rate[x] *= f.Share
		kind, number, receives := m.all.kind(x)
		m.delay[x] += f.Micros
		if kind == endElement && !receives {
			m.hangs[number] = m.hangs[number] || f.Hangs
			m.missing[number] = m.missing[number] || f.Missing
		}
	}
	for _, end := range f.hosts {
		m.own[end].Share *= f.Share
		m.own[end].Micros += f.Micros
	}
}

// load counts the flows on each element in a round.
func (m *model) load(take *members, round []pair) {
	if m.options.Alone {
		return
	}
	clear(m.flows)
	for _, p := range round {
		m.path, _ = m.all.of(m.path[:0], &Flow{From: take.ends[p.from], To: take.ends[p.to]})
		if m.isDead(m.path) {
			continue
		}
		for _, x := range m.path {
			m.flows[x]++
		}
	}
}

// isDead reports whether a path has a link without data.
func (m *model) isDead(path []element) bool {
	return slices.ContainsFunc(path, func(x element) bool { return m.rate[x] == 0 })
}

// measure calculates a flow between end ports.
func (m *model) measure(from, to int32) Flow {
	f := Flow{from, to, none, none}
	path, known := m.all.of(m.path[:0], &f)
	m.path = path
	noise := [2]float64{m.random.NormFloat64(), m.random.NormFloat64()}
	if m.hangs[from] || m.hangs[to] || !known || m.isDead(path) {
		return f
	}
	gbps, share, micros := math.Inf(1), 1.0, adapterTime
	if f.isLoopback() {
		share, micros = m.own[from].Share, micros+m.own[from].Micros
	}
	for _, x := range path {
		micros += m.delay[x]
		switch kind, _, _ := m.all.kind(x); kind {
		case switchElement:
			share = min(share, m.rate[x])
			micros += switchTime
		case linkElement, endElement:
			gbps = min(gbps, m.rate[x]/float64(max(m.flows[x], 1)))
		}
	}
	full := efficiency * linkRate(min(m.wiring.ends[from].gbps, m.wiring.ends[to].gbps))
	gbps = min(gbps, share*full)
	f.Gbps = float32(min(gbps*math.Exp(m.options.Noise*noise[0]), maxShare*full/efficiency))
	f.Micros = float32(micros * math.Exp(m.options.Noise*noise[1]))
	return f
}
