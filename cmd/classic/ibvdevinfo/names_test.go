package ibvdevinfo

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// The texts come from rdma-core's ibv_devinfo.
func TestNames(t *testing.T) {
	for name, test := range map[string]struct {
		got  []string
		want string
	}{
		"port state": {
			each(portState, 0, ib.PortDown, ib.PortInit, ib.PortArmed, ib.PortActive, 9),
			"invalid state|PORT_DOWN|PORT_INIT|PORT_ARMED|PORT_ACTIVE|invalid state",
		},
		"physical state": {
			each(physState, 0, 1, 2, 3, 4, 5, 6, 7, 8),
			"invalid physical state|SLEEP|POLLING|DISABLED|PORT_CONFIGURATION TRAINNING|LINK_UP|LINK_ERROR_RECOVERY|PHY TEST|invalid physical state",
		},
		"MTU":        {each(mtu, 0, 1, 2, 3, 4, 5, 6), "invalid MTU|256|512|1024|2048|4096|invalid MTU"},
		"VLs":        {each(virtualLanes, 0, 1, 2, 3, 4, 5, 6), "invalid value|1|2|4|8|15|invalid value"},
		"link layer": {each(linkLayer, 0, 1, 2, 3), "Unspecified|InfiniBand|Ethernet|Unknown"},
		"width":      {each(linkWidth, 1, 2, 4, 8, 16, 3, 0, 32), "1X|4X|8X|12X|2X|invalid widthX|invalid widthX|invalid widthX"},
		"speed": {
			each(linkSpeed, 1, 2, 4, 8, 16, 32, 64, 128, 256, 0, 3, 512),
			"2.5 Gbps|5.0 Gbps|10.0 Gbps|10.0 Gbps|14.0 Gbps|25.0 Gbps|50.0 Gbps|100.0 Gbps|200.0 Gbps|invalid speed|invalid speed|invalid speed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(test.got, "|"); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func each[T any](name func(T) string, values ...T) []string {
	var names []string
	for _, v := range values {
		names = append(names, name(v))
	}
	return names
}
