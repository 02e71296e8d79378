package crew

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// A Round is a set of measurements at the same time.
type Round struct {
	Takes time.Duration // estimate for a flow; 0: short
	Flows []Flow

	// All asks members without a flow too whether they are there.
	All bool
}

// A Flow is a measurement from a member's rail to another member's, or a simulated one with
// its result.
type Flow struct {
	From, To         string
	FromRail, ToRail int
	Model            *Figures

	Load bool          // runs the load of the crew instead of the tests
	Wait time.Duration // before it begins, for loads
}

// A State is the fate of a flow.
type State string

// States of a flow.
const (
	Measured State = "measured" // Figures are the results, or the error of the pair
	Broken   State = "broken"   // an end was lost in this round
	Paused   State = "paused"   // an end was lost before
)

// An Outcome is a flow with its result.
type Outcome struct {
	Flow
	State State
	Figures
}

// Limits of a round.
const (
	firstLimit = 30 * time.Second // without the time of an earlier round
	minLimit   = 2 * time.Second
	reserve    = 500 * time.Millisecond // for the reports of pairs at the limit
)

// limit returns the time in which all members must report.
func (c *Crew) limit(r Round) time.Duration {
	if len(c.times) == 0 {
		return max(firstLimit, 3*r.Takes+c.o.Retry)
	}
	times := slices.Clone(c.times)
	slices.Sort(times)
	return max(minLimit, 3*max(r.Takes, times[len(times)/2])+c.o.Retry)
}

// silence returns the time after which a worker without a message gives up.
func (o Options) silence() time.Duration { return o.Within + 10*time.Minute }

// A running round.
type round struct {
	crew     *Crew
	outcomes []Outcome
	tasks    map[*member]*Task
	flows    map[*member][]int // in outcomes, by the member that sends
	waiting  map[*member]bool
}

// Round runs a round and returns the outcomes in the order of the flows. An end of ctx ends
// it with an error; its measurements are lost.
func (c *Crew) Round(ctx context.Context, r Round) ([]Outcome, error) {
	c.number++
	began := time.Now()
	limit := c.limit(r)
	n := c.assign(r, limit)
	for m, t := range n.tasks {
		if err := m.send(message{Task: t}); err != nil {
			c.lose(m, Died, err.Error())
			delete(n.waiting, m)
		}
	}
	lost := len(n.tasks) - len(n.waiting)
	if err := n.collect(ctx, limit-time.Since(began)); err != nil {
		return nil, err
	}
	for _, m := range c.order {
		if n.waiting[m] {
			c.lose(m, Hung, fmt.Sprintf("no report within %v", limit))
			lost++
		}
	}
	n.judge()
	if lost == 0 {
		c.times = append(c.times, time.Since(began))
	}
	return n.outcomes, nil
}

// assign returns the round with the members' tasks.
func (c *Crew) assign(r Round, limit time.Duration) *round {
	n := &round{crew: c, tasks: map[*member]*Task{}, flows: map[*member][]int{}, waiting: map[*member]bool{}}
	take := func(m *member) *Task {
		if n.tasks[m] == nil {
			n.tasks[m] = &Task{Number: c.number, Within: limit - reserve}
			n.waiting[m] = true
		}
		return n.tasks[m]
	}
	for i, f := range r.Flows {
		o := Outcome{Flow: f, State: Paused}
		from, to := c.byName[f.From], c.byName[f.To]
		if from != nil && to != nil && from.lost == nil && to.lost == nil {
			o.State = Broken // until there is a report
			t := take(from)
			t.Sends = append(t.Sends, to.target(f))
			n.flows[from] = append(n.flows[from], i)
			take(to)
		}
		n.outcomes = append(n.outcomes, o)
	}
	for _, m := range c.order {
		if r.All && m.lost == nil {
			take(m)
		}
	}
	return n
}

// target returns the part of the sender in a flow to a member.
func (m *member) target(f Flow) Send {
	s := Send{To: f.To, Rail: f.FromRail, Load: f.Load, Wait: f.Wait, Model: f.Model}
	if f.Model == nil && f.ToRail < len(m.offer.Rails) {
		s.Peer = netip.AddrPortFrom(m.address(), m.offer.Rails[f.ToRail].Listen).String()
	}
	return s
}

// collect takes the reports until all members have reported or the limit is over.
func (n *round) collect(ctx context.Context, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for len(n.waiting) > 0 {
		select {
		case a := <-n.crew.inbox:
			n.take(a)
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// take handles a message of a member.
func (n *round) take(a arrival) {
	c, m := n.crew, a.from
	switch {
	case m.lost != nil:
	case a.err != nil:
		c.lose(m, Died, reasonOfEnd(a.err))
	case a.Leave != "":
		c.lose(m, Left, a.Leave)
	case a.Report == nil:
		c.lose(m, Died, "it sent an unexpected message")
	case a.Report.Number != c.number: // of an earlier round, which was interrupted
		return
	case len(a.Report.Results) != len(n.flows[m]):
		c.lose(m, Died, fmt.Sprintf("got a report with %d results, want %d", len(a.Report.Results), len(n.flows[m])))
	default:
		for i, f := range a.Report.Results {
			o := &n.outcomes[n.flows[m][i]]
			o.Figures, o.State = f, Measured
		}
	}
	delete(n.waiting, m)
}

// judge marks the failures of pairs that lost their other end: they are no measurements.
func (n *round) judge() {
	for i := range n.outcomes {
		o := &n.outcomes[i]
		if to := n.crew.byName[o.To]; o.State == Measured && o.Error != "" && to.lost != nil {
			o.State = Broken
		}
	}
}
