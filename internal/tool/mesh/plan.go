package mesh

import (
	"context"
	"time"

	"github.com/ibkit/ibkit/report"
)

// PlanSchema is the schema of a [Plan] in JSON.
const PlanSchema = "ibkit/mesh-plan/1"

// A Plan is the prediction for a schedule.
type Plan struct {
	report.Head
	Schedule string     `json:"schedule"`
	Paths    PathSource `json:"paths"`
	Members  int        `json:"members"`
	Rounds   int        `json:"rounds"`
	Flows    int        `json:"flows"`
	Seconds  float64    `json:"seconds"` // estimate
	Unrouted int        `json:"unrouted"`
	Sharing  Sharing    `json:"sharing"`
	Coverage Coverage   `json:"coverage"`
}

// A Sharing is how many flows use a directed link at the same time as others.
type Sharing struct {
	Flows int     `json:"flows"` // that share a link with another flow of their round
	Share float64 `json:"share"` // of all flows
	Most  int     `json:"most"`  // flows on a link in a round
	Link  *string `json:"link"`  // the output port of that link; null: no flow crosses a link
	Round int     `json:"round"` // in which that happens, from 1
}

// A Coverage is how many directed links between switches the flows cross.
type Coverage struct {
	Links  int      `json:"links"`
	Used   int      `json:"used"`
	Least  int      `json:"least"` // flows on a used link
	Most   int      `json:"most"`
	Unused []string `json:"unused"` // output ports, at most 100; none without tables

	LeafPairs     int `json:"leaf_pairs"`      // pairs of leaf switches
	UsedLeafPairs int `json:"leaf_pairs_used"` // that flows connect, in either direction
}

// PlanOptions are the [NewPlan] options.
type PlanOptions struct {
	Schedule Schedule
	Nodes    []string // patterns; none: all hosts
	Began    time.Time

	Takes    time.Duration // by the measurements of a flow, with connecting
	LoadTime time.Duration // that rounds with congestors take longer

	// Each, if not nil, is called for each flow.
	Each func(round int, from, to string)
}

// memberTime is the coordinator's processor time for a member in a round.
const memberTime = 26 * time.Microsecond

// maxUnused limits the names of unused links.
const maxUnused = 100

// NewPlan predicts a schedule. It returns an error if ctx ends, or for a host in a schedule's
// file that the fabric does not have.
func NewPlan(ctx context.Context, w *Wiring, o PlanOptions) (*Plan, error) {
	if err := o.Schedule.file.check(w); err != nil {
		return nil, err
	}
	m := newMembers(w, func(e *end) bool { return w.selected(e, o.Nodes) })
	p := &Plan{Head: report.NewHead(PlanSchema, o.Began), Schedule: o.Schedule.String(), Paths: w.Paths, Members: len(m.ends)}
	p.Fail(w.routing.ReportFailures(w.names)...)
	t := newTraffic(m)
	now, total := make([]int32, t.paths.count), make([]int, t.paths.count)
	leaves := newLeafPairs(m)
	for round := range o.Schedule.rounds(m) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.Rounds++
		p.Flows += len(round)
		clear(now)
		for _, f := range round {
			links := t.links(f)
			leaves.add(f)
			for _, x := range links {
				now[x]++
				total[x]++
			}
			if o.Each != nil {
				o.Each(p.Rounds, m.name(f.from), m.name(f.to))
			}
		}
		p.share(t, round, now)
	}
	takes := time.Duration(p.Rounds) * (o.Takes + time.Duration(p.Members)*memberTime)
	if o.Schedule.Name == congestSchedule {
		takes += time.Duration(p.Rounds/2) * o.LoadTime
	}
	p.Seconds = takes.Seconds()
	if p.Flows > 0 {
		p.Sharing.Share = round(float64(p.Sharing.Flows) / float64(p.Flows))
	}
	p.cover(t, total)
	p.Coverage.LeafPairs, p.Coverage.UsedLeafPairs = leaves.count()
	return p, nil
}

// name returns a member's name in results: its node, or its port if the node has several.
func (m *members) name(i int32) string { return m.wiring.endName(m.ends[i]) }

// endName returns a name that [Wiring.resolve] finds.
func (w *Wiring) endName(i int32) string {
	e := &w.ends[i]
	if len(w.byName[e.label]) == 1 {
		return e.label
	}
	if name := w.portName(e.port); len(w.byName[name]) == 1 {
		return name
	}
	return e.port.GUID.String()
}

// share adds a round's shared links.
func (p *Plan) share(t *traffic, round []pair, now []int32) {
	for _, f := range round {
		shared := false
		for _, x := range t.links(f) {
			kind, number, _ := t.paths.kind(x)
			if kind != linkElement {
				continue
			}
			n := int(now[x])
			shared = shared || n > 1
			if n > p.Sharing.Most {
				p.Sharing.Most, p.Sharing.Round = n, p.Rounds
				p.Sharing.Link = new(t.paths.wiring.portName(t.paths.wiring.channels.Port(number)))
			}
		}
		if shared {
			p.Sharing.Flows++
		}
		if _, known := t.paths.of(t.path[:0], &Flow{From: f.from, To: f.to}); !known {
			p.Unrouted++
		}
	}
}

// cover counts the links that flows cross.
func (p *Plan) cover(t *traffic, total []int) {
	w := t.paths.wiring
	p.Coverage.Unused = []string{}
	for c := range w.channels.Count() {
		if !w.isFabricLink(c) {
			continue
		}
		p.Coverage.Links++
		n := total[c]
		if n == 0 {
			if w.Paths == FromTables && len(p.Coverage.Unused) < maxUnused {
				p.Coverage.Unused = append(p.Coverage.Unused, w.portName(w.channels.Port(c)))
			}
			continue
		}
		if p.Coverage.Used++; p.Coverage.Least == 0 || n < p.Coverage.Least {
			p.Coverage.Least = n
		}
		p.Coverage.Most = max(p.Coverage.Most, n)
	}
}
