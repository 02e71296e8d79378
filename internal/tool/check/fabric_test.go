package check

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/route/dump"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// build returns a simulated fabric after some commands.
func build(t *testing.T, fabric, commands string) *sim.Fabric {
	t.Helper()
	f, err := sim.Build(fabric)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(commands, ";") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		c, err := f.ParseCommand("command", 1, line)
		if err == nil {
			err = f.Do(c, io.Discard)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// options returns the options for a simulated fabric.
func options(f *sim.Fabric) FabricOptions {
	l := DefaultLimits()
	l.SMWait = 0
	return FabricOptions{
		Source: fabric.Source{OpenPort: f.Opener(""), Client: umad.ClientOptions{Timeout: 50 * time.Millisecond, Attempts: 2}},
		Limits: l,
	}
}

// found returns the finding kinds with their counts.
func found(r *Report) map[string]int {
	kinds := map[string]int{}
	for _, f := range r.Findings {
		kinds[Name(f)]++
	}
	return kinds
}

// stage returns a stage from a result.
func stage(t *testing.T, r *Report, name string) Stage {
	t.Helper()
	i := slices.IndexFunc(r.Stages, func(s Stage) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("got no stage %s", name)
	}
	return r.Stages[i]
}

// A fault is a fabric with a finding.
type fault struct {
	kind     string // STAGE/KIND
	fabric   string
	commands string
	change   func(*testing.T, *sim.Fabric)                 // nil: none
	options  func(*testing.T, *sim.Fabric, *FabricOptions) // nil: none
	subject  string                                        // of a finding; "": any
}

// baseline reads the counters before commands.
func baseline(commands string) func(*testing.T, *sim.Fabric, *FabricOptions) {
	return func(t *testing.T, f *sim.Fabric, o *FabricOptions) {
		t.Helper()
		r, err := counters.Run(t.Context(), counters.Options{Source: o.Source, Data: true})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "baseline")
		if err := counters.WriteBaselineFile(path, r, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if o.Since, err = counters.ReadBaselineFile(path); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(commands, ";") {
			c, err := f.ParseCommand("command", 1, strings.TrimSpace(line))
			if err == nil {
				err = f.Do(c, io.Discard)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// plan sets a plan.
func plan(text string) func(*testing.T, *sim.Fabric, *FabricOptions) {
	return func(t *testing.T, _ *sim.Fabric, o *FabricOptions) {
		t.Helper()
		var err error
		if o.Plan, err = topology.ParsePlan([]byte("#StartDevice,StartPort,EndDevice,EndPort,Speed,LinkType\n"+text), "plan.csv"); err != nil {
			t.Fatal(err)
		}
	}
}

// loseRegister loses the requests for a register to leaf1.
func loseRegister(id register.ID) func(*testing.T, *sim.Fabric, *FabricOptions) {
	return func(_ *testing.T, f *sim.Fabric, o *FabricOptions) {
		to := f.Node("leaf1").Ports[0].Info.LID
		tamper := &umadtest.Tamper{Lose: func(m *umad.Message) bool {
			return m.MAD.Attr() == mad.AttrMlnxRegister && m.MAD.Modifier() == uint32(id) && m.Addr.LID == to
		}}
		o.Source.OpenPort = tamper.Opener(f.Open)
	}
}

// thresholds sets thresholds.
func thresholds(text string) func(*testing.T, *sim.Fabric, *FabricOptions) {
	return func(t *testing.T, _ *sim.Fabric, o *FabricOptions) {
		t.Helper()
		var err error
		if o.Limits, err = ParseLimits([]byte(text), "thresholds.yaml"); err != nil {
			t.Fatal(err)
		}
		o.Limits.SMWait = 0
	}
}

const tree = "fat-tree:radix=8,pods=4,spines=2"

// lit has modules between its switches.
const lit = "fat-tree:levels=2,radix=4,pods=2,speed=NDR,vendor=on"

var faults = []fault{
	{kind: "discovery/no-reply", fabric: "demo", commands: "mute node06 NodeDescription", subject: "0x0002c90000100900"},
	{kind: "discovery/blind", fabric: "demo", commands: "unlink leaf1[3]", options: fromHost, subject: "node01[1]"},
	{kind: "discovery/blind", fabric: "demo", commands: "hang leaf1", options: fromHost, subject: "node01[1]"},
	{kind: "discovery/conflict", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) {
		a, b := f.Node("host00001"), f.Node("host00016")
		b.Info.NodeGUID = a.Info.NodeGUID
	}},
	{kind: "lids/zero-lid", fabric: "demo,sm=off"},
	{kind: "lids/duplicate-lid", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) {
		f.Node("host00002").Ports[1].Info.LID = f.Node("host00001").Ports[1].Info.LID
	}},
	{kind: "lids/lid-range", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) {
		p := &f.Node("host00002").Ports[1]
		p.Info.LID, p.Info.LMC = 0x101, 2
	}},
	{kind: "guids/zero-guid", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) { f.Node("host00002").Info.NodeGUID = 0 }},
	{kind: "guids/zero-guid", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) { f.Node("host00002").Info.SystemGUID = 0 }, subject: "host00002"},
	{kind: "guids/duplicate-guid", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) {
		f.Node("host00016").Info.NodeGUID = f.Node("host00001").Info.NodeGUID
	}},
	{kind: "names/empty-name", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) { f.Node("host00002").Desc = mad.NodeDescription{} }},
	{kind: "names/duplicate-name", fabric: "demo", commands: "describe node06 node05", subject: "node05, node05"},
	{kind: "links/no-reply", fabric: "demo", commands: "mute node06 PortInfo"},
	{kind: "links/no-peer", fabric: "demo", commands: "hang node06"},
	{kind: "links/one-sided", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) { f.Node("host00003").Ports[1].Info.LinkWidthActive = ib.Width1X }},
	{kind: "links/not-active", fabric: "demo", subject: "leaf3[4]"},
	{kind: "links/unstable", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) {
		f.Node("leaf001").Ports[3].Info.PhysState = ib.PhysLinkErrorRecovery
	}},
	{kind: "links/disabled", fabric: tree, options: thresholds("severity: {links/disabled: warning}"), change: func(_ *testing.T, f *sim.Fabric) {
		f.Node("leaf001").Ports[8].Info.PhysState = ib.PhysDisabled
	}},
	{kind: "links/invalid", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) { f.Node("host00002").Info.NodeGUID = 0 }},
	{kind: "speed/narrow", fabric: "demo", subject: "leaf1[1]"},
	{kind: "speed/slow", fabric: "demo", subject: "leaf2[5]"},
	{kind: "speed/limited", fabric: tree, options: thresholds("severity: {speed/limited: warning}"), change: func(_ *testing.T, f *sim.Fabric) {
		for _, p := range []*sim.Port{&f.Node("host00003").Ports[1], f.Node("host00003").Ports[1].Peer} {
			p.Info.LinkWidthSupported |= ib.Width12X
		}
	}},
	{kind: "speed/uneven", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) { f.Node("host00003").Ports[1].Info.LinkWidthEnabled = ib.Width1X }},
	{kind: "speed/slow-parallel", fabric: "net:../../../test/nets/parallel-links-and-router.net", change: func(_ *testing.T, f *sim.Fabric) {
		for _, name := range []string{"leaf-1", "leaf-2"} {
			p := &f.Node(name).Ports[4]
			p.Info.LinkWidthActive, p.Info.LinkWidthEnabled = ib.Width1X, ib.Width1X
		}
	}, subject: "leaf-1[4]"},
	{kind: "speed/below-minimum", fabric: tree, options: thresholds("min_speed: NDR")},
	{kind: "sm/no-master", fabric: "demo,sm=off"},
	{kind: "sm/two-masters", fabric: "demo", change: func(_ *testing.T, f *sim.Fabric) {
		p := &f.Node("node02").Ports[1]
		p.Info.CapMask |= mad.CapSM
		p.Info.SMLID = p.Info.LID
	}},
	{kind: "sm/equal-priority", fabric: "demo", change: func(_ *testing.T, f *sim.Fabric) { f.Node("node02").Ports[1].Info.CapMask |= mad.CapSM }},
	{kind: "sm/no-reply", fabric: "demo", commands: "mute node01 SMInfo"},
	{kind: "sa/unscanned-node", fabric: "demo", commands: "down leaf2", subject: "leaf2"},
	{kind: "sa/unscanned-node", fabric: "demo", commands: "hang leaf2", subject: "node06"},
	{kind: "pkeys/no-default-partition", fabric: "demo", commands: "pkeys node06[1] 0x8001", subject: "node06[1]"},
	{kind: "pkeys/not-on-switch", fabric: "demo", commands: "pkeys node06[1] 0xffff 0x8001; pkeys leaf2[4] 0xffff; enforce leaf2[4]", subject: "node06[1]"},
	{kind: "pkeys/limited-members", fabric: "demo", commands: "pkeys node06[1] 0xffff 0x0001; pkeys node05[1] 0xffff 0x0001", subject: "partition 0x0001"},
	{kind: "pkeys/unchecked", fabric: "demo", commands: "mute node06 P_KeyTable", subject: "node06[1]"},
	{kind: "counters/exceeded", fabric: "demo", subject: "leaf1[1]"},
	{kind: "counters/congested", fabric: "demo", subject: "leaf4[4]"},
	{kind: "counters/saturated", fabric: "demo", commands: "perfcaps leaf1 0; counter leaf1[1] SymbolErrorCounter 65535", subject: "leaf1[1]"},
	{kind: "counters/unchecked", fabric: "demo", commands: "pma leaf1 silent", subject: "leaf1"},
	{kind: "counters/increased", fabric: tree, options: baseline("counter leaf001[1] PortRcvErrors 3"), subject: "leaf001[1]"},
	{kind: "counters/flapped", fabric: tree, options: baseline("counter leaf001[1] LinkDownedCounter 1"), subject: "leaf001[1]"},
	{kind: "counters/cleared", fabric: "demo", options: baseline("clear leaf1[1]"), subject: "leaf1[1]"},
	{kind: "ber/bit-errors", fabric: tree, options: baseline("counter leaf001[1] SymbolErrorCounter 30000"), subject: "leaf001[1]"},
	{kind: "cables/dirty-fibre", fabric: "optics", subject: "leaf1[1]"},
	{kind: "cables/weak-light", fabric: lit, commands: "optics leaf001[3] dark", subject: "spine001[1]"},
	{kind: "cables/weak-transmitter", fabric: lit, commands: "optics leaf001[3] dark", subject: "leaf001[3]"},
	{kind: "cables/cable-firmware", fabric: "optics", subject: "spine2[1]"},
	{kind: "cables/flapped", fabric: "optics", subject: "leaf1[1]"},
	{kind: "cables/unchecked", fabric: "optics", options: loseRegister(register.IDPDDR), subject: "leaf1"},
	{kind: "temperature/hot-module", fabric: "optics", subject: "spine2[1]"},
	{kind: "temperature/fan-failed", fabric: "optics", subject: "leaf2"},
	{kind: "temperature/unchecked", fabric: "optics", options: loseRegister(register.IDMTMP), subject: "leaf1"},
	{kind: "power/power-lost", fabric: "optics", subject: "spine1"},
	{kind: "power/unchecked", fabric: "optics", options: loseRegister(register.IDMSPS), subject: "leaf1"},
	{kind: "ber/bit-errors", fabric: "optics", subject: "leaf1[1]"},
	{kind: "ber/unchecked", fabric: "optics", options: loseRegister(register.IDPPCNT), subject: "leaf1"},
	{kind: "firmware/firmware-differs", fabric: "demo,vendor=on", commands: "firmware node06 31 10 8", subject: "node06"},
	{kind: "firmware/unchecked", fabric: "demo,vendor=on", commands: "vendor node06 off", subject: "node06"},
	{kind: "routing/unreachable", fabric: "dead-end"},
	{kind: "routing/forwarding-loop", fabric: "forwarding-loop"},
	{kind: "routing/not-active", fabric: "demo", subject: "leaf3[4]"},
	{kind: "routing/credit-loop", fabric: "credit-loop"},
	{kind: "routing/unbalanced", fabric: "unbalanced-leaf"},
	{kind: "routing/multicast", fabric: "broken-multicast"},
	{kind: "routing/beyond-switch", fabric: tree, commands: "lft leaf001 3 99"},
	{kind: "routing/duplicate-lid", fabric: tree, change: func(_ *testing.T, f *sim.Fabric) {
		f.Node("host00002").Ports[1].Info.LID = f.Node("host00001").Ports[1].Info.LID
	}},
	{kind: "routing/unchecked", fabric: tree, commands: "mute leaf001 LinearForwardingTable", subject: "leaf001"},
	{kind: "tree/wrong-structure", fabric: "torus", options: thresholds("topology: fat-tree")},
	{kind: "tree/level-link", fabric: tree, commands: "link leaf001[8] leaf002[8]", options: thresholds("topology: fat-tree"), subject: "leaf001[8]"},
	{kind: "tree/few-uplinks", fabric: tree, commands: "unlink leaf003[6]", subject: "leaf003"},
	{kind: "tree/uneven-uplinks", fabric: "fat-tree:radix=8,pods=4,hosts=4,spines=4", commands: "unlink leaf003[8]; unlink leaf002[7]; link leaf003[8] spine003[2]", subject: "leaf003"},
	{kind: "rails/wrong-rail", fabric: "rails", commands: "unlink leaf1[3]; unlink leaf2[3]; link leaf1[3] host003-mlx5_1[1]; link leaf2[3] host003-mlx5_0[1]; sweep", subject: "host003 mlx5_1[1]"},
	{kind: "plan/missing-node", fabric: tree, options: plan("leaf001,Port 1,host99999,Port 1,,\n")},
	{kind: "plan/missing-cable", fabric: tree, commands: "unlink leaf001[5]", options: plan("leaf001,Port 5,spine001,Port 1,,\n")},
	{kind: "plan/wrong-peer", fabric: tree, options: plan("leaf001,Port 1,host00007,Port 1,,\n")},
	{kind: "plan/swapped", fabric: tree, options: plan("leaf001,Port 1,host00002,Port 1,,\nleaf001,Port 2,host00001,Port 1,,\n")},
	{kind: "plan/unexpected-cable", fabric: tree, options: plan("leaf001,Port 1,host00001,Port 1,,\n")},
	{kind: "plan/slower", fabric: tree, options: plan("leaf001,Port 1,host00001,Port 1,400G,\n")},
	{kind: "discovery/unchecked", fabric: tree, options: stored(oneSided)},
	{kind: "plan/unchecked", fabric: tree, options: plan("leaf001,Port 1,host00001,Port 1,fast,\n")},
	{kind: "plan/ambiguous", fabric: "rails", options: plan("leaf1,Port 1,host001,Port 7,,\n")},
	{kind: "plan/duplicate-name", fabric: tree, commands: "describe host00002 host00001", options: plan("leaf001,Port 1,host00001,Port 1,,\n")},
}

