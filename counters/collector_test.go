package counters_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/counters"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// build builds a simulated fabric.
func build(t *testing.T, description string) *sim.Fabric {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// scan scans a fabric with a collector and returns its client.
func scan(t *testing.T, f *sim.Fabric, o counters.CollectOptions, scan fabric.DiscoverOptions) (*counters.Collector, *umad.Client, *fabric.Fabric) {
	t.Helper()
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	client := umad.NewClient(p, umad.ClientOptions{Timeout: 50 * time.Millisecond, Attempts: 1})
	c := counters.NewCollector(client, o)
	found, err := c.Scan(t.Context(), scan)
	if err != nil {
		t.Fatal(err)
	}
	return c, client, found
}

// node returns a node by name.
func node(t *testing.T, c *counters.Collector, name string) *counters.Node {
	t.Helper()
	for _, n := range c.Nodes() {
		if strings.HasPrefix(n.Desc.String(), name) {
			return n
		}
	}
	t.Fatalf("node %s was not read", name)
	return nil
}

// value returns a counter of a port in the last pass.
func value(t *testing.T, n *counters.Node, port uint8, c counters.Counter) uint64 {
	t.Helper()
	for _, p := range n.Ports {
		if p.Number == port && p.Now != nil {
			v, ok := p.Now.Value(c)
			if !ok {
				t.Fatalf("%v of %v port %d is absent", c, n.Desc, port)
			}
			return v.N
		}
	}
	t.Fatalf("%v port %d was not read", n.Desc, port)
	return 0
}

func TestCollector_Scan(t *testing.T) {
	for _, test := range []struct {
		name string
		o    counters.CollectOptions
		d    fabric.DiscoverOptions
	}{
		{"errors", counters.CollectOptions{}, fabric.DiscoverOptions{}},
		{"all counters", counters.CollectOptions{Attributes: counters.AllAttributes}, fabric.DiscoverOptions{}},
		{"as ibqueryerrors", counters.CollectOptions{Attributes: counters.ClassicAttributes}, fabric.DiscoverOptions{}},
		{"without down ports", counters.CollectOptions{}, fabric.DiscoverOptions{OmitDownPorts: true}},
		{"totals first", counters.CollectOptions{Totals: func(s *counters.Sample) bool {
			v, _ := s.Value(counters.SymbolErrors)
			return v.N > 0
		}}, fabric.DiscoverOptions{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := build(t, "demo")
			c, _, found := scan(t, f, test.o, test.d)
			for _, n := range c.Nodes() {
				for _, failure := range n.Failures {
					if !strings.HasPrefix(n.Desc.String(), "node10") { // which is not active
						t.Errorf("%v: %v", n.Desc, failure.Err)
					}
				}
			}
			if found.Partial() {
				t.Errorf("failures: %v", found.Failures)
			}
			leaf := node(t, c, "leaf1")
			if got := value(t, leaf, 1, counters.SymbolErrors); got < 48213 {
				t.Errorf("symbol errors: got %d, want at least 48213", got)
			}
			if got, want := len(leaf.Ports), int(leaf.Info.NumPorts); got != want {
				t.Errorf("ports of leaf1: got %d, want %d", got, want)
			}
			quiet := len(node(t, c, "leaf2").Ports) == 0
			if want := test.o.Totals != nil; quiet != want {
				t.Errorf("leaf2 without symbol errors: ports omitted %t, want %t", quiet, want)
			}
		})
	}
}

// TestCollector_StateTable counts the packets that the state tables of switches save.
func TestCollector_StateTable(t *testing.T) {
	f := build(t, "single-switch:hosts=3,radix=40")
	_, whole, _ := scan(t, f, counters.CollectOptions{}, fabric.DiscoverOptions{})
	c, short, found := scan(t, f, counters.CollectOptions{}, fabric.DiscoverOptions{OmitDownPorts: true})
	const down = 37
	if got, want := whole.Stats().Sent-short.Stats().Sent, down-1; got != want {
		t.Errorf("saved packets: got %d, want %d", got, want)
	}
	omitted := 0
	for _, n := range found.Nodes {
		for _, p := range n.Ports {
			if p != nil && p.Omitted {
				omitted++
			}
		}
	}
	if omitted != down || len(node(t, c, "switch1").Ports) != 40 {
		t.Errorf("omitted ports: got %d, want %d; read: got %d, want 40", omitted, down, len(node(t, c, "switch1").Ports))
	}
}

// TestCollector_Read reads the same ports again.
func TestCollector_Read(t *testing.T) {
	f := build(t, "demo")
	c, _, found := scan(t, f, counters.CollectOptions{}, fabric.DiscoverOptions{})
	if err := f.SetCounter(&f.Node("leaf1").Ports[3], "LinkDownedCounter", 7); err != nil {
		t.Fatal(err)
	}
	if err := c.Read(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	leaf := node(t, c, "leaf1")
	if got := value(t, leaf, 3, counters.LinkDowned); got != 7 {
		t.Errorf("second pass: got %d, want 7", got)
	}
	for _, n := range c.Nodes() {
		for _, p := range n.Ports {
			if p.Now == nil || p.Before == nil {
				t.Fatalf("%v port %d: got samples %v and %v, want two", n.Desc, p.Number, p.Before, p.Now)
			}
		}
	}
}

// TestCollector_Absent reads agents of old devices.
func TestCollector_Absent(t *testing.T) {
	f := build(t, "single-switch:hosts=2")
	for _, n := range f.Nodes {
		n.SetPerfCaps(0, 0)
	}
	c, _, _ := scan(t, f, counters.CollectOptions{Attributes: counters.AllAttributes}, fabric.DiscoverOptions{})
	for _, n := range c.Nodes() {
		for _, p := range n.Ports {
			for _, counter := range []counters.Counter{counters.XmitWait, counters.QP1Dropped, counters.UnicastRcvPkts, counters.FECCorrectable} {
				if v, ok := p.Now.Value(counter); ok {
					t.Errorf("%v of %v: got %d, want absent", counter, n.Desc, v.N)
				}
			}
			if v, ok := p.Now.Value(counters.SymbolErrors); !ok || v.Width != 16 {
				t.Errorf("symbol errors: got width %d, want 16", v.Width)
			}
		}
	}
}

// TestCollector_Failures scans fabrics whose agents do not respond.
func TestCollector_Failures(t *testing.T) {
	f := build(t, "single-switch:hosts=12")
	start := time.Now()
	const dead = 10
	for i := range dead {
		f.Node(fmt.Sprintf("host%03d", 3+i)).Silent = true
	}
	c, client, found := scan(t, f, counters.CollectOptions{}, fabric.DiscoverOptions{})
	if len(found.Failures) != dead {
		t.Errorf("failures of the scan: got %d, want %d", len(found.Failures), dead)
	}
	if took := time.Since(start); took > 10*50*time.Millisecond {
		t.Errorf("%d dead nodes: took %v, want about one timeout", dead, took)
	}
	if s := client.Stats(); s.Timeouts != dead {
		t.Errorf("timeouts: got %d, want %d", s.Timeouts, dead)
	}
	for _, n := range c.Nodes() {
		if len(n.Failures) > 0 {
			t.Errorf("%v: %v", n.Desc, n.Failures)
		}
	}
}

// TestCollector_Unconfigured reads a fabric without LIDs.
func TestCollector_Unconfigured(t *testing.T) {
	f := build(t, "single-switch:hosts=2,sm=off")
	c, _, _ := scan(t, f, counters.CollectOptions{}, fabric.DiscoverOptions{})
	for _, n := range c.Nodes() {
		if len(n.Failures) != 1 || !strings.Contains(n.Failures[0].Err.Error(), "no LID") {
			t.Errorf("%v: got failures %v, want no LID", n.Desc, n.Failures)
		}
		var e *umad.Error
		if errors.As(n.Failures[0].Err, &e) || n.Failures[0].Attr != mad.AttrClassPortInfo {
			t.Errorf("%v: a request was sent: %v", n.Desc, n.Failures[0])
		}
	}
}
