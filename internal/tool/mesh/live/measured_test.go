package live_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/mesh/live"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// A network has engines that measure at its rates.
type network struct {
	rails int
	lock  sync.Mutex
	busy  int // running measurements

	// gbps returns the rate of a measurement between two members while others run.
	gbps func(from, to string, others int) float64
	// fail returns the error of a measurement.
	fail func(from, to string) crew.Figures
}

// An engine is the engine of a member.
type engine struct {
	*network
	name string
}

func (e engine) Offer() crew.Offer {
	o := crew.Offer{Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
	for i := range e.rails {
		o.Rails = append(o.Rails, crew.Rail{Device: fmt.Sprintf("x%d", i), Port: 1, Link: "Ethernet", Gbps: 100, Listen: uint16(i + 1)})
	}
	if e.name == "none" {
		o.Rails, o.Error = nil, "open device: this host has no RDMA device"
	}
	return o
}

func (engine) Serve(context.Context, []netip.Addr) {}

func (e engine) Measure(_ context.Context, _ []perf.Test, s crew.Send) crew.Figures {
	e.lock.Lock()
	e.busy++
	e.lock.Unlock()
	time.Sleep(time.Second)
	e.lock.Lock()
	others := e.busy - 1
	e.lock.Unlock()
	time.Sleep(time.Second)
	e.lock.Lock()
	e.busy--
	e.lock.Unlock()
	if f := e.fail(e.name, s.To); f.Error != "" {
		return f
	}
	gbps := e.gbps(e.name, s.To, others)
	return crew.Figures{Gbps: &gbps, Signs: []crew.Sign{{Receiver: true, Text: "requests out of sequence 7"}}}
}

// measured runs a schedule with the workers of a network.
func measured(t *testing.T, n *network, schedule string, names ...string) (r *mesh.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := testenv.NewPipes()
		var workers sync.WaitGroup
		defer workers.Wait()
		for _, name := range names {
			o := crew.WorkerOptions{Token: "t", Name: name, Coordinators: []string{"c"}, Within: time.Minute, Dial: l.Dial, Engine: engine{n, name}}
			workers.Go(func() {
				if _, err := crew.Work(context.Background(), o); err != nil {
					t.Error(err)
				}
			})
		}
		c, err := crew.Gather(t.Context(), l, crew.Options{Token: "t", Expect: names, Within: 5 * time.Second, Tests: []perf.Test{perf.NewTest(perf.Send, perf.Bandwidth, perf.RC, 1<<16)}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close("")
		s, err := mesh.ParseSchedule(schedule)
		if err != nil {
			t.Fatal(err)
		}
		fleet := live.Muster(c)
		w, course, seats, err := fleet.Place(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		run := live.Options{Course: course, Seats: seats, Pace: time.Second}
		r = live.Conclude(t.Context(), c, w, run, live.Run(t.Context(), c, run), mesh.Options{})
		r.Findings = append(fleet.Findings, r.Findings...)
	})
	return r
}

// TestRun_Measured judges the figures of workers without a known fabric.
func TestRun_Measured(t *testing.T) {
	about := func(host string, from, to string) bool { return host == from || host == to }
	for name, test := range map[string]struct {
		network  *network
		schedule string
		names    []string
		want     []string // findings
		detail   string   // in the last
		failed   int
	}{
		"healthy": {&network{rails: 1}, "shift", []string{"a", "b", "c", "d"}, nil, "", 0},
		"slow": {&network{rails: 1, gbps: func(from, to string, _ int) float64 {
			if about("b", from, to) {
				return 40
			}
			return 90
		}}, "shift", []string{"a", "b", "c", "d"}, []string{"slow-node b"}, "; alone: 44 % from b to c, 44 % from b to d (receiver: requests out of sequence 7)", 0},
		"congested": {&network{rails: 1, gbps: func(from, to string, others int) float64 {
			if about("b", from, to) && others > 0 {
				return 40
			}
			return 90
		}}, "shift", []string{"a", "b", "c", "d"}, []string{"congested b"}, "; good alone: 100 % from b to c, 100 % from b to d (receiver: requests out of sequence 7): other flows slow it", 0},
		"no device": {&network{rails: 1}, "shift", []string{"a", "b", "none"}, []string{"missing none"}, "it cannot measure: open device: this host has no RDMA device", 0},
		"fails": {&network{rails: 1, fail: func(from, to string) (f crew.Figures) {
			if about("c", from, to) {
				f.Error = "transport retry counter exceeded"
			}
			return f
		}}, "shift", []string{"a", "b", "c", "d"}, []string{"hung c"}, "have no figure: transport retry counter exceeded; alone: no figure from c to", 6},
		"corrupt": {&network{rails: 1, fail: func(from, to string) (f crew.Figures) {
			if from == "a" && to == "b" {
				f.Error, f.Corrupt = "payload is corrupt: byte 7", true
			}
			return f
		}}, "shift", []string{"a", "b", "c", "d"}, []string{"corrupt a to b"}, "payload is corrupt: byte 7", 1},
		"rails": {&network{rails: 2}, "rail", []string{"a", "b", "c"}, nil, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if test.network.gbps == nil {
				test.network.gbps = func(string, string, int) float64 { return 90 }
			}
			if test.network.fail == nil {
				test.network.fail = func(string, string) crew.Figures { return crew.Figures{} }
			}
			r := measured(t, test.network, test.schedule, test.names...)
			var got []string
			for _, f := range r.Findings {
				got = append(got, string(f.Kind)+" "+f.Subject)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("%s in %+v", d, r.Findings)
			}
			if n := len(r.Findings); n > 0 && !strings.Contains(r.Findings[n-1].Detail, test.detail) {
				t.Errorf("got detail %q, want %q", r.Findings[n-1].Detail, test.detail)
			}
			if r.Paths != mesh.FromNames || len(r.Failures) != test.failed || r.Partial != (test.failed > 0) {
				t.Errorf("got paths %s, failures %+v and partial %v, want %d failures", r.Paths, r.Failures, r.Partial, test.failed)
			}
			// A corrupt flow does not count.
			if flows := test.network.rails*12 - len(slices.DeleteFunc(slices.Clone(got), func(f string) bool { return !strings.HasPrefix(f, "corrupt") })); len(test.names) == 4 && r.Flows != flows {
				t.Errorf("got %d flows, want %d", r.Flows, flows)
			}
		})
	}
}