// untested are findings that no simulated fabric has.
var untested = []string{
	"cables/module-fault", "cables/invalid", "temperature/invalid", "temperature/hot-device", // in package phy, which tests them
	"sm/stalled", "sm/wrong-state", "sm/no-manager", "sm/other-master", // in package sm, which tests them
	"counters/disappeared",                  // in package counters
	"sa/unchecked",                          // in package fabric: a table in a single packet
	"routing/same-path", "routing/changing", // in package route, which tests them
}

// stored makes the options check a fabric in a file, which ibnetdiscover wrote.
func stored(text string) func(*testing.T, *sim.Fabric, *FabricOptions) {
	return func(t *testing.T, _ *sim.Fabric, o *FabricOptions) {
		t.Helper()
		d, err := fabricfile.Parse([]byte(text), "file")
		if err != nil {
			t.Fatal(err)
		}
		o.Stored = d
	}
}

// oneSided is a link with another width at each end, and a line of another program.
const oneSided = `ibwarn: timeout
switchguid=0x10(10)
Switch	4 "S-0000000000000010"		# "sw" base port 0 lid 1 lmc 0
[1]	"H-0000000000000020"[1](21) 		# "n1" lid 3 4xEDR

caguid=0x20
Ca	1 "H-0000000000000020"		# "n1"
[1](21) 	"S-0000000000000010"[1]		# lid 3 lmc 0 "sw" lid 1 1xEDR
`

