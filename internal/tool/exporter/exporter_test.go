package exporter

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// textOf returns an exporter's metrics.
func textOf(tb testing.TB, e *Exporter) string {
	tb.Helper()
	var b bytes.Buffer
	if err := e.WriteText(&b); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// parse parses metrics and checks that each series is there once.
func parse(tb testing.TB, text string) map[string]*dto.MetricFamily {
	tb.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		if series := line[:strings.LastIndexByte(line, ' ')]; !strings.HasPrefix(line, "#") {
			if seen[series] {
				tb.Errorf("got two of %s", series)
			}
			seen[series] = true
		}
	}
	return families
}

// series returns the metric lines that match a regular expression.
func series(text, pattern string) []string {
	return regexp.MustCompile("(?m)^"+pattern+".*$").FindAllString(text, -1)
}

// simulated returns a simulated fabric and an exporter for it.
func simulated(tb testing.TB, description string, o Options) (*sim.Fabric, *Exporter) {
	tb.Helper()
	f, err := sim.Build(description)
	if err != nil {
		tb.Fatal(err)
	}
	o.Fabric.Source.OpenPort = f.Opener("")
	o.Fabric.Limits = counters.Limits{Thresholds: counters.RecommendedThresholds(), Wait: counters.DefaultWait}
	return f, New(o)
}

// do applies commands to a simulated fabric.
func do(tb testing.TB, f *sim.Fabric, commands ...string) {
	tb.Helper()
	for _, text := range commands {
		c, err := f.ParseCommand("test", 1, text)
		if err != nil {
			tb.Fatal(err)
		}
		if err := f.Do(c, &bytes.Buffer{}); err != nil {
			tb.Fatal(err)
		}
	}
}

func sweepNow(tb testing.TB, e *Exporter) string {
	tb.Helper()
	if err := e.Sweep(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return textOf(tb, e)
}

// TestNames finds the metrics in other exporters' dashboards and rules.
func TestNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := counters.RcvErrorDetails | counters.XmitDiscardDetails | counters.FECDetails
		got := map[string]map[string]*dto.MetricFamily{}
		for _, names := range []Names{Treydock, Guilbaults} {
			_, e := simulated(t, "faults,vendor=on", Options{Names: names, PHY: true, Fabric: counters.Options{DetailsOf: all}})
			got[string(names)] = parse(t, sweepWithFailures(t, e))
		}
		got["sckyzo"] = got["treydock"]
		got["node"] = localMetrics(t)
		file, err := os.Open("testdata/names.txt")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			fields := strings.Fields(lines.Text())
			if len(fields) == 0 || fields[0] == "#" {
				continue
			}
			absent := len(fields) > 2 && fields[2] == "absent:"
			for source := range strings.SplitSeq(fields[1], ",") {
				if strings.HasPrefix(fields[0], "node_") {
					source = "node"
				}
				if _, ok := got[source][fields[0]]; ok == absent {
					t.Errorf("%s of %s: got %t, want %t", fields[0], fields[1], ok, !absent)
				}
			}
		}
	})
}

// sweepWithFailures sweeps and adds a failure with each kind.
func sweepWithFailures(t *testing.T, e *Exporter) string {
	t.Helper()
	var last sweep
	if err := e.sweepOnce(t.Context(), &last); err != nil {
		t.Fatal(err)
	}
	s, ok := last.(*fabricSweep)
	if !ok {
		t.Fatalf("got %T", last)
	}
	n := s.result.Nodes[0]
	for _, a := range []mad.AttrID{mad.AttrClassPortInfo, mad.AttrPortCounters, mad.AttrPortRcvErrorDetails} {
		n.Failures = append(n.Failures, counters.Failure{Port: 1, Attr: a, Err: umad.ErrTimeout})
	}
	for _, err := range []error{umad.ErrTimeout, mad.StatusError(0x1c)} {
		s.result.Fabric.Failures = append(s.result.Fabric.Failures, fabric.Failure{Attr: mad.AttrPortInfo, Err: err})
	}
	p, err := newPage(s, time.Second, false)
	if err != nil {
		t.Fatal(err)
	}
	e.last.Store(p)
	return textOf(t, e)
}

