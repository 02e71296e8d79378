package counters_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// options returns options for a simulated fabric.
func options(f *sim.Fabric) counters.Options {
	return counters.Options{
		Source: fabric.Source{OpenPort: f.Opener("")},
		Limits: counters.Limits{Thresholds: counters.RecommendedThresholds(), Wait: counters.DefaultWait},
	}
}

// findings returns all ports' findings, by port.
func findings(r *counters.Result) map[string]string {
	found := map[string]string{}
	for p := range r.AllPorts() {
		for _, f := range r.Findings(p) {
			key := fmt.Sprintf("%s/%d", p.Node.Desc.Clean(), p.Number)
			if found[key] == "" {
				found[key] = fmt.Sprintf("%v %v", f.Kind, f.Class)
			}
		}
	}
	return found
}

// TestRun_Faults reads the rates in a fabric with each fault kind.
func TestRun_Faults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(build(t, "faults"))
		o.Window = 2 * time.Second
		r, err := counters.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		got := findings(r)
		for port, want := range map[string]string{
			"leaf1/1":  "increased cable",
			"spine1/1": "increased cable",
			"leaf1/4":  "congested congestion",
			"leaf1/5":  "increased configuration",
			"leaf2/3":  "flapped cable",
			"leaf2/4":  "cleared Class(0)",
		} {
			if got[port] != want {
				t.Errorf("%s: got %q, want %q", port, got[port], want)
			}
			delete(got, port)
		}
		if len(got) > 0 {
			t.Errorf("other findings: %v", got)
		}
		if !r.Partial() || r.Passes != 2 {
			t.Errorf("got partial %t after %d passes, want true after 2: the agent of host1 is broken", r.Partial(), r.Passes)
		}
	})
}

// TestRun_Rate compares rates with the simulator's.
func TestRun_Rate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=3")
		do(t, f, "rate switch1[2] PortXmitData 5e9")
		do(t, f, "rate switch1[2] PortXmitWait 250e6")
		do(t, f, "rate switch1[2] SymbolErrorCounter 40")
		o := options(f)
		o.Window = 5 * time.Second
		r, err := counters.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for p := range r.AllPorts() {
			if p.Node.Desc.Clean() != "switch1" || p.Number != 2 {
				continue
			}
			d := p.Delta()
			near := func(what string, got float64, ok bool, want float64) {
				if !ok || math.Abs(got-want) > want/100 {
					t.Errorf("%s: got %v, %t, want %v within 1 %%", what, got, ok, want)
				}
			}
			symbols, ok := d.PerSecond(counters.SymbolErrors)
			near("symbol errors", symbols, ok, 40)
			bytes, ok := d.BytesPerSecond(counters.XmitData)
			near("bytes", bytes, ok, 20e9)
			used, ok := p.Utilization(d, counters.XmitData)
			near("utilization at 4X HDR", used, ok, 0.8)
			lost, ok := p.LostBandwidth(d)
			near("lost bandwidth", lost, ok, 250e6*8/25e9)
			return
		}
		t.Error("port 2 of switch1 was not read")
	})
}

// TestRun_Passes counts the packets in a window: the second pass does not scan.
func TestRun_Passes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(build(t, "single-switch:hosts=8,radix=8"))
		o.Data = true
		one, err := counters.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		o.Window, o.Windows = time.Second, 3
		windows := 0
		o.Each = func(*counters.Result) error { windows++; return nil }
		r, err := counters.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		const ports = 16
		if got, want := r.Stats.Sent-one.Stats.Sent, 3*ports; got != want || windows != 3 {
			t.Errorf("packets of 3 windows: got %d, want %d; calls: got %d, want 3", got, want, windows)
		}
	})
}

func TestRun_Targets(t *testing.T) {
	for _, test := range []struct {
		target string
		want   int // ports
		err    bool
	}{
		{"leaf1", 16, false},
		{"leaf1/3", 1, false},
		{"node07", 1, false},
		{"node07/1", 1, false},
		{"node*", 15, false}, // node10 is not active
		{"1-3", 48, false},   // switches
		{"0x0002c90000100b00", 1, false},
		{"0,1", 16, false},
		{"0,1,1", 16, false},
		{"1,0,1", 16, false},
		{"leaf9", 0, true},
		{"leaf1/17", 0, true},
		{"400", 0, true},
		{"0,1,9", 0, true},
	} {
		t.Run(test.target, func(t *testing.T) {
			o := options(build(t, "demo"))
			a, err := lookup.Parse(test.target)
			if err != nil {
				t.Fatal(err)
			}
			o.Targets = []lookup.Address{a}
			r, err := counters.Run(t.Context(), o)
			if (err != nil) != test.err {
				t.Fatalf("got error %v, want one: %t", err, test.err)
			}
			got := 0
			if err == nil {
				for p := range r.AllPorts() {
					if p.Now != nil {
						got++
					}
				}
			}
			if got != test.want {
				t.Errorf("ports: got %d, want %d", got, test.want)
			}
		})
	}
}