// A stored fabric without states has the widths and speeds at both ends of its links, and its
// file's damage is a finding.
func TestFabric_StoredDamage(t *testing.T) {
	o := FabricOptions{Limits: DefaultLimits(), Only: []string{"discovery", "links", "speed"}}
	stored(oneSided)(t, nil, &o)
	r, err := Fabric(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Findings {
		got = append(got, Name(f)+" "+f.Subject+": "+f.Detail)
	}
	want := []string{
		`discovery/unchecked : file:1:1: got "ibwarn: timeout", want a node (Switch, Hca, Ca, Rt), a port ([1]), an assignment (switchguid=) or a comment (#)`,
		"links/one-sided sw[1]: the peer reports 1X EDR; peer n1[1]",
	}
	if !slices.Equal(got, want) || !r.Partial {
		t.Errorf("got findings %q, partial %v, want %q, true", got, r.Partial, want)
	}
}

func TestFabric_Faults(t *testing.T) {
	tested := map[string]bool{}
	for _, name := range untested {
		tested[name] = true
	}
	for _, test := range faults {
		tested[test.kind] = true
		t.Run(test.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := build(t, test.fabric, test.commands)
				if test.change != nil {
					test.change(t, f)
				}
				o := options(f)
				if test.options != nil {
					test.options(t, f, &o)
					time.Sleep(time.Second) // since a baseline
				}
				stageName, _, _ := strings.Cut(test.kind, "/")
				o.Only = []string{stageName}
				r, err := Fabric(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				kinds := found(r)
				if kinds[test.kind] == 0 {
					t.Fatalf("got findings %v, want %s; stage: %+v", slices.Sorted(maps.Keys(kinds)), test.kind, r.Stages)
				}
				hasSubject := false
				for _, f := range r.Findings {
					hasSubject = hasSubject || Name(f) == test.kind && (test.subject == "" || f.Subject == test.subject)
					if f.Hint == "" || strings.Contains(f.Hint, "{") || f.Detail == "" {
						t.Errorf("got next step %q and detail %q of %s, want texts", f.Hint, f.Detail, f.Kind)
					}
				}
				if !hasSubject {
					t.Errorf("got %+v, want the subject %s", r.Findings, test.subject)
				}
			})
		})
	}
	for _, s := range FabricStages() {
		for _, k := range s.Kinds {
			if name := s.Name + "/" + string(k); !tested[name] {
				t.Errorf("no test has a fabric with %s", name)
			}
		}
	}
}

