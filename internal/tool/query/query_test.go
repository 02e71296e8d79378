package query

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

func TestParseAttribute(t *testing.T) {
	for text, want := range map[string]string{
		"PortInfo": "smp:PortInfo", "portinfo": "smp:PortInfo", "pi": "smp:PortInfo", "smp:0x15": "smp:PortInfo", "21": "smp:PortInfo",
		"pkeytable": "smp:P_KeyTable", "P_KeyTable": "smp:P_KeyTable", "pm:PortCounters": "pm:PortCounters", "PortCounters": "pm:PortCounters",
		"pm:classportinfo": "pm:ClassPortInfo", "CP": "cc:ClassPortInfo", "0xff40": "smp:0xff40", "vs:0x17": "vs:GeneralInfo", "generalinfo": "vs:GeneralInfo", "0xff17": "smp:VendorCapabilities", "cc:0x99": "cc:0x0099",
		"host": "sysstat:HostInfo", "CPU": "sysstat:CPUInfo", "ping": "sysstat:Ping", "sysstat:0x13": "sysstat:0x0013",
	} {
		a, err := ParseAttribute(text)
		if got := a.Prefix() + ":" + a.Name; got != want || err != nil {
			t.Errorf("%s: got %s, error %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "no such name", "nosuch": "no such name", "classportinfo": "ambiguous: pm:ClassPortInfo, cc:ClassPortInfo, vs:ClassPortInfo",
		"0x10000": "not a number of 16 bits", "0xg": "not a number", "xx:1": "class \"xx\" is not smp, pm, cc, vs or sysstat", "smp:PortCounters": "no such name",
	} {
		if a, err := ParseAttribute(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, error %v, want %s", text, a, err, want)
		}
	}
}

// Each attribute is found by its own name.
func TestAttributes(t *testing.T) {
	all := Attributes()
	if len(all) < 35 {
		t.Errorf("got %d attributes, want 35 or more", len(all))
	}
	for _, a := range all {
		if got, err := ParseAttribute(a.Prefix() + ":" + a.Name); err != nil || got.ID != a.ID || got.Class != a.Class {
			t.Errorf("%s: got %v, error %v", a.Name, got, err)
		}
	}
}

func TestParsePorts(t *testing.T) {
	for text, want := range map[string][]uint8{"all": {1, 2, 3}, "2": {2}, "0-1,7": {0, 1, 7}, "0x3": {3}, "254-255": {254, 255}} {
		p, err := ParsePorts(text)
		if got := p.of(1, 3); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, error %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ",", "1-", "-1", "3-2", "256", "x", "1,,2"} {
		if p, err := ParsePorts(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, p)
		}
	}
}

// demo returns options for a query on the fabric demo.
func demo(t *testing.T, attribute, target, ports string) Options {
	t.Helper()
	return queryOf(t, "demo", attribute, target, ports)
}

// queryOf returns options for a query on a simulated fabric after some commands.
func queryOf(t *testing.T, description, attribute, target, ports string, commands ...string) Options {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range commands {
		c, err := f.ParseCommand("test", 1, text)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Do(c, nil); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{
		Source:  fabric.Source{OpenPort: f.Opener(""), Client: umad.ClientOptions{Timeout: 50 * time.Millisecond}},
		Resolve: lookup.Options{Simulated: true},
	}
	if o.Attribute, err = ParseAttribute(attribute); err != nil {
		t.Fatal(err)
	}
	for text := range strings.FieldsSeq(target) {
		a, err := lookup.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Targets = append(o.Targets, a)
	}
	if ports != "" {
		if o.Ports, err = ParsePorts(ports); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		attribute, target, ports string
		replies, failed          int
	}{
		{"NodeInfo", "7", "", 1, 0},
		{"NodeInfo", "1-22", "", 22, 0},
		{"NodeDescription", "leaf* node07", "", 5, 0},
		{"PortInfo", "leaf1", "all", 17, 0},
		{"PortInfo", "0,1", "1-3", 3, 0},
		{"PortInfo", "3", "99", 1, 1},
		{"PortCounters", "leaf1", "", 16, 0},
		{"PortCounters", "node07", "", 1, 0},
		{"P_KeyTable", "node07", "", 4, 0},
		{"P_KeyTable", "leaf1", "1,2", 2 * 4, 0},
		{"GUIDInfo", "4", "", 1, 0},
		{"SL2VL", "leaf1", "2", 17, 0},
		{"SL2VL", "node07", "", 1, 0},
		{"VLArb", "leaf1", "1", 2, 0},
		{"LFT", "leaf1", "", 1, 0},
		{"SwitchPortStateTable", "leaf1", "", 1, 0},
		{"CT", "4", "", 1, 0},
		{"cc:CongestionInfo", "3-4", "", 2, 0},
		{"LFT", "node07", "", 1, 1},
		{"0xff40", "7", "", 1, 1},
		{"NodeInfo", "7 4000 nobody", "", 3, 2},
		{"PortInfo", "4000-4002", "all", 3, 3},
	} {
		t.Run(test.attribute+" "+test.target+" "+test.ports, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := Run(t.Context(), demo(t, test.attribute, test.target, test.ports))
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Replies) != test.replies || r.Failed != test.failed {
					t.Errorf("got %d replies, %d failed, want %d, %d failed", len(r.Replies), r.Failed, test.replies, test.failed)
				}
				for _, reply := range r.Replies {
					if (reply.Err == nil) != (reply.Attr != nil) {
						t.Errorf("got attribute %v and error %v", reply.Attr, reply.Err)
					}
				}
			})
		})
	}
}

