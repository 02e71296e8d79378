package exporter

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/report"
)

// stepper returns a function that applies a command, sweeps, and returns the metrics.
func stepper(t *testing.T, o Options) func(commands ...string) (string, sweepInfo) {
	t.Helper()
	f, e := simulated(t, "demo", o)
	source, ok := e.source.(*fabricSource)
	if !ok {
		t.Fatalf("got source %T, want a fabric", e.source)
	}
	source.options.Source.OpenPort = f.Opener("node01")
	var last sweep
	return func(commands ...string) (string, sweepInfo) {
		t.Helper()
		do(t, f, commands...)
		if err := e.sweepOnce(t.Context(), &last); err != nil {
			t.Fatal(err)
		}
		return textOf(t, e), last.info()
	}
}

// expect checks that each pattern matches a metrics line.
func expect(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if len(series(text, p+"$")) != 1 {
			t.Errorf("got no line %s in\n%s", p, strings.Join(series(text, "ibkit_(sweep|missing)"), "\n"))
		}
	}
}

// A sweep from a port with its link down is partial and blind, and says nothing about nodes
// that left before or later.
func TestSweep_Blind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := stepper(t, Options{})
		text, _ := step()
		expect(t, text, "ibkit_sweep_blind 0", "ibkit_missing_nodes 0", "ibkit_sweep_nodes 22")
		text, _ = step("unlink leaf2[4]")
		expect(t, text, "ibkit_missing_nodes 1", `ibkit_missing_node{.*node="node06",peer="leaf2",peer_port="4",type="hca"} 1`)
		text, info := step("unlink leaf1[3]")
		expect(t, text, "ibkit_sweep_blind 1", "ibkit_sweep_partial 1", `ibkit_sweeps_total{result="partial"} [1-9]`, "ibkit_sweep_nodes 1", "ibkit_missing_nodes 1")
		if !errors.Is(info.blind, fabric.ErrLinkDown) {
			t.Errorf("got blind %v, want %v", info.blind, fabric.ErrLinkDown)
		}
		text, _ = step("link leaf1[3]", "hang leaf3")
		expect(t, text, "ibkit_sweep_blind 0", "ibkit_missing_nodes 6", `ibkit_missing_node{.*node="leaf3",peer="spine1",peer_port="3",type="switch"} 1`)
		text, _ = step("resume leaf3", "link leaf2[4]")
		expect(t, text, "ibkit_missing_nodes 0", "ibkit_sweep_nodes 22")
	})
}

// A sweep with a neighbour that does not respond is blind, too.
func TestSweep_BlindPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := stepper(t, Options{})
		step()
		text, _ := step("hang leaf1")
		expect(t, text, "ibkit_sweep_blind 1", "ibkit_sweep_nodes 1", "ibkit_missing_nodes 0")
	})
}

// A node that is missing for a day counts as removed.
func TestFindMissing_Forget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := stepper(t, Options{})
		step()
		_, info := step("unlink leaf2[4]")
		f, now := &fabric.Fabric{}, info.missing[0].since
		for _, test := range []struct {
			after time.Duration
			want  int
		}{{0, 1}, {forgetAfter - time.Second, 1}, {forgetAfter, 0}} {
			before := &fabricSweep{seen: f, summary: info}
			s := &fabricSweep{result: &counters.Result{Fabric: f}, began: now.Add(test.after)}
			s.findMissing(before, nil)
			if got := len(s.summary.missing); got != test.want {
				t.Errorf("after %v: got %d missing nodes, want %d", test.after, got, test.want)
			}
		}
	})
}

// Two missing nodes with the same GUID share a series: a second series would invalidate the
// scrape.
func TestSweep_MissingDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, e := simulated(t, "single-switch:hosts=3", Options{})
		a, b := f.Node("host002"), f.Node("host003")
		b.Info.NodeGUID, b.Ports[1].GUID = a.Info.NodeGUID, a.Ports[1].GUID
		var last sweep
		for _, commands := range [][]string{nil, {"unlink switch1[2]", "unlink switch1[3]"}} {
			do(t, f, commands...)
			if err := e.sweepOnce(t.Context(), &last); err != nil {
				t.Fatal(err)
			}
		}
		text := textOf(t, e)
		parse(t, text)
		expect(t, text, "ibkit_missing_nodes 1")
	})
}

// Only selected nodes are missing.
func TestSweep_MissingSelected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{}
		o.Fabric.Want = func(n *fabric.Node) bool { return strings.HasPrefix(n.Desc.String(), "leaf") }
		step := stepper(t, o)
		step()
		text, _ := step("hang leaf2")
		expect(t, text, "ibkit_missing_nodes 1", `ibkit_missing_node{.*node="leaf2".*} 1`)
	})
}

// Each change is logged once.
func TestExporter_LogChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		e := New(Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
		sweep := stepper(t, Options{})
		var before sweepInfo
		for _, step := range []struct {
			command string
			want    []string
		}{
			{"", nil},
			{"unlink leaf2[4]", []string{`msg="nodes are missing" count=1 nodes="node06 behind leaf2[4]"`}},
			{"", nil},
			{"unlink leaf1[3]", []string{`msg="sweep is blind" err="the link of the local port is down (Polling): no other node was found"`}},
			{"", nil},
			{"link leaf1[3]", []string{`msg="sweep is not blind any more" nodes=21`}},
			{"link leaf2[4]", []string{`msg="nodes are not missing any more" count=1`}},
		} {
			log.Reset()
			var commands []string
			if step.command != "" {
				commands = []string{step.command}
			}
			_, info := sweep(commands...)
			e.logChanges(before, info)
			before = info
			lines := slices.Collect(strings.Lines(log.String()))
			if len(lines) != len(step.want) || len(lines) > 0 && !strings.Contains(lines[0], step.want[0]) {
				t.Errorf("%q: got log %q, want %q", step.command, lines, step.want)
			}
		}
	})
}

func TestNameList(t *testing.T) {
	nodes := slices.Repeat([]missingNode{{name: "a"}, {name: "b", end: &report.NodePort{Name: "leaf1", NodeGUID: 1, Port: 3}}}, 6)
	want := strings.Repeat("a, b behind leaf1[3], ", 5) + "2 more nodes"
	if got := nameList(nodes); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