// All link findings belong to a stage.
func TestFabricStages_Links(t *testing.T) {
	for _, k := range linkinfo.Kinds {
		if !slices.Contains(slices.Concat(linkKinds, speedKinds), k) {
			t.Errorf("no stage has the finding %s", k)
		}
	}
}

// All kinds in a stage are declared with a next step.
func TestStages_Kinds(t *testing.T) {
	kinds := map[string][]report.Kind{}
	for _, s := range FabricStages() {
		kinds["fabric "+s.Name] = s.Kinds
	}
	for _, s := range NodeStages() {
		kinds["node "+s.Name] = s.Kinds
	}
	for stage, list := range kinds {
		for _, k := range list {
			if info := k.Info(); info.Meaning == "" || info.Hint == "" {
				t.Errorf("%s/%s: got %+v, want a meaning and a next step", stage, k, info)
			}
		}
	}
}

func TestFabric_Healthy(t *testing.T) {
	for _, fabric := range []string{tree, "rails,vendor=on", "torus", "dragonfly", "single-switch"} {
		t.Run(fabric, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := options(build(t, fabric, ""))
				r, err := Fabric(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if r.Errors > 0 || r.Partial {
					t.Errorf("got %+v, want no errors", r.Findings)
				}
				if len(r.Stages) != len(FabricStages()) {
					t.Errorf("got %d stages, want %d", len(r.Stages), len(FabricStages()))
				}
			})
		})
	}
}