// localMetrics returns the metrics for a host with all counters.
func localMetrics(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	sysfs := testenv.Host(t, "mlx5-ib")
	ports, err := filepath.Glob(filepath.Join(sysfs, "class/infiniband/*/ports/1"))
	if err != nil || len(ports) == 0 {
		t.Fatalf("got no ports: %v", err)
	}
	for dir, files := range map[string][]localCounter{"counters": localCounters, "hw_counters": append(localHWCounters, localCounter{file: "lifespan"})} {
		dir := filepath.Join(ports[0], dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, c := range files {
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte("1000\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	e := New(Options{Names: Node, Local: LocalOptions{Sysfs: sysfs}})
	return parse(t, sweepNow(t, e))
}

// TestAppendFloat compares values with expfmt's output.
func TestAppendFloat(t *testing.T) {
	for _, v := range []float64{
		0, math.Copysign(0, -1), 1, -1, 0.5, 999999, 1e6, 1.25e10, 1234567, 12345678901234, 1<<53 - 1, 1 << 53, 1e300,
		math.Inf(1), math.Inf(-1), math.NaN(),
	} {
		var b bytes.Buffer
		f := &dto.MetricFamily{Name: new(string), Type: dto.MetricType_GAUGE.Enum(), Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: &v}}}}
		*f.Name = "m"
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			t.Fatal(err)
		}
		_, want, _ := strings.Cut(b.String(), "gauge\n")
		if got := string(appendFloat([]byte("m "), v)) + "\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSweep_Size checks that the text for 60 switches and 900 hosts stays below 10 MB, also
// with large values.
func TestSweep_Size(t *testing.T) {
	e := New(Options{Fabric: fabricOptions(t, users)})
	if err := e.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := textOf(t, e)
	const digits = len("1.2345678901234e+13") - 1
	values := len(series(text, `infiniband_\w+_(bytes|packets|wait)_total\{`))
	if size := len(text) + digits*values; values == 0 || size >= 10e6 {
		t.Errorf("got %d bytes, %d with large values, want less than 10 MB", len(text), size)
	} else {
		t.Logf("%d bytes, %d with large values", len(text), size)
	}
}

// TestSweep_Fabrics checks that the metrics for fabrics with faults have no duplicates.
func TestSweep_Fabrics(t *testing.T) {
	for _, description := range []string{"demo", "faults", "mixed", "torus:x=2,y=2,z=2", "demo,sm=off"} {
		for _, names := range []Names{Treydock, Guilbaults} {
			t.Run(description+" "+string(names), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, e := simulated(t, description, Options{Names: names})
					for range 2 {
						if families := parse(t, sweepNow(t, e)); families["ibkit_sweep_nodes"].Metric[0].GetGauge().GetValue() < 8 {
							t.Errorf("got %v, want all nodes", families["ibkit_sweep_nodes"])
						}
					}
				})
			})
		}
	}
}

// TestSweep_DuplicateGUIDs exports the ports on the first node when several have the same
// GUID.
func TestSweep_DuplicateGUIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, e := simulated(t, "single-switch:hosts=3", Options{})
		for _, id := range []string{"host002", "host003"} {
			n := f.Node(id)
			n.Info.NodeGUID, n.Ports[1].GUID = f.Node("host001").Info.NodeGUID, f.Node("host001").Ports[1].GUID
		}
		text := sweepNow(t, e)
		parse(t, text)
		if got := series(text, "infiniband_hca_up{"); len(got) != 1 {
			t.Errorf("got %q, want one adapter", got)
		}
		if got := series(text, "ibkit_fabric_conflicts [1-9]"); len(got) != 1 {
			t.Error("got no conflict")
		}
	})
}

// TestSweep_HostileNames checks that names with special characters do not add series.
func TestSweep_HostileNames(t *testing.T) {
	for _, name := range []string{
		`a",guid="0x1`, `back\slash\n`, "x\"} 1\ninfiniband_switch_up{switch=\"y", "\xff\xfe\x00\x1b[2J", `{{ $labels.x }}`, "ü\u202e日本",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, names := range []Names{Treydock, Guilbaults} {
					f, e := simulated(t, "single-switch:hosts=2", Options{Names: names})
					f.Node("host001").Desc, f.Node("switch1").Desc = mad.NewNodeDescription(name), mad.NewNodeDescription(name)
					families := parse(t, sweepNow(t, e))
					for name := range families {
						if !regexp.MustCompile(`^(infiniband|ibkit)_[a-z0-9_]+$`).MatchString(name) {
							t.Errorf("got a metric %q", name)
						}
					}
				}
				var b bytes.Buffer
				e := newEncoder(&b)
				e.gauge("test_metric", "Help.", func(emit func(labels, float64)) { emit(newLabels("name", name), 1) })
				if err := e.flush(); err != nil {
					t.Fatal(err)
				}
				got := parse(t, b.String())["test_metric"].Metric
				if want := strings.ToValidUTF8(name, "\uFFFD"); len(got) != 1 || got[0].Label[0].GetValue() != want {
					t.Errorf("got %v, want a series with the label %q", got, want)
				}
			})
		})
	}
}

