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

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/mesh/live"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/sim"
)

// A network has engines that measure at its rates.
type network struct {
	rails int
	reads bool
	guids map[string]ib.GUID // InfiniBand ports; nil: Ethernet
	lock  sync.Mutex
	busy  int      // running measurements
	loads []string // of congestors

	// gbps returns the rate of a measurement between two members while others run.
	gbps func(from, to string, others int) float64
	// fail returns the error of a measurement.
	fail func(from, to string) crew.Figures
}

// loadSize is the message size of congestors.
const loadSize = 1 << 20

// An engine is the engine of a member.
type engine struct {
	*network
	name string
}

func (e engine) Offer() crew.Offer {
	o := crew.Offer{Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
	for i := range e.rails {
		o.Rails = append(o.Rails, crew.Rail{Device: fmt.Sprintf("x%d", i), Port: 1, Link: "Ethernet", GUID: e.guids[e.name], Gbps: 100, Listen: uint16(i + 1)})
	}
	if e.name == "none" {
		o.Rails, o.Error = nil, "open device: this host has no RDMA device"
	}
	return o
}

func (engine) Serve(context.Context, []netip.Addr) {}

func (e engine) Measure(_ context.Context, tests []perf.Test, s crew.Send) crew.Figures {
	e.lock.Lock()
	if s.Load != (tests[0].Size == loadSize) {
		panic("got the tests of another part")
	}
	if s.Load {
		e.loads = append(e.loads, e.name+">"+s.To)
	}
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

// measured runs a schedule with the workers of a network without a known fabric.
func measured(t *testing.T, n *network, schedule string, names ...string) (r *mesh.Result) {
	t.Helper()
	return measuredIn(t, nil, n, schedule, names...)
}

// measuredIn runs a schedule with the workers of a network in a fabric. build is called in the
// bubble, so that counters increase with its time.
func measuredIn(t *testing.T, build func() *fabric.Source, n *network, schedule string, names ...string) (r *mesh.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var source *fabric.Source
		if build != nil {
			source = build()
		}
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
		c, err := crew.Gather(t.Context(), l, crew.Options{
			Token: "t", Expect: names, Within: 5 * time.Second,
			Tests: []perf.Test{perf.NewTest(perf.Send, perf.Bandwidth, perf.RC, 1<<16)}, Load: []perf.Test{perf.NewTest(perf.Send, perf.Bandwidth, perf.RC, loadSize)},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close("")
		s, err := mesh.ParseSchedule(schedule)
		if err != nil {
			t.Fatal(err)
		}
		fleet := live.Muster(c)
		var w *mesh.Wiring
		if source != nil {
			r, err := route.Scan(t.Context(), route.Options{Source: *source})
			if err != nil {
				t.Fatal(err)
			}
			w = mesh.NewWiring(r, nil)
		}
		w, course, seats, err := fleet.Place(w, s)
		if err != nil {
			t.Fatal(err)
		}
		run := live.Options{Course: course, Seats: seats, Pace: time.Second, Fabric: source, Reads: n.reads}
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
		"cable": {&network{rails: 1, gbps: func(from, to string, _ int) float64 {
			if from != to && about("b", from, to) {
				return 40
			}
			return 90
		}}, "shift", []string{"a", "b", "c", "d"}, []string{"slow-cable b"}, "; its loopback is good at 100 %: its cable or the ports, not the host; alone: 44 % from b to c", 0},
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

// TestRun_Congest measures victims without and with congestors, which have begun before.
func TestRun_Congest(t *testing.T) {
	n := &network{rails: 1, fail: func(string, string) crew.Figures { return crew.Figures{} }}
	n.gbps = func(_, _ string, others int) float64 { return float64(90 - 20*others) }
	r := measured(t, n, "congest:2", "a", "b", "c", "d", "e")
	want := &mesh.Congestion{Victims: 2, Bandwidth: &mesh.Impact{Alone: 70, Loaded: 30, Ratio: 0.4286, Worst: mesh.WorstRatio{Source: "a", Destination: "c", Ratio: 0.4286}}}
	if d := cmp.Diff(want, r.Congestion); d != "" || r.Flows != 2 || r.Partial || len(r.Findings) > 0 {
		t.Errorf("got %d flows, partial %v, findings %v and difference\n%s", r.Flows, r.Partial, r.Findings, d)
	}
	if d := cmp.Diff([]string{"d>b", "e>b"}, slices.Sorted(slices.Values(n.loads))); d != "" {
		t.Errorf("got loads %s", d)
	}
}

// TestRun_Reads checks that data flows from the worker that is read: b sends slowly.
func TestRun_Reads(t *testing.T) {
	n := &network{rails: 1, reads: true, fail: func(string, string) crew.Figures { return crew.Figures{} }}
	n.gbps = func(reader, from string, _ int) float64 {
		if from == "b" && reader != "b" {
			return 40
		}
		return 90
	}
	var got []string
	for _, f := range measured(t, n, "shift", "a", "b", "c", "d").Findings {
		got = append(got, string(f.Kind)+" "+f.Subject+": "+f.Detail)
	}
	want := []string{
		"slow-cable b: 44 % of its class (median 90.0 Gbit/s), 3 of 3 flows from b; its loopback is good at 100 %: its cable or the ports, not the host; alone: 44 % from b to c, 44 % from b to d (sender: requests out of sequence 7)",
		"asymmetric b: sends at 44 % of its class, receives without loss; alone: 44 % from b to c, 44 % from b to d (sender: requests out of sequence 7)",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestConclude_Counters checks that a suspect in a known fabric has the counters of its cable
// that increase while it is measured alone, and that hosts have their names in the fabric.
func TestConclude_Counters(t *testing.T) {
	n := &network{rails: 1, guids: map[string]ib.GUID{}, fail: func(string, string) crew.Figures { return crew.Figures{} }}
	n.gbps = func(from, to string, _ int) float64 {
		if from == "b" || to == "b" {
			return 40
		}
		return 90
	}
	build := func() *fabric.Source {
		f, err := sim.Build("fat-tree:radix=8,pods=4")
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"a", "b", "c", "d"} {
			n.guids[name] = f.Node(fmt.Sprintf("host%05d", i+1)).Ports[1].GUID
		}
		if err := f.SetCounterRate(f.Node("host00002").Ports[1].Peer, "SymbolErrorCounter", 5); err != nil {
			t.Fatal(err)
		}
		return &fabric.Source{OpenPort: f.Opener("")}
	}
	r := measuredIn(t, build, n, "shift", "a", "b", "c", "d")
	if len(r.Findings) != 1 || r.Findings[0].Subject != "host00002" || r.Paths != mesh.FromTables || r.Partial {
		t.Fatalf("got paths %s, partial %v and %+v, want a finding about host00002", r.Paths, r.Partial, r.Findings)
	}
	data := r.Findings[0].Data.(*mesh.FindingData)
	const want = "leaf001[2]: SymbolErrorCounter +50" // two measurements and three loopbacks of 2 s
	if d := cmp.Diff([]string{want}, data.Counters); d != "" || len(data.Retests) != 2 {
		t.Errorf("got difference\n%s and retests %+v", d, data.Retests)
	}
	if r.ListHosts(); len(r.BadHosts) != 1 || r.BadHosts[0].Host != "b" || !slices.Equal(r.GoodHosts(), []string{"a", "c", "d"}) {
		t.Errorf("got bad hosts %+v and good hosts %q, want worker b among a to d", r.BadHosts, r.GoodHosts())
	}
	if !strings.HasSuffix(r.Findings[0].Detail, "; meanwhile "+want) {
		t.Errorf("got %s, want %s", r.Findings[0].Detail, want)
	}
}