// The window rule: a window that is too short is not a proof, a longer window is.
func TestFabric_BER(t *testing.T) {
	for _, test := range []struct {
		age  time.Duration
		want string
	}{
		{10 * time.Second, "1e-14 unproved for 48 ports: the window is too short, want 12m0s"},
		{13 * time.Minute, "1e-14 proved for 48 ports; 1e-15 unproved"},
		{3 * time.Hour, "1e-15 proved for 48 ports"},
	} {
		t.Run(test.age.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := build(t, tree, "")
				o := options(f)
				o.Only = []string{"ber"}
				baseline("clear leaf001[1]")(t, f, &o)
				o.Since = aged(t, f, test.age)
				r, err := Fabric(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if got := stage(t, r, "ber").Comment; !strings.Contains(got, test.want) {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		})
	}
}

// aged returns a fabric's counters as a baseline with some age.
func aged(t *testing.T, f *sim.Fabric, age time.Duration) *counters.Baseline {
	t.Helper()
	r, err := counters.Run(t.Context(), counters.Options{Source: options(f).Source, Data: true})
	if err != nil {
		t.Fatal(err)
	}
	for p := range r.AllPorts() {
		if p.Now != nil {
			p.Now.BasicAt, p.Now.ExtendedAt = p.Now.BasicAt.Add(-age), p.Now.ExtendedAt.Add(-age)
		}
	}
	var text strings.Builder
	if err := counters.WriteBaseline(&text, r.Nodes, false); err != nil {
		t.Fatal(err)
	}
	b, err := counters.ReadBaseline(strings.NewReader(text.String()), "baseline")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFabric_Stored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "demo", "")
		scan, err := topology.Run(t.Context(), topology.Options{Source: options(f).Source})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Fabric(t.Context(), FabricOptions{Stored: &ibdiagnet.Database{Fabric: scan}, Limits: DefaultLimits()})
		if err != nil {
			t.Fatal(err)
		}
		kinds := found(r)
		for _, want := range []string{"links/not-active", "speed/narrow", "speed/slow"} {
			if kinds[want] == 0 {
				t.Errorf("got %v, want %s", kinds, want)
			}
		}
		for _, name := range []string{"sm", "pkeys", "counters", "ber", "firmware", "routing", "plan"} {
			if s := stage(t, r, name); s.Status != Skipped || s.Comment == "" {
				t.Errorf("stage %s: got %+v, want it skipped with a reason", name, s)
			}
		}
	})
}

