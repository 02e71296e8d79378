package counters_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// timeout is the time limit for requests.
const timeout = 500 * time.Millisecond

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
	client := umad.NewClient(p, umad.ClientOptions{Timeout: timeout, Attempts: 1})
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

// value returns a port's counter in the last pass.
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
		{"totals first", counters.CollectOptions{Suspicious: func(s *counters.Sample) bool {
			v, _ := s.Value(counters.SymbolErrors)
			return v.N > 0
		}}, fabric.DiscoverOptions{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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
				if want := test.o.Suspicious != nil; quiet != want {
					t.Errorf("leaf2 without symbol errors: ports omitted %t, want %t", quiet, want)
				}
			})
		})
	}
}

// TestCollector_StateTable counts the packets that switches' state tables save.
func TestCollector_StateTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
	})
}

// TestCollector_Read reads the same ports again.
func TestCollector_Read(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
	})
}

// TestCollector_Absent reads agents on old devices.
func TestCollector_Absent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
	})
}

// TestCollector_Failures scans fabrics with agents that do not respond.
func TestCollector_Failures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
		if took := time.Since(start); took > dead*timeout {
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
	})
}

// TestCollector_Unconfigured reads a fabric without LIDs.
func TestCollector_Unconfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
	})
}

// do applies a command to a simulated fabric.
func do(t *testing.T, f *sim.Fabric, command string) {
	t.Helper()
	c, err := f.ParseCommand("test", 1, command)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Do(c, nil); err != nil {
		t.Fatal(err)
	}
}

// TestCollector_Agents reads agents with redirection and with faults.
func TestCollector_Agents(t *testing.T) {
	for _, test := range []struct {
		name    string
		command string
		failure string // of host002; "": none
	}{
		{"redirected to the same port", "redirect host002 host002[1] 5", ""},
		{"redirected to another node", "redirect host002 host003[1] 9", ""},
		{"redirected with a key", "redirect host002 host002[1] 5 0x8001", ""},
		{"redirected by GID", "redirectgid host002 host002[1] 5", ""},
		{"redirected by GID to another node", "redirectgid host002 host003[1] 9", ""},
		{"redirected by GID to a switch", "redirectgid host002 switch1[1] 9", ""},
		{"redirected by GID with a key", "redirectgid host002 host003[1] 9 0x8001", ""},
		{"redirected with an unknown key", "redirect host002 host002[1] 5 0x8002", "follow redirection: the local port does not have P_Key 0x8002"},
		{"late", "pma host002 late=20ms", ""},
		{"silent", "pma host002 silent", "no reply in time"},
		{"another port", "pma host002 other-port", "counters of another port: got port 2, want 1"},
		{"error status", "pma host002 rejected", "MAD status 0x001c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := build(t, "single-switch:hosts=3")
				for _, n := range f.Nodes {
					for i := range n.Ports {
						n.Ports[i].PKeys = append(n.Ports[i].PKeys, 0x8001)
					}
				}
				do(t, f, "counter host002[1] SymbolErrorCounter 77")
				do(t, f, "counter host003[1] SymbolErrorCounter 33")
				do(t, f, test.command)
				for name, o := range map[string]counters.CollectOptions{
					"all": {},
					"suspicious above 0": {Suspicious: func(s *counters.Sample) bool {
						v, _ := s.Value(counters.SymbolErrors)
						return v.N > 0
					}},
					"none suspicious": {Suspicious: func(*counters.Sample) bool { return false }},
				} {
					c, _, found := scan(t, f, o, fabric.DiscoverOptions{})
					for pass := range 2 {
						n := node(t, c, "host002")
						switch {
						case test.failure == "" && len(n.Failures) > 0:
							t.Errorf("%s, pass %d: %v", name, pass, n.Failures)
						case test.failure == "":
							if got := value(t, n, 1, counters.SymbolErrors); got != 77 {
								t.Errorf("%s, pass %d: symbol errors: got %d, want 77", name, pass, got)
							}
						case len(n.Failures) != 1 || !strings.Contains(n.Failures[0].Err.Error(), test.failure):
							t.Errorf("%s, pass %d: got failures %v, want %q", name, pass, n.Failures, test.failure)
						}
						if got := value(t, node(t, c, "host003"), 1, counters.SymbolErrors); got != 33 {
							t.Errorf("%s, pass %d: other host: got %d, want 33", name, pass, got)
						}
						if err := c.Read(t.Context(), found); err != nil {
							t.Fatal(err)
						}
					}
				}
			})
		})
	}
}