// Nodes with NVIDIA's agents reply to their attributes.
func TestRun_Vendor(t *testing.T) {
	for _, test := range []struct {
		attribute, target, ports string
		replies, failed          int
	}{
		{"HierarchyInfo", "leaf1", "1-3", 3, 0},
		{"HierarchyInfo", "node07", "", 1, 0},
		{"VendorCapabilities", "3-5", "", 3, 0},
		{"AdaptiveRoutingInfo", "leaf1", "", 1, 0},
		{"ARGroupTable", "leaf1", "", 1, 0},
		{"ARLinearForwardingTable", "leaf1", "", 2, 0},
		{"PrivateLFTInfo", "leaf1", "", 1, 0},
		{"PrivateLFTInfo", "node07", "", 1, 1},
		{"GeneralInfo", "3-5", "", 3, 0},
		{"vs:ClassPortInfo", "leaf1", "", 1, 0},
		{"CounterGroupInfo", "leaf1", "all", 17, 0},
		{"CounterGroupConfig", "leaf1", "2", 1, 0},
	} {
		t.Run(test.attribute+" "+test.target+" "+test.ports, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := Run(t.Context(), queryOf(t, "demo:ar=on", test.attribute, test.target, test.ports))
				if err != nil || len(r.Replies) != test.replies || r.Failed != test.failed {
					t.Errorf("got %d replies, %d failed, error %v, want %d, %d failed", len(r.Replies), r.Failed, err, test.replies, test.failed)
				}
			})
		})
	}
}

// An agent redirects requests to another address: a LID or a GID, with a partition key.
func TestRun_Redirect(t *testing.T) {
	for command, want := range map[string]string{ // the error; "": none
		"redirect host002 host003[1] 9":                 "",
		"redirect host002 switch1[1] 9 0xffff":          "",
		"redirectgid host002 host003[1] 9":              "",
		"redirectgid host002 switch1[1] 9 0x8002":       "",
		"redirect host002 host003[1] 9 0x8005":          "Get Perf PortCounters of LID 2: follow redirection: the local port does not have P_Key 0x8005",
		"redirectgid host002 host003[1] 9 0x8005":       "Get Perf PortCounters of LID 2: follow redirection: the local port does not have P_Key 0x8005",
		"counter host002[1] LinkErrorRecoveryCounter 0": "",
	} {
		t.Run(command, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := queryOf(t, "single-switch:hosts=3", "PortCounters", "1-2", "1", "counter host002[1] SymbolErrorCounter 77", "pkeys host001[1] 0xffff 0x8002", command)
				r, err := Run(t.Context(), o)
				if err != nil || len(r.Replies) != 2 || r.Replies[0].Err != nil {
					t.Fatalf("got %+v, error %v, want 2 replies", r, err)
				}
				switch got := r.Replies[1]; {
				case want != "":
					if got.Err == nil || got.Err.Error() != want {
						t.Errorf("got error %v, want %s", got.Err, want)
					}
				case got.Err != nil || got.Attr.(*mad.PortCounters).SymbolErrors != 77:
					t.Errorf("got %+v, want 77 symbol errors", got)
				}
			})
		})
	}
}

