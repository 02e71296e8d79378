//go:build guest

package verbstest

import (
	"maps"
	"net/netip"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

// An Adapter is a device of the module: RoCE, iWARP for the connection manager, or efa.
type Adapter struct {
	ABI, Device string
	ToolsFrom   *debian.Release // nil: Debian 12
	Address     string          // of the network device below; its GID has index 1
	Alone       bool            // without that device, as efa: the GID has index 0
	Options     string          // more module parameters
	IWARP       bool
	CM          bool     // connections with the connection manager; always so with IWARP
	Tools       []string // programs of Debian in the guest
	Programs    []guest.Program
	Files       map[string]string // more files, as in guest.Spec
}

// Boot starts a guest of Debian 12 with an adapter.
func Boot(t testing.TB, a Adapter) *guest.Guest {
	t.Helper()
	const module = "/verbstest.ko"
	files := map[string]string{module: guest.Module(t, debian.Bookworm, "../../kmod/verbstest")}
	maps.Copy(files, a.Files)
	modules := []string{"ib_uverbs", "dummy"}
	switch {
	case a.IWARP:
		a.Options += " iwarp=1"
	case a.CM:
		a.Options += " cm=1"
	}
	if a.IWARP || a.CM {
		modules = append(modules, "rdma_ucm")
	}
	g := guest.New(t, guest.Spec{
		Modules:  modules,
		Files:    files,
		Programs: append([]guest.Program{guest.Ibkit}, a.Programs...),
		Tools:    append([]string{"ip"}, a.Tools...), ToolsFrom: a.ToolsFrom,
	})
	netdev := " netdev=rdma0"
	if a.Alone {
		netdev = ""
	}
	g.Must(t, "sh", "-ec", "ip link add rdma0 type dummy; ip addr add "+a.Address+"/24 dev rdma0; ip link set rdma0 up; "+
		"insmod "+module+netdev+" abi="+a.ABI+" "+a.Options)
	if a.IWARP || a.Alone { // without addresses in GIDs
		return g
	}
	gid := netip.AddrFrom16(netip.MustParseAddr(a.Address).As16()).StringExpanded()
	if err := g.Await(t.Context(), "grep", "-q", strings.TrimPrefix(gid, "::ffff:"), "/sys/class/infiniband/"+a.Device+"/ports/1/gids/1"); err != nil {
		t.Fatal(err)
	}
	return g
}

// CheckKernel reports ABI violations by user space, and kernel errors. A reloaded module
// counts violations from 0, so that the log is decisive.
func CheckKernel(t *testing.T, g *guest.Guest) {
	t.Helper()
	if out := g.Must(t, "sh", "-c", "dmesg | grep -E 'BUG|WARNING|Oops|violation' || true"); out != "" {
		t.Errorf("the kernel reports:\n%s", out)
	}
	const counter = "/sys/module/verbstest/parameters/violations"
	if out := g.Must(t, "sh", "-c", "test ! -e "+counter+" || grep -vx 0 "+counter+" || true"); out != "" {
		t.Errorf("got %s violations of the ABI, want 0", out)
	}
}
