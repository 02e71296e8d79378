package roce

import (
	"testing"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/dcbnl"
	"github.com/ibkit/ibkit/internal/lldp"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/report"
)

// The flow control that the LLDP peer announces counts if the kernel does not know it.
func TestNeighbour(t *testing.T) {
	root := testenv.WriteTree(t, map[string]string{"class/net/eth1/mtu": "9000"})
	for _, test := range []struct {
		name   string
		kernel *uint8 // the kernel's value for the peer
		want   bool   // a mismatch
	}{{"LLDP only", nil, true}, {"the kernel knows it", new(uint8(1 << 3)), false}} {
		t.Run(test.name, func(t *testing.T) {
			bridging := func(string) (dcbnl.Bridging, error) {
				b := lossless()
				b.Peer = test.kernel
				return b, nil
			}
			h := Host{Sysfs: root, Bridging: bridging, Neighbours: map[string]*lldp.Neighbour{"eth1": {Chassis: "a", Port: "b", PFC: []int{4}}}}
			s, problems := h.Port(&devinfo.Device{Name: "mlx5_0"}, &devinfo.Port{Number: 1, State: new(ib.PortActive), Netdev: new("eth1")})
			found := false
			for _, m := range s.Mismatches() {
				found = found || m.Kind == report.RoCEPeer && m.Found == "eth1: PFC is on for priority 3, at the peer for priority 4"
			}
			if found != test.want || s.Links[0].LLDP == nil || len(problems) > 0 {
				t.Errorf("got %+v, problems %v, want a mismatch with the peer: %t", s.Mismatches(), problems, test.want)
			}
		})
	}
}
