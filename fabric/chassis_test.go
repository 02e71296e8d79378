package fabric_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Each net in testdata/chassis was served by ibsim 0.10 to Debian's infiniband-diags
// 44.0: ibnetdiscover --cache wrote the cache. The golden file contains the output from
// ibnetdiscover -g and iblinkinfo for each node: GUID, chassis GUID, model and slot,
// and port:external for the switch ports that have an external number.
func TestSystems_Libibnetdisc(t *testing.T) {
	for _, path := range goldens(t, "testdata/chassis/*.cache") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want, err := os.ReadFile(strings.TrimSuffix(path, ".cache") + ".golden")
			if err != nil {
				t.Fatal(err)
			}
			f, err := fabric.ReadCacheFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := systemsText(f); got != string(want) {
				t.Errorf("got:\n%s\nlibibnetdisc says:\n%s", got, want)
			}
		})
	}
}

// goldens returns the golden files, at least one.
func goldens(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files %s (error %v)", pattern, err)
	}
	return paths
}

func systemsText(f *fabric.Fabric) string {
	nodes := slices.SortedFunc(slices.Values(f.Nodes), func(a, b *fabric.Node) int { return cmp.Compare(a.GUID, b.GUID) })
	var b strings.Builder
	for _, n := range nodes {
		system, slot := "-", "-"
		if n.System != nil {
			system = fmt.Sprintf("0x%016x", n.System.GUID)
		}
		if n.Slot.Kind != fabric.SlotNone {
			slot = n.System.Kind + " " + n.Slot.String()
		}
		var external []string
		for _, p := range n.Ports {
			if p != nil && p.External != 0 {
				external = append(external, fmt.Sprintf("%d:%d", p.Number, p.External))
			}
		}
		fmt.Fprintf(&b, "0x%016x\t%s\t%s\t%s\n", n.GUID, system, slot, cmp.Or(strings.Join(external, " "), "-"))
	}
	return b.String()
}

func TestSystems_Consistent(t *testing.T) {
	for _, path := range goldens(t, "testdata/chassis/*.cache") {
		f, err := fabric.ReadCacheFile(path)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for i, s := range f.Systems {
			if s.Number != i+1 {
				t.Errorf("%s: system at %d has number %d", path, i, s.Number)
			}
			for _, n := range s.Nodes {
				if n.System != s {
					t.Errorf("%s: node 0x%x is listed in system %d and says otherwise", path, n.GUID, s.Number)
				}
			}
			count += len(s.Nodes)
		}
		for _, n := range f.Nodes {
			if n.System != nil {
				count--
			}
		}
		if count != 0 {
			t.Errorf("%s: %d nodes too many are listed in systems", path, count)
		}
	}
}

// TestMellanoxSlots parses valid and invalid descriptions: they come from the
// network.
func TestMellanoxSlots(t *testing.T) {
	tests := []struct{ desc, want string }{
		{"MF0;sw:IS5200/L01/U1", "IS5200 Line 1 Chip 1"},
		{"MF0;sw:IS5200/L36/U1", "IS5200 Line 36 Chip 1"},
		{"MF0;sw:IS5200/S18/U1", "IS5200 Spine 18 Chip 1"},
		{"MF0;sw:IS5200/L02:board/U1", "IS5200 Line 2 Chip 1"},
		{"MF0;sw:IS\x1b]0/L02/U1", "IS ]0 Line 2 Chip 1"},
		{"MF0;sw:IS5200/L37/U1", ""},
		{"MF0;sw:IS5200/S19/U1", ""},
		{"MF0;sw:IS5200/L00/U1", ""},
		{"MF0;sw:IS5200/L-1/U1", ""},
		{"MF0;sw:IS5200/L/U1", ""},
		{"MF0;sw:IS5200/X01/U1", ""},
		{"MF0;sw:IS5200/L01/1", ""},
		{"MF0;sw:IS5200/L01/U", ""},
		{"MF0;sw:IS5200/U1", ""},
		{"MF0;sw:IS5200//U1", ""},
		{"MF0;sw", ""},
		{"MF0;", ""},
		{"MF0", ""},
		{"", ""},
		{"a switch", ""},
	}
	for _, test := range tests {
		t.Run(test.desc, func(t *testing.T) {
			f := newTestFabric(test.desc, "MF0;sw:IS5200/S17/U1")
			n := f.Nodes[0]
			got := n.Slot.String()
			if got != "" {
				got = n.System.Kind + " " + got
			}
			if got != test.want {
				t.Errorf("description %q: got slot %q, want %q", test.desc, got, test.want)
			}
		})
	}
}

// newTestFabric returns a fabric with two InfiniScale IV switches in the same system.
func newTestFabric(desc ...string) *fabric.Fabric {
	f := new(fabric.Fabric)
	for i, d := range desc {
		n := &fabric.Node{GUID: ib.GUID(i + 1), Desc: mad.NewNodeDescription(d), Ports: make([]*fabric.Port, 37)}
		n.Info = mad.NodeInfo{NodeType: mad.NodeTypeSwitch, NumPorts: 36, NodeGUID: n.GUID, PortGUID: n.GUID, SystemGUID: 1, VendorID: 0x2c9, DeviceID: 0xbd36}
		f.Nodes = append(f.Nodes, n)
	}
	f.Start = f.Nodes[0]
	return reload(f)
}