// TestCollector_Screen reads an adapter with errors and an adapter without.
func TestCollector_Screen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=3")
		do(t, f, "counter host002[1] LinkDownedCounter 300") // PortCounters has 8 of its bits
		o := counters.CollectOptions{Suspicious: func(s *counters.Sample) bool {
			v, _ := s.Value(counters.LinkDowned)
			return v.Saturated()
		}}
		c, client, _ := scan(t, f, o, fabric.DiscoverOptions{Lean: true})
		for _, n := range c.Nodes() {
			if len(n.Failures) > 0 {
				t.Errorf("%v: %v", n.Desc, n.Failures)
			}
		}
		host := node(t, c, "host002") // its description was read, too
		if got := value(t, host, 1, counters.LinkDowned); got != 300 {
			t.Errorf("suspicious port: got %d, want 300", got)
		}
		for _, n := range c.Nodes() {
			if got, want := n.Described, n == host || n.Switch != nil || n.IsSwitch(); got != want {
				t.Errorf("capabilities of %v were read: got %t, want %t", n.GUID, got, want)
			}
		}
		// The state table; NodeInfo, PortInfo and a reply from each host's agent; NodeInfo,
		// PortInfo, ClassPortInfo and sums on the switch; the scan starts at a host. From
		// the suspicious adapter NodeDescription, ClassPortInfo and PortCountersExtended.
		if got, want := client.Stats().Sent, 1+3*3+4+3; got != want {
			t.Errorf("got %d packets, want %d", got, want)
		}
	})
}

// TestCollector_Details reads the attributes that explain errors, in both forward error
// correction counter layouts.
func TestCollector_Details(t *testing.T) {
	var c *counters.Collector
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=3")
		do(t, f, "fec switch1[1] 2")
		do(t, f, "counter switch1[1] PortFECUncorrectableBlockCtr 5")
		do(t, f, "counter switch1[2] FECUncorrectableBlockCtrLane0 2")
		do(t, f, "counter switch1[2] FECUncorrectableBlockCtrLane3 1")
		do(t, f, "counter switch1[3] PortNeighborMTUDiscards 9")
		do(t, f, "counter switch1[3] PortLoopingErrors 4")
		do(t, f, "counter switch1[3] PortVLXmitWait2 8")
		all := func(*counters.Port) counters.DetailSet {
			return counters.RcvErrorDetails | counters.XmitDiscardDetails | counters.FECDetails | counters.LaneDetails | counters.TickDetails
		}
		c, _, _ = scan(t, f, counters.CollectOptions{Details: all}, fabric.DiscoverOptions{})
	})
	s := node(t, c, "switch1")
	for _, test := range []struct {
		port    uint8
		counter counters.Counter
		want    uint64
	}{
		{1, counters.FECUncorrectable, 5},
		{2, counters.FECUncorrectable, 3},
		{3, counters.NeighborMTUDiscards, 9},
		{3, counters.LoopingErrors, 4},
	} {
		t.Run(fmt.Sprint(test.counter, " of port ", test.port), func(t *testing.T) {
			if got := value(t, s, test.port, test.counter); got != test.want {
				t.Errorf("%v of port %d: got %d, want %d", test.counter, test.port, got, test.want)
			}
		})
	}
	for _, n := range c.Nodes() {
		if len(n.Failures) > 0 {
			t.Errorf("%v: %v", n.Desc, n.Failures)
		}
	}
	lanes := 0
	for _, p := range s.Ports {
		if p.Tick == nil || *p.Tick != 7 {
			t.Errorf("tick of port %d: got %v, want 7", p.Number, p.Tick)
		}
		if p.Number == 3 {
			lanes = len(p.Now.Details.Lanes)
		}
	}
	if lanes != 7 {
		t.Errorf("attributes by lane: got %d, want 7", lanes)
	}
}

// TestCollector_Clear clears a single part of a single port's counters.
func TestCollector_Clear(t *testing.T) {
	for _, old := range []bool{false, true} {
		t.Run(fmt.Sprintf("old agent %t", old), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := build(t, "single-switch:hosts=3")
				if old {
					do(t, f, "perfcaps all 0x1300")
				}
				for _, name := range []string{"SymbolErrorCounter", "PortXmitWait", "PortXmitData", "PortMulticastRcvPkts"} {
					do(t, f, "counter switch1[2] "+name+" 9")
					do(t, f, "counter switch1[3] "+name+" 9")
				}
				c, _, found := scan(t, f, counters.CollectOptions{Attributes: counters.AllAttributes}, fabric.DiscoverOptions{})
				s := node(t, c, "switch1")
				for _, step := range []struct {
					part                            counters.Part
					symbols, wait, data, multicasts uint64
				}{
					{counters.ErrorCounters | counters.DetailCounters, 0, 0, 9, 9},
					{counters.TrafficCounters, 0, 0, 0, 0},
				} {
					if err := c.Clear(t.Context(), s.Ports[1:2], step.part); err != nil {
						t.Fatal(err)
					}
					if len(s.Failures) > 0 {
						t.Error(s.Failures)
					}
					if err := c.Read(t.Context(), found); err != nil {
						t.Fatal(err)
					}
					for counter, want := range map[counters.Counter]uint64{
						counters.SymbolErrors: step.symbols, counters.XmitWait: step.wait,
						counters.XmitData: step.data, counters.MulticastRcvPkts: step.multicasts,
					} {
						if got := value(t, s, 2, counter); got != want {
							t.Errorf("%v after clearing %v: got %d, want %d", counter, step.part, got, want)
						}
						if got := value(t, s, 3, counter); got != 9 {
							t.Errorf("%v of another port: got %d, want 9", counter, got)
						}
					}
				}
			})
		})
	}
}