// Stored tables that could not be read in part make the stage partial.
func TestFabric_StoredTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, tree, "mute leaf001 MulticastForwardingTable 0")
		o := options(f)
		tables, err := route.Scan(t.Context(), route.Options{Source: o.Source})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "routing")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(dump.Save(file, tables), file.Close()); err != nil {
			t.Fatal(err)
		}
		if o.Tables, err = dump.Load([]string{path}, dump.LoadOptions{}); err != nil {
			t.Fatal(err)
		}
		o.Only = []string{"routing"}
		r, err := Fabric(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if found(r)["routing/unchecked"] != 1 {
			t.Errorf("got findings %v, want one about the stored tables", found(r))
		}
	})
}

func TestFabric_Selection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(build(t, "demo", ""))
		o.Only, o.Skip = []string{"links", "speed", "lids"}, []string{"lids"}
		r, err := Fabric(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range r.Stages {
			names = append(names, s.Name)
		}
		if want := []string{"links", "speed"}; !slices.Equal(names, want) {
			t.Errorf("got stages %v, want %v", names, want)
		}
		if r.Errors != 3 || r.Partial {
			t.Errorf("got %d errors, partial %v, want 3 errors", r.Errors, r.Partial)
		}
	})
}

// The time limit is a single finding, and the stage has the findings of the replies before.
func TestFabric_RegisterLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "optics", "")
		o := options(f)
		o.Only, o.Source.Client.Timeout = []string{"cables"}, time.Hour
		loseRegister(register.IDPDDR)(t, f, &o)
		r, err := Fabric(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := found(r); got["cables/unchecked"] != 1 || got["cables/cable-firmware"] != 1 || !r.Partial || stage(t, r, "cables").Seconds != 60 {
			t.Errorf("got %v, partial %v, %v s", got, r.Partial, stage(t, r, "cables").Seconds)
		}
		if d := r.Findings[len(r.Findings)-1].Detail; d != "the requests for registers ended after 1m0s" {
			t.Errorf("got %q", d)
		}
	})
}

