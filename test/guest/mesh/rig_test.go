//go:build guest

package mesh_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/route/dump"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/test/guest"
)

// The rig is guests with two rails under two leaf switches, which two spine switches join.
const (
	guests = 4
	rails  = 2
	leaves = 2
	spines = 2
	below  = guests * rails / leaves // ports of a leaf to guests
)

// The rates are low, so that the emulated processors do not limit the traffic. Trunks carry the
// flows of all guests. Messages in flight (--tx-depth) take less than a tenth of the measured
// time on a cable: a guest that did not run for a while receives them at once, and with 128 of
// 1 KB in flight its figures were 1.7 times the rate of the cable. On a machine with many more
// runnable threads than processors, such figures remain in some runs: the time of a guest is short.
const (
	rate      = 1.5e6
	trunkRate = rate * guests * rails
)

// A rig is guests in a network with a known description.
type rig struct {
	*guest.Switch
	guests []*guest.Guest
	trunks []string // output ports
}

// tables is the file of the description in guests.
const tables = "/net.tables"

// newRig boots the guests.
func newRig(t *testing.T) *rig {
	t.Helper()
	description := filepath.Join(t.TempDir(), "net.topo")
	if err := os.WriteFile(description, []byte(topology()), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := sim.Build("topo:" + description)
	if err != nil {
		t.Fatal(err)
	}
	r, err := route.Scan(t.Context(), route.Options{Source: fabric.Source{OpenPort: f.Opener("")}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "net.tables"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := dump.Save(file, r); err != nil {
		t.Fatal(err)
	}
	route, trunks := routes(t, r)
	g := &rig{Switch: guest.NewSwitch(guest.Cable{Rate: rate}, route), trunks: trunks}
	spec := guest.Spec{Programs: []guest.Program{guest.Ibkit}, Files: map[string]string{tables: file.Name()}}
	for rail := range rails {
		spec.Devices = append(spec.Devices, guest.Device{Name: fmt.Sprintf("rxe%d", rail), Link: guest.Wire})
	}
	g.guests = guest.NewSwitched(t, g.Switch, slices.Repeat([]guest.Spec{spec}, guests)...)
	return g
}

// reset makes all links good.
func (r *rig) reset() {
	for i := range guests {
		for rail := range rails {
			good := guest.Cable{Rate: rate}
			r.SetCable(guest.Plug{Guest: i + 1, Rail: rail}, good, good)
		}
	}
	for _, name := range r.trunks {
		r.SetTrunk(name, guest.Cable{Rate: trunkRate})
	}
}

// adapterGUID returns the GUID that Soft-RoCE makes of a guest's network address.
func adapterGUID(p guest.Plug) string { return fmt.Sprintf("505400fffe00%02x%02x", p.Rail, p.Guest) }

// leafPort returns the leaf switch and the port that a plug is at, from 0.
func leafPort(p guest.Plug) (leaf, port int) {
	const perLeaf = guests / leaves
	return (p.Guest - 1) / perLeaf, (p.Guest-1)%perLeaf*rails + p.Rail
}

// portName returns the name of the leaf port that a plug is at.
func portName(p guest.Plug) string {
	leaf, port := leafPort(p)
	return fmt.Sprintf("leaf%d[%d]", leaf+1, port+1)
}

// plugs returns all plugs.
func plugs() (all []guest.Plug) {
	for i := range guests {
		for rail := range rails {
			all = append(all, guest.Plug{Guest: i + 1, Rail: rail})
		}
	}
	return all
}

// topology describes the network in the form of ibnetdiscover.
func topology() string {
	var b strings.Builder
	leafGUID := func(i int) string { return fmt.Sprintf("10%02d", i+1) }
	spineGUID := func(i int) string { return fmt.Sprintf("20%02d", i+1) }
	for leaf := range leaves {
		fmt.Fprintf(&b, "switchguid=0x%s(%[1]s)\nSwitch\t%d \"S-%016[1]s\"\t\t# \"leaf%[3]d\" base port 0 lid %d lmc 0\n", leafGUID(leaf), below+spines, leaf+1, 100+leaf)
		for i, p := range plugs() {
			if at, port := leafPort(p); at == leaf {
				fmt.Fprintf(&b, "[%d]\t\"H-%s\"[1](%[2]s)\t\t# \"n%d rxe%d\" lid %d 1xSDR\n", port+1, adapterGUID(p), p.Guest, p.Rail, i+1)
			}
		}
		for spine := range spines {
			fmt.Fprintf(&b, "[%d]\t\"S-%016s\"[%d]\t\t# \"spine%d\" lid %d 4xSDR\n", below+spine+1, spineGUID(spine), leaf+1, spine+1, 200+spine)
		}
		b.WriteByte('\n')
	}
	for spine := range spines {
		fmt.Fprintf(&b, "switchguid=0x%s(%[1]s)\nSwitch\t%d \"S-%016[1]s\"\t\t# \"spine%[3]d\" base port 0 lid %d lmc 0\n", spineGUID(spine), leaves, spine+1, 200+spine)
		for leaf := range leaves {
			fmt.Fprintf(&b, "[%d]\t\"S-%016s\"[%d]\t\t# \"leaf%d\" lid %d 4xSDR\n", leaf+1, leafGUID(leaf), below+spine+1, leaf+1, 100+leaf)
		}
		b.WriteByte('\n')
	}
	for i, p := range plugs() {
		leaf, port := leafPort(p)
		fmt.Fprintf(&b, "caguid=0x%s\nCa\t1 \"H-%[1]s\"\t\t# \"n%d rxe%d\"\n[1](%[1]s)\t\"S-%016[4]s\"[%d]\t\t# lid %d lmc 0 \"leaf%d\" lid %d 1xSDR\n\n",
			adapterGUID(p), p.Guest, p.Rail, leafGUID(leaf), port+1, i+1, leaf+1, 100+leaf)
	}
	return b.String()
}

// routes returns the trunks between two plugs by the forwarding tables, and all trunks.
func routes(t *testing.T, r *route.Routing) (between func(from, to guest.Plug) []string, trunks []string) {
	t.Helper()
	c := route.NewChannels(r)
	end := map[string]int{}
	for i := range c.Ends() {
		end[fmt.Sprintf("%016x", uint64(c.End(i).GUID))] = i
	}
	known := map[[2]guest.Plug][]string{}
	for _, from := range plugs() {
		for _, to := range plugs() {
			if from == to {
				continue
			}
			channels, ok := c.Path(nil, end[adapterGUID(from)], end[adapterGUID(to)])
			if !ok {
				t.Fatalf("got no path from %v to %v", from, to)
			}
			var names []string
			for _, channel := range channels {
				p := c.Port(int(channel))
				names = append(names, fabric.PortName(p.Node.Desc.String(), int(p.Number)))
			}
			known[[2]guest.Plug{from, to}] = names
			trunks = append(trunks, names...)
		}
	}
	slices.Sort(trunks)
	return func(from, to guest.Plug) []string { return known[[2]guest.Plug{from, to}] }, slices.Compact(trunks)
}
