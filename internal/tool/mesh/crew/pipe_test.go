package crew

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/jsonframe"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

const (
	token   = "secret"
	version = "1.2.3"
)

// A rig is a listener with workers in goroutines.
type rig struct {
	t       *testing.T
	l       *testenv.Pipes
	workers sync.WaitGroup
	lock    sync.Mutex
	ends    map[string]string // summary or error by worker
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, l: testenv.NewPipes(), ends: map[string]string{}}
	t.Cleanup(r.workers.Wait)
	return r
}

func (r *rig) options(name string) WorkerOptions {
	return WorkerOptions{Token: token, Version: version, Name: name, Coordinators: []string{"c"}, Within: time.Minute, Dial: r.l.Dial}
}

// join starts workers.
func (r *rig) join(ctx context.Context, all ...WorkerOptions) {
	for _, o := range all {
		r.workers.Go(func() {
			summary, err := Work(ctx, o)
			if err != nil {
				summary = err.Error()
			}
			r.lock.Lock()
			defer r.lock.Unlock()
			r.ends[o.Name] = summary
		})
	}
}

// end returns the summary or the error of a worker, once all have ended.
func (r *rig) end(name string) string {
	r.workers.Wait()
	return r.ends[name]
}

// gather returns a crew of workers with names, which have joined or failed to.
func (r *rig) gather(expect ...string) *Crew {
	r.t.Helper()
	c, err := Gather(r.t.Context(), r.l, Options{Token: token, Version: version, Expect: expect, Within: 30 * time.Second})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// puppet joins as a worker; the test sends and reads its further messages.
func (r *rig) puppet(name string) net.Conn {
	r.t.Helper()
	l, err := r.options(name).join(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return l.conn
}

// gatherWith returns a crew of workers and of a puppet, and the puppet's connection. It has
// read the puppet's first message.
func (r *rig) gatherWith(puppet string, others ...string) (*Crew, net.Conn) {
	r.t.Helper()
	crew := make(chan *Crew)
	go func() { crew <- r.gather(append(others, puppet)...) }()
	conn := r.puppet(puppet)
	if m, err := read(conn, maxMessage); err != nil || m.Begin == nil {
		r.t.Errorf("got %+v, %v, want begin", m, err)
	}
	return <-crew, conn
}

// A measure is an engine without rails.
type measure func(context.Context, Send) Figures

func (measure) Offer() Offer                        { return Offer{} }
func (measure) Serve(context.Context, []netip.Addr) {}

func (m measure) Measure(ctx context.Context, _ []perf.Test, s Send) Figures { return m(ctx, s) }

// figures returns simulated figures.
func figures(gbps float64) *Figures { return &Figures{Gbps: &gbps, Takes: 50 * time.Millisecond} }

// ring returns a round in which each name sends to the next.
func ring(names ...string) (r Round) {
	for i, name := range names {
		r.Flows = append(r.Flows, Flow{From: name, To: names[(i+1)%len(names)], Model: figures(float64(i + 1))})
	}
	return r
}

// text returns outcomes as "a>b 1 measured".
func text(all []Outcome) (lines []string) {
	for _, o := range all {
		figure := o.Error
		if o.Gbps != nil {
			figure = fmt.Sprint(*o.Gbps)
		}
		lines = append(lines, fmt.Sprintf("%s>%s %s %s", o.From, o.To, figure, o.State))
	}
	return lines
}

// readTask reads until the next task.
func readTask(t *testing.T, conn net.Conn) *Task {
	t.Helper()
	for {
		m, err := read(conn, maxMessage)
		if err != nil {
			t.Error(err)
			return nil
		}
		if m.Task != nil {
			return m.Task
		}
	}
}

func sendTo(t *testing.T, conn net.Conn, m message) {
	t.Helper()
	if err := jsonframe.Write(conn, m, maxMessage); err != nil {
		t.Error(err)
	}
}