// An agent that ignores the vendor class costs a single timeout, for any port count.
func TestRun_NoVendorAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := Run(t.Context(), queryOf(t, "demo,vendor=off", "CounterGroupInfo", "leaf1", "all"))
		if err != nil || len(r.Replies) != 1 || !errors.Is(r.Replies[0].Err, umad.ErrTimeout) || r.Stats.Timeouts != 3 {
			t.Errorf("got %+v, error %v, want one timeout", r, err)
		}
	})
}

// Configuration space words are read 18 at a time.
func TestRun_Addresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := queryOf(t, "demo:vendor=on", "ConfigSpace", "leaf1", "")
		for i := range uint32(20) {
			o.Addresses = append(o.Addresses, i*4)
		}
		r, err := Run(t.Context(), o)
		if err != nil || len(r.Replies) != 2 || r.Failed > 0 {
			t.Fatalf("got %+v, error %v, want 2 replies", r, err)
		}
		if got := r.Replies[1].Attr.(*mad.MlnxConfigSpace).Records[1].Address; got != 19*4 {
			t.Errorf("got address %d, want %d", got, 19*4)
		}
	})
}

// Dead nodes cost a few nodes' timeouts in all.
func TestRun_DeadNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := demo(t, "NodeInfo", "4000-4030 7", "")
		o.Source.Client = umad.ClientOptions{Timeout: 100 * time.Millisecond, Attempts: 2}
		start := time.Now()
		r, err := Run(t.Context(), o)
		if err != nil || r.Failed != 31 || !errors.Is(r.Replies[0].Err, umad.ErrTimeout) {
			t.Fatalf("got %d failed, error %v, want 31", r.Failed, err)
		}
		if d := time.Since(start); d > 4*2*200*time.Millisecond {
			t.Errorf("got %v, want less than the timeouts of a few nodes", d)
		}
	})
}

// If the port breaks, all targets have an error, also targets that were not started.
func TestRun_BrokenPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := demo(t, "NodeInfo", "1-5000", "")
		broken := &umadtest.Port{
			Attributes: umad.PortAttr{LID: 1},
			OnRecv:     func(*umadtest.Port) error { return umad.ErrDeviceRemoved },
		}
		o.Source.OpenPort = func(context.Context) (umad.Port, error) { return broken, nil }
		r, err := Run(t.Context(), o)
		if !errors.Is(err, umad.ErrDeviceRemoved) || len(r.Replies) != 5000 || r.Failed != 5000 {
			t.Fatalf("got %d replies, %d failed, error %v, want 5000 failed: %v", len(r.Replies), r.Failed, err, umad.ErrDeviceRemoved)
		}
	})
}

// A node may report that it has no ports.
func TestRun_NoPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := sim.Build("demo")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"VLArbitrationTable", "P_KeyTable", "PortInfo"} {
			o := demo(t, name, "7", "all")
			o.Source.OpenPort = f.Opener("")
			for _, n := range f.Nodes {
				if !n.IsSwitch() {
					n.Info.NumPorts = 0
				}
			}
			r, err := Run(t.Context(), o)
			if err != nil || len(r.Replies) != 1 || !errors.Is(r.Replies[0].Err, errEmpty) {
				t.Errorf("%s: got %d replies, the first with error %v, error %v, want one with %v", name, len(r.Replies), r.Replies[0].Err, err, errEmpty)
			}
		}
	})
}