// TestSweep_RemovedNode checks that a node's series end when it is removed.
func TestSweep_RemovedNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, e := simulated(t, "single-switch:hosts=3", Options{})
		if got := series(sweepNow(t, e), `[a-z_]+{.*hca="host002"`); len(got) == 0 {
			t.Fatal("got no series of host002")
		}
		do(t, f, "down host002")
		if got := series(sweepNow(t, e), `[a-z_]+{.*"host002"`); len(got) > 0 {
			t.Errorf("got %q, want no series of host002", got)
		}
	})
}

// TestSweep_Partial checks that a node that does not respond affects its series only.
func TestSweep_Partial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, e := simulated(t, "single-switch:hosts=3", Options{})
		do(t, f, "pma host002 silent")
		text := sweepNow(t, e)
		for _, want := range []string{
			`infiniband_hca_up{guid="0x[0-9a-f]+",hca="host002"} 0`,
			`infiniband_hca_up{guid="0x[0-9a-f]+",hca="host001"} 1`,
			`infiniband_hca_collect_timeout{.*} 1`,
			`infiniband_hca_port_symbol_error_total{.*hca="host003".*} 0`,
			`ibkit_node_failed_requests{.*node="host002"} [1-9]`,
			`ibkit_sweep_partial 1`,
			`ibkit_sweeps_total{result="partial"} 1`,
			`ibkit_mad_timeouts_total [1-9]`,
		} {
			if len(series(text, want)) != 1 {
				t.Errorf("got no %s", want)
			}
		}
		if got := series(text, `infiniband_hca_port_symbol_error_total{.*hca="host002"`); len(got) > 0 {
			t.Errorf("got %q", got)
		}
	})
}

// TestSweep_Findings checks the findings between two sweeps.
func TestSweep_Findings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, e := simulated(t, "single-switch:hosts=3", Options{Interval: time.Hour})
		do(t, f, "counter switch1[1] SymbolErrorCounter 100")
		var last sweep
		step := func() string {
			if err := e.sweepOnce(t.Context(), &last); err != nil {
				t.Fatal(err)
			}
			return textOf(t, e)
		}
		if got := series(step(), "ibkit_error_finding{"); len(got) > 0 {
			t.Errorf("first sweep: got %q, want no findings", got)
		}
		if got := series(step(), "ibkit_error_finding{"); len(got) > 0 {
			t.Errorf("old errors: got %q, want no findings", got)
		}
		time.Sleep(time.Second)
		do(t, f, "counter switch1[2] SymbolErrorCounter 100")
		got := series(step(), "ibkit_error_finding{")
		if len(got) != 1 || !strings.Contains(got[0], `class="cable",counter="SymbolErrorCounter",`) || !strings.Contains(got[0], `peer="host002"`) || !strings.Contains(got[0], `port="2"`) {
			t.Errorf("new errors: got %q, want a finding of port 2", got)
		}
	})
}

// A fakeSource sweeps with a function.
type fakeSource func(context.Context) (sweep, error)

func (f fakeSource) sweep(ctx context.Context, _ sweep) (sweep, error) { return f(ctx) }

// An emptySweep has no metrics.
type emptySweep struct{}

func (emptySweep) info() sweepInfo { return sweepInfo{} }
func (emptySweep) write(*encoder)  {}

// TestRun_Hung checks that sweeps that hang are abandoned and counted, that not more than
// maxHung sweeps are in progress, and that their end is noticed.
func TestRun_Hung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		var hung atomic.Int32
		e := New(Options{Interval: time.Minute, Timeout: 10 * time.Second})
		e.source = fakeSource(func(context.Context) (sweep, error) {
			hung.Add(1)
			<-hang
			return emptySweep{}, nil
		})
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = e.Run(ctx) }()
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		text := textOf(t, e)
		if got := series(text, `ibkit_sweeps_total{result="(abandoned|skipped)"}`); hung.Load() != maxHung || !slices.Equal(got, []string{
			`ibkit_sweeps_total{result="abandoned"} 3`, `ibkit_sweeps_total{result="skipped"} 8`,
		}) {
			t.Errorf("got %d sweeps, %q", hung.Load(), got)
		}
		close(hang)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := series(textOf(t, e), `ibkit_sweeps_total{result="complete"} 1`); len(got) != 1 {
			t.Errorf("got %s, want a complete sweep", textOf(t, e))
		}
		stop()
	})
}

