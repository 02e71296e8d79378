package watch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// A scenario is a simulated fabric that changes while it is watched. By default, demo's
// links are watched from node01 for a simulated minute.
type scenario struct {
	name   string
	fabric string
	script string // events in the simulated fabric

	options Options
	emit    func(*Event) error // may be nil

	// before, if not nil, is called before each packet is sent. An error fails the port.
	before func(packet) error
	taken  func(opened int) bool // whether another program receives the notices; may be nil

	want []string // lines from stream.lines, without SourceUp at the start
}

// A packet is about to be sent.
type packet struct {
	*umad.Message
	fabric *sim.Fabric
	opened int           // times that the local port was opened
	since  time.Duration // since the start
}

// A stream is a scenario's result.
type stream struct {
	summary *Summary
	err     error
	events  []*Event
	start   time.Time
}

// watch runs a scenario.
func (s *scenario) watch(t *testing.T) (r stream) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f, err := sim.Build(cmp.Or(s.fabric, "demo"))
		if err != nil {
			t.Fatal(err)
		}
		script, err := f.ParseEvents(strings.NewReader(s.script), "script")
		if err != nil {
			t.Fatal(err)
		}
		o, opened := s.options, 0
		r.start = time.Now()
		o.Fabric.OpenPort = func(context.Context) (umad.Port, error) {
			p, err := f.Open("")
			opened++
			if err != nil {
				return nil, err
			}
			return &hookedPort{p.(umad.Responder), s, packet{fabric: f, opened: opened}, r.start}, nil
		}
		if o.Sources == nil {
			o.Sources = []Source{Links}
		}
		if o.Limits.Wait == 0 {
			o.Limits = counters.Limits{Thresholds: counters.RecommendedThresholds(), Wait: 1}
		}
		o.Duration = cmp.Or(o.Duration, time.Minute)
		o.Fabric.Client.Timeout = cmp.Or(o.Fabric.Client.Timeout, 100*time.Millisecond)
		f.Play(script, func(err error) { t.Error(err) })
		r.summary, r.err = Run(t.Context(), o, func(e *Event) error {
			r.events = append(r.events, e)
			if s.emit != nil {
				return s.emit(e)
			}
			return nil
		})
	})
	return r
}

// lines returns the events as "TIME EVENT SUBJECT - PEER: TEXT" with times in whole seconds.
func (r *stream) lines() (all []string) {
	for _, e := range r.events {
		line := fmt.Sprintf("%v %v", e.Time.Sub(r.start).Truncate(time.Second), e.Kind)
		if e.Subject != "" {
			line += " " + e.Subject
		}
		if p := e.Data.Peer; p != nil {
			line += " - " + p.String()
		}
		if e.Detail != "" {
			line += ": " + e.Detail
		}
		all = append(all, line)
	}
	return all
}

// check runs a scenario and compares its events.
func (s *scenario) check(t *testing.T) stream {
	t.Helper()
	r := s.watch(t)
	if r.err != nil {
		t.Errorf("got error %v", r.err)
	}
	got := slices.DeleteFunc(r.lines(), func(line string) bool { return strings.HasPrefix(line, "0s source-up") })
	if !slices.Equal(got, s.want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(s.want, "\n\t"))
	}
	return r
}

// checkAll runs scenarios as subtests.
func checkAll(t *testing.T, all []scenario) {
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) { s.check(t) })
	}
}

// A hookedPort is a port with a scenario's functions.
type hookedPort struct {
	umad.Responder
	*scenario
	packet
	start time.Time
}

func (p *hookedPort) Send(m *umad.Message) error {
	if p.before != nil {
		c := p.packet
		c.Message, c.since = m, time.Since(p.start)
		if err := p.before(c); err != nil {
			return err
		}
	}
	return p.Responder.Send(m)
}

func (p *hookedPort) Listen(service umad.Service) error {
	if p.taken != nil && p.taken(p.opened) {
		return umad.ErrTaken
	}
	return p.Responder.Listen(service)
}
