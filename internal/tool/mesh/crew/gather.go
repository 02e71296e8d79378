package crew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/ibkit/ibkit/internal/hostlist"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// Options are the properties of a coordinator.
type Options struct {
	Token   string
	Version string // that each worker must have

	Expect []string      // names, in the order of Members; nil: Count workers with any name
	Count  int           // without Expect
	Within time.Duration // time for joining
	Absent <-chan string // names of workers in Expect that cannot join; nil: unknown
	Retry  time.Duration // time in which a transport gives up, part of the limit of a round
	// Tests are the measurements between members; none: figures are simulated.
	Tests []perf.Test
	// Load are the tests of flows that load the network.
	Load []perf.Test

	// Event, unless nil, is called for each event, from several goroutines.
	Event func(Event)
}

// An Event is a change in the crew. One member is set.
type Event struct {
	Refused *Refusal
	Lost    *Loss
}

func (o Options) event(e Event) {
	if o.Event != nil {
		o.Event(e)
	}
}

// size returns the number of expected workers.
func (o Options) size() int {
	if o.Expect != nil {
		return len(o.Expect)
	}
	return o.Count
}

// A Crew is a coordinator with the workers that joined.
type Crew struct {
	o        Options
	listener net.Listener
	place    map[string]int // expected names
	inbox    chan arrival
	over     chan struct{} // closed at the end
	changed  chan struct{} // a worker joined
	running  sync.WaitGroup

	lock     sync.Mutex
	members  map[string]*member
	begun    bool
	refused  []Refusal
	refusals int // all, also beyond the limit of refused

	order  []*member // from begin on
	byName map[string]*member
	number int // of the current round
	times  []time.Duration
}

// ErrNobody is returned if no worker joined.
var ErrNobody = errors.New("no worker joined")

// Gather accepts workers until all have joined, the time is over or ctx ends. Later workers
// are refused until [Crew.Close], which the caller must call, and which closes the listener.
func Gather(ctx context.Context, l net.Listener, o Options) (*Crew, error) {
	c := &Crew{
		o: o, listener: l, place: map[string]int{}, members: map[string]*member{},
		inbox: make(chan arrival, o.size()), over: make(chan struct{}), changed: make(chan struct{}, 1),
	}
	for i, name := range o.Expect {
		c.place[name] = i
	}
	c.running.Go(c.accept)
	err := c.wait(ctx)
	if err == nil {
		err = c.begin()
	}
	if err != nil {
		c.release()
		c.Close("")
		return nil, err
	}
	return c, nil
}

// wait waits until all workers have joined, or for the time for joining.
func (c *Crew) wait(ctx context.Context) error {
	timer := time.NewTimer(c.o.Within)
	defer timer.Stop()
	absent := map[string]bool{}
	for c.joined(absent)+len(absent) < c.o.size() {
		select {
		case <-c.changed:
		case name := <-c.o.Absent:
			absent[name] = true
		case a := <-c.inbox:
			if a.err != nil || a.Leave != "" {
				c.drop(a.from)
			}
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// joined counts the joined members that are not in absent.
func (c *Crew) joined(absent map[string]bool) int {
	c.lock.Lock()
	defer c.lock.Unlock()
	n := 0
	for name, m := range c.members {
		if m.welcome && !absent[name] {
			n++
		}
	}
	return n
}

// drop frees the name of a worker that left before the run.
func (c *Crew) drop(m *member) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.members[m.Name] == m {
		delete(c.members, m.Name)
	}
	_ = m.conn.Close()
}

// begin ends the joining and informs all members.
func (c *Crew) begin() error {
	c.lock.Lock()
	c.begun = true
	for _, m := range c.members {
		if m.welcome {
			c.order = append(c.order, m)
		} else {
			_ = m.conn.Close()
		}
	}
	c.lock.Unlock()
	if len(c.order) == 0 {
		return fmt.Errorf("wait for %d workers: %w", c.o.size(), ErrNobody)
	}
	c.byName = map[string]*member{}
	for _, m := range c.order {
		c.byName[m.Name] = m
	}
	slices.SortFunc(c.order, func(a, b *member) int {
		return cmp.Or(c.place[a.Name]-c.place[b.Name], hostlist.Compare(a.Name, b.Name))
	})
	start := &begin{}
	if c.o.Tests != nil {
		start.Tests, start.Load, start.Serve = c.o.Tests, c.o.Load, c.addresses()
	}
	for _, m := range c.order {
		if err := m.send(message{Begin: start}); err != nil {
			c.lose(m, Died, err.Error())
		}
	}
	return nil
}

// nameFormat is the format of member names: host names, also with a task number.
var nameFormat = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._:-]{0,254}$`)

// seat accepts a worker that knows the token, or returns the reason why not. The caller holds
// the lock.
func (c *Crew) seat(m *member, version string) (reason string) {
	_, expected := c.place[m.Name]
	switch other := c.members[m.Name]; {
	case version != c.o.Version:
		return fmt.Sprintf("version %s, want %s", version, c.o.Version)
	case !nameFormat.MatchString(m.Name):
		return "invalid name"
	case c.o.Expect != nil && !expected:
		return "unexpected name"
	case c.begun:
		return "too late: the run has begun"
	case other != nil && other.index != nil && m.index != nil:
		return fmt.Sprintf("index %d is on the node of index %d", *m.index, *other.index)
	case other != nil:
		return fmt.Sprintf("name already in use at %v", other.conn.RemoteAddr())
	case len(c.members) >= c.o.size():
		return fmt.Sprintf("too many workers, want %d", c.o.size())
	}
	c.members[m.Name] = m
	return ""
}

// admit adds a worker that has been welcomed.
func (c *Crew) admit(m *member) {
	c.lock.Lock()
	m.welcome = true
	c.lock.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}