// TestRun_Timeout checks that a sweep ends with its time, and that the next sweep begins on
// time.
func TestRun_Timeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begins []time.Duration
		start := time.Now()
		var errs []error
		e := New(Options{Interval: time.Minute, Timeout: 10 * time.Second, Swept: func(err error) { errs = append(errs, err) }})
		e.source = fakeSource(func(ctx context.Context) (sweep, error) {
			begins = append(begins, time.Since(start))
			if len(begins) == 2 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return emptySweep{}, nil
		})
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = e.Run(ctx) }()
		time.Sleep(2*time.Minute + time.Second)
		synctest.Wait()
		stop()
		if want := []time.Duration{0, time.Minute, 2 * time.Minute}; !slices.Equal(begins, want) {
			t.Errorf("got sweeps at %v, want %v", begins, want)
		}
		if len(errs) != 3 || errs[0] != nil || !errors.Is(errs[1], ErrAbandoned) || errs[2] != nil {
			t.Errorf("got errors %v, want the second sweep abandoned", errs)
		}
	})
}

// TestExporter_Age checks that the age grows, and that an old sweep is not exported.
func TestExporter_Age(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Options{Interval: time.Minute, Timeout: time.Second, MaxAge: 3 * time.Minute})
		failed := errors.New("no port")
		sweeps := 0
		e.source = fakeSource(func(context.Context) (sweep, error) {
			if sweeps++; sweeps > 1 {
				return nil, failed
			}
			return emptySweep{}, nil
		})
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = e.Run(ctx) }()
		time.Sleep(2*time.Minute + time.Second)
		text := textOf(t, e)
		if got := series(text, "ibkit_sweep_age_seconds 121"); len(got) != 1 || len(series(text, "ibkit_sweep_nodes 0")) != 1 {
			t.Errorf("got\n%s\nwant a sweep of the age 121 s", text)
		}
		time.Sleep(time.Minute)
		text = textOf(t, e)
		if got := series(text, "ibkit_sweep_nodes"); len(got) != 0 || len(series(text, `ibkit_sweeps_total{result="failed"} 3`)) != 1 {
			t.Errorf("got\n%s\nwant no sweep and three failures", text)
		}
		if len(series(text, "ibkit_sweep_timestamp_seconds [1-9]")) != 1 || len(series(text, "ibkit_sweep_age_seconds 181")) != 1 {
			t.Errorf("got\n%s\nwant the time of the old sweep, for alerts", text)
		}
		stop()
	})
}

// TestRun_Memory checks that memory does not grow over sweeps when each is compared with
// the sweep before.
func TestRun_Memory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, e := simulated(t, "single-switch:hosts=8,radix=8", Options{})
		var last sweep
		heap := func(sweeps int) uint64 {
			for range sweeps {
				if err := e.sweepOnce(t.Context(), &last); err != nil {
					t.Fatal(err)
				}
			}
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			runtime.KeepAlive(last)
			return m.HeapAlloc
		}
		before, goroutines := heap(20), runtime.NumGoroutine()
		after := heap(200)
		t.Logf("%d kB after 20 sweeps, %d kB after 220", before>>10, after>>10)
		const tolerance = 1 << 20 // for caches and pools; a result takes 0.4 MB
		if after > before+tolerance || runtime.NumGoroutine() > goroutines+1 {
			t.Errorf("got %d bytes and %d goroutines, want %d and %d", after, runtime.NumGoroutine(), before, goroutines)
		}
	})
}

// TestSweep_OtherFabric checks that a port that was moved to another fabric is swept.
func TestSweep_OtherFabric(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other, err := sim.Build("torus:x=2,y=2,hosts=1")
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range other.Nodes {
			n.Info.NodeGUID += 1 << 40
		}
		f, e := simulated(t, "single-switch:hosts=2", Options{})
		var last sweep
		for range 2 {
			if err := e.sweepOnce(t.Context(), &last); err != nil {
				t.Error(err)
			}
			*f = *other
		}
		if got := series(textOf(t, e), "ibkit_sweep_nodes 8"); len(got) != 1 {
			t.Errorf("got\n%s\nwant 8 nodes", textOf(t, e))
		}
	})
}
