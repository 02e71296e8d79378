package gpu

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ibkit/ibkit/internal/pcie"
)

// Users without CAP_SYS_ADMIN read the header of a configuration space only: its settings are
// unknown, and the topology reports it. The rest does not depend on it.
func TestRead_Restricted(t *testing.T) {
	for _, test := range []struct {
		name       string
		size       int // of the configuration space
		restricted bool
	}{{"header", 64, true}, {"whole", 256, false}} {
		t.Run(test.name, func(t *testing.T) {
			root, devices := newHost(t)
			config := make([]byte, test.size)
			config[0x06], config[0x34] = 0x10, 0x40 // a capability list
			if test.size > 64 {
				copy(config[0x40:], []byte{0x10, 0, 2, 0, 0, 0, 0, 0, 0x50, 0x28}) // PCI Express, DevCtl 0x2850
			}
			for _, address := range []string{"0000:01:00.0", "0000:01:00.1"} {
				if err := os.WriteFile(filepath.Join(root, "bus/pci/devices", address, "config"), config, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			topology := Read(root, devices)
			g := topology.GPUs[0]
			if topology.Restricted != test.restricted || topology.Partial || len(topology.Problems) > 0 {
				t.Errorf("got restricted %t, partial %t, problems %v", topology.Restricted, topology.Partial, topology.Problems)
			}
			if unknown := g.MaxPayload == nil && g.MaxReadRequest == nil && g.RelaxedOrdering == nil; unknown != test.restricted {
				t.Errorf("got settings %+v, want them unknown: %t", g.Settings, test.restricted)
			}
			if !test.restricted && (*g.MaxPayload != 512 || *g.MaxReadRequest != 512 || !*g.RelaxedOrdering) {
				t.Errorf("got MaxPayload %d, MaxReadReq %d, relaxed ordering %t", *g.MaxPayload, *g.MaxReadRequest, *g.RelaxedOrdering)
			}
			if g.Distances["mlx5_0"] != pcie.PIX || g.BAR != 256<<20 {
				t.Errorf("got distance %v, BAR %d", g.Distances["mlx5_0"], g.BAR)
			}
		})
	}
}

// Memory for transfers from other functions is the one that the driver offers.
func TestRead_P2PMemory(t *testing.T) {
	root, devices := newHost(t)
	dir := filepath.Join(root, "bus/pci/devices/0000:01:00.0/p2pmem")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"size": "1073741824\n", "available": "536870912\n", "published": "1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	topology := Read(root, devices)
	if got, want := topology.GPUs[0].P2P, (pcie.P2PMemory{Size: 1 << 30, Available: 1 << 29, Published: true}); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := topology.Adapters[0].P2P; got != nil {
		t.Errorf("adapter: got %+v, want none", got)
	}
}