func TestRun_Modifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := demo(t, "PortInfo", "leaf1", "")
		modifier := uint32(3)
		o.Modifier = &modifier
		r, err := Run(t.Context(), o)
		if err != nil || len(r.Replies) != 1 || r.Replies[0].Modifier != 3 || r.Replies[0].Attr.(*mad.PortInfo).LID != 0 {
			t.Errorf("got %+v, error %v, want one reply for port 3", r, err)
		}
	})
}

// Subnet administration has the same attributes as the nodes, except for the port that
// receives a request.
func TestRun_FromSA(t *testing.T) {
	for _, test := range []struct{ attribute, target, ports string }{
		{"NodeInfo", "7", ""}, {"NodeDescription", "1-22", ""}, {"SwitchInfo", "leaf1", ""}, {"PortInfo", "7", ""}, {"PortInfo", "leaf1", "all"},
		{"GUIDInfo", "4", ""}, {"SL2VL", "leaf1", "2"}, {"SL2VL", "node07", ""},
		{"VLArb", "leaf1", "1"}, {"LFT", "leaf1", ""}, {"PortInfo", "route:0", ""},
	} {
		t.Run(test.attribute+" "+test.target, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := demo(t, test.attribute, test.target, test.ports)
				want, err := Run(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				o.FromSA, o.SMKey = true, 1
				got, err := Run(t.Context(), o)
				if err != nil || got.Failed > 0 || len(got.Replies) != len(want.Replies) {
					t.Fatalf("got %d replies, %d failed, error %v, want %d: %v", len(got.Replies), got.Failed, err, len(want.Replies), got.Replies[0].Err)
				}
				for i := range got.Replies {
					if d := cmp.Diff(withoutLocalPort(want.Replies[i].Attr), withoutLocalPort(got.Replies[i].Attr)); d != "" {
						t.Errorf("node (-), subnet administration (+)\n%s", d)
					}
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		o := demo(t, "NodeInfo", "0,1", "")
		o.FromSA = true
		if r, err := Run(t.Context(), o); err != nil || r.Failed != 1 {
			t.Errorf("directed route: got %+v, error %v, want an error of the reply", r, err)
		}
	})
}

// withoutLocalPort clears the port that received a request.
func withoutLocalPort(a mad.Attribute) mad.Attribute {
	mad.Visit(a, func(name string, _ int, v uint64) uint64 {
		if name == "LocalPort" {
			return 0
		}
		return v
	})
	return a
}

// TestParseAttribute_Similar checks the hint for a misspelt name.
func TestParseAttribute_Similar(t *testing.T) {
	for name, want := range map[string]string{
		"PortInfos": `similar names: "PortInfo"`, "NodeInof": `similar names: "NodeInfo"`, "leaf1": "",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseAttribute(name)
			var hinter interface{ Hint() string }
			if !errors.As(err, &hinter) || hinter.Hint() != want {
				t.Errorf("got %v, want hint %q", err, want)
			}
		})
	}
}

// TestParseAttribute_Counters checks the short names of attributes that perfquery reads.
func TestParseAttribute_Counters(t *testing.T) {
	for alias, want := range map[string]string{
		"pc": "PortCounters", "PCX": "PortCountersExtended", "PRE": "PortRcvErrorDetails", "PXD": "PortXmitDiscardDetails",
		"rcverr": "PortRcvErrorDetails", "xmtdisc": "PortXmitDiscardDetails", "xmtsl": "PortXmitDataSL", "rcvsl": "PortRcvDataSL",
		"PES": "PortExtendedSpeedsCounters",
	} {
		t.Run(alias, func(t *testing.T) {
			if a, err := ParseAttribute(alias); err != nil || a.Name != want {
				t.Errorf("got %v, %v, want %s", a, err, want)
			}
		})
	}
}