// TestRun_Since compares a fabric with a baseline, also from another fabric.
func TestRun_Since(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline")
	o := options(build(t, "single-switch:hosts=3"))
	o.Data = true
	r, err := counters.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := counters.WriteBaselineFile(path, r, time.Time{}); err != nil {
		t.Fatal(err)
	}
	f := build(t, "single-switch:hosts=3")
	do(t, f, "down host003")
	do(t, f, "counter switch1[2] LinkDownedCounter 2")
	o = options(f)
	if o.Since, err = counters.ReadBaselineFile(path); err != nil {
		t.Fatal(err)
	}
	if r, err = counters.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got := findings(r)["switch1/2"]; got != "flapped cable" || len(r.Missing) != 1 {
		t.Errorf("got %q and missing ports %v, want a flap and one port", got, r.Missing)
	}
}

// TestRun_LinkDown reads ports with links that go down in a window: the first stays down,
// and the other comes up again.
func TestRun_LinkDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=3")
		o := options(f)
		o.Want = func(n *fabric.Node) bool { return n.IsSwitch() }
		o.Window, o.Windows = time.Second, 3
		var got []string
		o.Each = func(r *counters.Result) error {
			for p := range r.AllPorts() {
				for _, finding := range r.Findings(p) {
					got = append(got, fmt.Sprintf("%d: %v %v: %s", p.Number, p.State(), finding.Kind, finding.Meaning))
				}
			}
			got = append(got, "end")
			switch len(got) {
			case 1:
				do(t, f, "down host002")
				do(t, f, "unlink host003[1]")
				do(t, f, "link host003[1]")
			case 4:
				do(t, f, "up host002")
			}
			return nil
		}
		r, err := counters.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"end",
			"2: Down increased: the link went down",
			"3: Active flapped: the link went down and came up again",
			"end",
			"end",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("want (-), got (+)\n%s", d)
		}
		for p := range r.AllPorts() {
			if p.Number == 2 && p.State() < ib.PortInit {
				t.Errorf("port 2: got state %v after the link came up again", p.State())
			}
		}
	})
}

// TestRun_LinkDownSince compares with a baseline the counters in a stored fabric with links
// that were up: the states for links that went down are read from the ports.
func TestRun_LinkDownSince(t *testing.T) {
	f := build(t, "single-switch:hosts=4")
	o := options(f)
	o.Want = func(n *fabric.Node) bool { return n.IsSwitch() }
	o.Data = true
	r, err := counters.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := counters.WriteBaseline(&text, r.Nodes, false); err != nil {
		t.Fatal(err)
	}
	do(t, f, "down host002")
	do(t, f, "unlink host003[1]")
	do(t, f, "link host003[1]")
	want := map[string]string{"switch1/2": "increased cable", "switch1/3": "flapped cable"}
	sent := map[string]int{}
	for name, compare := range map[string]func(*counters.Options){
		"baseline": func(o *counters.Options) {
			if o.Since, err = counters.ReadBaseline(bytes.NewReader(text.Bytes()), "baseline"); err != nil {
				t.Fatal(err)
			}
		},
		"result before": func(o *counters.Options) { o.Before = r },
		"neither":       func(*counters.Options) {},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			o.Source.Stored = r.Fabric
			compare(&o)
			again, err := counters.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			sent[name] = again.Stats.Sent
			if d := cmp.Diff(want, findings(again)); d != "" && name != "neither" {
				t.Errorf("want (-), got (+)\n%s", d)
			}
		})
	}
	if got := sent["baseline"] - sent["neither"]; got != len(want) {
		t.Errorf("got %d requests more than without a baseline, want one per link that went down", got)
	}
}

// Attribute numbers mean something else in each class.
func TestFailure_Attribute(t *testing.T) {
	for want, f := range map[string]counters.Failure{
		"PortInfo":            {Attr: mad.AttrPortInfo, Err: &umad.Error{Class: mad.ClassSMPLIDRouted, Attr: mad.AttrPortInfo, Err: umad.ErrTimeout}},
		"PortRcvErrorDetails": {Attr: mad.AttrPortRcvErrorDetails, Err: &umad.Error{Class: mad.ClassPM, Attr: mad.AttrPortRcvErrorDetails, Err: umad.ErrTimeout}},
		"PortCounters":        {Attr: mad.AttrPortCounters, Err: context.Canceled},
	} {
		if got := f.Attribute(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestRun_Loss reads a fabric that loses packets: repeated requests give the same
// counters.
func TestRun_Loss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=8,radix=8")
		f.Model.Loss, f.Model.Seed = 0.02, 7
		do(t, f, "counter switch1[3] SymbolErrorCounter 999")
		o := options(f)
		o.Data = true
		r, err := counters.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(r); len(got) != 1 || got["switch1/3"] != "exceeded cable" || r.Partial() || r.Stats.Retries == 0 {
			t.Errorf("got findings %v, partial %t, %d retries, want one finding after retries", got, r.Partial(), r.Stats.Retries)
		}
	})
}