// A file with registers has the stages that they suffice for.
func TestFabric_StoredRegisters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := phy.Run(t.Context(), phy.Options{Source: options(build(t, "optics", "")).Source, Switches: true})
		if err != nil {
			t.Fatal(err)
		}
		d := &ibdiagnet.Database{Fabric: r.Fabric}
		r.Store(d)
		got, err := Fabric(t.Context(), FabricOptions{Stored: d, Limits: DefaultLimits(), Only: []string{"cables", "temperature", "power", "ber"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"cables/cable-firmware", "temperature/hot-module", "ber/bit-errors"} {
			if found(got)[want] != 1 {
				t.Errorf("got %v, want %s", found(got), want)
			}
		}
		if s := stage(t, got, "power"); !s.NotJudged || s.Comment != "not stored in files" {
			t.Errorf("got %+v", s)
		}
	})
}

// The registers of a large fabric are read on request, and a fabric without them has the
// reason, and is not judged.
func TestFabric_Registers(t *testing.T) {
	const (
		large  = "fat-tree:radix=64,pods=36,hosts=40,spines=24" // 4,608 link ends
		silent = "no register access by Gets: no reply to GeneralInfo"
	)
	for name, test := range map[string]struct {
		fabric  string
		request bool
		only    []string
		status  Status
		comment string
	}{
		"small":     {"optics", false, nil, Failed, "24 of 24 link ends"},
		"large":     {large, false, nil, Skipped, "registers of 4608 link ends are read on request only"},
		"--phy":     {large, true, nil, Skipped, "1494 devices not read: " + silent + " from other devices of the type; 6 devices not read: " + silent},
		"--only":    {large, false, []string{"cables"}, Skipped, "1494 devices not read: " + silent + " from other devices of the type; 6 devices not read: " + silent},
		"no device": {tree, false, nil, Skipped, "16 devices not read: " + silent + " from other devices of the type; 6 devices not read: " + silent},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := options(build(t, test.fabric, ""))
				o.Registers, o.Only = test.request, test.only
				if o.Only == nil {
					o.Skip = []string{"routing", "counters", "sa", "pkeys", "sm", "firmware"}
				}
				r, err := Fabric(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				s := stage(t, r, "cables")
				if s.Status != test.status || s.Comment != test.comment || s.NotJudged != (s.Status == Skipped) {
					t.Errorf("got %+v, want %s, %q", s, test.status, test.comment)
				}
			})
		})
	}
}
