package sim

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// TestPresets checks that all ports in each preset can be reached, except in presets with
// table faults. The tests in package route check these presets.
func TestPresets(t *testing.T) {
	for _, p := range Presets {
		if p.Name == loopFault.Name || p.Name == deadEndFault.Name {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			f := build(t, p.Name)
			if _, lost := walkTables(t, f); lost > 0 || f.Nodes[0].managed(1).Info.LID == 0 {
				t.Errorf("got %d pairs without a route, want 0", lost)
			}
		})
	}
}

func TestFatTree_Shapes(t *testing.T) {
	for description, want := range map[string]struct{ switches, hosts int }{
		"fat-tree:radix=4,pods=4":                                                    {6, 8},
		"fat-tree:radix=5,pods=4,hosts=3,spines=2":                                   {6, 12},
		"fat-tree:levels=3,radix=4,pods=4":                                           {20, 16},
		"fat-tree:levels=3,radix=8,pods=3,hosts=6,spines=2,leaves=5,cores=3":         {27, 90},
		"fat-tree:radix=4,pods=4,split=2":                                            {6, 16},
		"fat-tree:levels=3,radix=8,pods=2,hosts=4,spines=2,leaves=2,cores=1,split=2": {10, 32},
	} {
		t.Run(description, func(t *testing.T) {
			f := build(t, description)
			if _, lost := walkTables(t, f); lost > 0 {
				t.Errorf("got %d pairs without a route, want 0", lost)
			}
			switches := len(newGraph(f).switches)
			if switches != want.switches || len(f.Nodes)-switches != want.hosts {
				t.Errorf("got %d switches and %d hosts, want %v", switches, len(f.Nodes)-switches, want)
			}
		})
	}
	for description, want := range map[string]string{
		"fat-tree:radix=5":                      "hosts=radix/2: radix=5 is odd",
		"fat-tree:radix=8,hosts=5":              "hosts=5 and spines=4: a switch has radix=8",
		"fat-tree:levels=3,radix=8,cores=5":     "leaves=4 and cores=5: a switch has radix=8",
		"fat-tree:leaves=3":                     "leaves and cores require levels=3",
		"fat-tree:split=2,width=12X":            "only 4X ports can be split",
		"fat-tree:split=2,radix=200":            "not a number from 2 to 127",
		"single-switch:split=2,radix=3,hosts=7": "too few ports: 6",
		"chassis:model=ISR9288,lines=13":        "lines=13: not a number from 1 to 12",
		"chassis:model=X":                       "model=X: not one of ISR2012, ISR4700, ISR9096, ISR9288, IS5600",
	} {
		t.Run(description, func(t *testing.T) {
			if _, err := Build(description); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// TestSplitPorts checks that a split connector has two 2X ports, and that the second port
// on a whole connector is down.
func TestSplitPorts(t *testing.T) {
	f := build(t, "fat-tree:radix=6,pods=2,hosts=2,spines=2,split=2,speed=NDR")
	leaf := f.Node("leaf001")
	if leaf.Info.NumPorts != 12 {
		t.Errorf("got %d ports, want 12", leaf.Info.NumPorts)
	}
	for number, want := range []ib.LinkWidth{
		1: ib.Width2X, 2: ib.Width2X, 3: ib.Width2X, 4: ib.Width2X, // two connectors, four hosts
		5: ib.Width4X, 6: 0, 7: ib.Width4X, 8: 0, // two spines
		9: 0, 10: 0, 11: 0, 12: 0,
	} {
		p := &leaf.Ports[number]
		if number > 0 && p.up() != (want != 0) || p.up() && p.Info.LinkWidthActive != want {
			t.Errorf("port %d: got up %v, width %v, want width %v", number, p.up(), p.Info.LinkWidthActive, want)
		}
	}
}

// TestMixed_Speeds checks that each rack and the rack's uplinks run at the rack speed, and
// that FDR10 uplinks run at QDR, since the spines do not support FDR10.
func TestMixedSpeeds(t *testing.T) {
	f := build(t, "mixed")
	for s := ib.SDR; s <= ib.XDR; s <<= 1 {
		leaf := f.Node(strings.ToLower(s.String()) + "-leaf")
		for number, want := range map[int]ib.Speed{1: s, 4: s} {
			if s == ib.FDR10 && number == 4 {
				want = ib.QDR
			}
			p := &leaf.Ports[number]
			for _, end := range []*Port{p, p.Peer} {
				if got := end.Info.ActiveSpeed(&end.Management().Info, end.Ext); got != want {
					t.Errorf("%s: got %v, want %v", end, got, want)
				}
			}
		}
		if leaf.Info.DeviceID != generations[s].fabric || leaf.Ports[1].Peer.Node.Info.DeviceID != generations[s].adapter {
			t.Errorf("%v: got device IDs %d and %d, want %v", s, leaf.Info.DeviceID, leaf.Ports[1].Peer.Node.Info.DeviceID, generations[s])
		}
	}
}
