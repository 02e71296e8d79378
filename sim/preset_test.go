package sim

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// Every preset is built, and all its ends can be reached.
func TestPresets(t *testing.T) {
	for _, p := range Presets {
		f := build(t, p.Name)
		if _, lost := walkTables(t, f); lost > 0 || f.Nodes[0].managed(1).Info.LID == 0 {
			t.Errorf("%s: no way between %d pairs", p.Name, lost)
		}
	}
}

func TestFatTreeShapes(t *testing.T) {
	for description, want := range map[string]struct{ switches, hosts int }{
		"fat-tree:radix=4,pods=4":                                                    {6, 8},
		"fat-tree:radix=5,pods=4,hosts=3,spines=2":                                   {6, 12},
		"fat-tree:levels=3,radix=4,pods=4":                                           {20, 16},
		"fat-tree:levels=3,radix=8,pods=3,hosts=6,spines=2,leaves=5,cores=3":         {27, 90},
		"fat-tree:radix=4,pods=4,split=2":                                            {6, 16},
		"fat-tree:levels=3,radix=8,pods=2,hosts=4,spines=2,leaves=2,cores=1,split=2": {10, 32},
	} {
		f := build(t, description)
		if _, lost := walkTables(t, f); lost > 0 {
			t.Errorf("%s: no way between %d pairs", description, lost)
		}
		switches := len(newGraph(f).switches)
		if switches != want.switches || len(f.Nodes)-switches != want.hosts {
			t.Errorf("%s: %d switches and %d hosts, want %v", description, switches, len(f.Nodes)-switches, want)
		}
	}
	for description, want := range map[string]string{
		"fat-tree:radix=5":                      "radix=5: it is odd, so that hosts=radix/2 is no whole number",
		"fat-tree:radix=8,hosts=5":              "hosts=5 and spines=4: a switch has radix=8",
		"fat-tree:levels=3,radix=8,cores=5":     "leaves=4 and cores=5: a switch has radix=8",
		"fat-tree:leaves=3":                     "only with levels=3",
		"fat-tree:split=2,width=12X":            "only ports at 4X can be split",
		"fat-tree:split=2,radix=200":            "not a number from 2 to 127",
		"single-switch:split=2,radix=3,hosts=7": "too few ports (6)",
		"chassis:model=ISR9288,lines=13":        "lines=13: not a number from 1 to 12",
		"chassis:model=X":                       "model=X: not one of ISR2012, ISR4700, ISR9096, ISR9288, IS5600",
	} {
		if _, err := Build(description); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", description, err, want)
		}
	}
}

// A split connector is two ports at 2X; a whole one has a second port that is
// down.
func TestSplitPorts(t *testing.T) {
	f := build(t, "fat-tree:radix=6,pods=2,hosts=2,spines=2,split=2,speed=NDR")
	leaf := f.Node("leaf001")
	if leaf.Info.NumPorts != 12 {
		t.Errorf("%d ports", leaf.Info.NumPorts)
	}
	for number, want := range []ib.LinkWidth{
		1: ib.Width2X, 2: ib.Width2X, 3: ib.Width2X, 4: ib.Width2X, // two connectors, four hosts
		5: ib.Width4X, 6: 0, 7: ib.Width4X, 8: 0, // two spines
		9: 0, 10: 0, 11: 0, 12: 0,
	} {
		p := &leaf.Ports[number]
		if number > 0 && p.up() != (want != 0) || p.up() && p.Info.LinkWidthActive != want {
			t.Errorf("port %d: up %v, width %v", number, p.up(), p.Info.LinkWidthActive)
		}
	}
}

// Each rack of the mixed preset runs at its own speed, and so do the links to it;
// FDR10 is QDR to spines that do not know it.
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
					t.Errorf("%s: %v, want %v", end, got, want)
				}
			}
		}
		if leaf.Info.DeviceID != generations[s].fabric || leaf.Ports[1].Peer.Node.Info.DeviceID != generations[s].adapter {
			t.Errorf("%v: device ID %d", s, leaf.Info.DeviceID)
		}
	}
}
