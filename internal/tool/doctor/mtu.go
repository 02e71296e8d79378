package doctor

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/report"
)

// netdevMTU is the MTU that a network device needs for RoCE packets with a 4096-byte
// payload and the longest headers, rounded up.
const netdevMTU = 4200

func checkMTU(_ context.Context, h *host) []Item {
	var items []Item
	for d, p := range h.ports() {
		if p.Active() && !d.IsIWARP() {
			items = append(items, h.checkPortMTU(d, p))
		}
	}
	if items == nil {
		return h.noActivePort("port", func(d *devinfo.Device, _ *devinfo.Port) bool { return !d.IsIWARP() })
	}
	return items
}

func (h *host) checkPortMTU(d *devinfo.Device, p *devinfo.Port) Item {
	name := portName(d, p)
	if p.MTU == nil || p.MaxMTU == nil {
		i := Item{Subject: name, Verdict: Unknown, Found: "the device could not be queried", Hint: "to check the access to its device node, run: ibkit doctor --only nodes"}
		if !h.live {
			i.Hint = hintOnHost
		}
		return i
	}
	const why = "small packets waste bandwidth on headers, and by default peers with a larger MTU do not connect"
	if f := h.finding(report.LowMTU, name); f != nil && p.Netdev != nil && p.NetdevMTU != nil {
		netdev := textfile.ShellWord(*p.Netdev)
		return Item{
			Subject: name, Verdict: Warning, Found: f.Detail, Why: why,
			// The kernel ignores a command that does not change the value.
			Fix: []string{fmt.Sprintf("ip link set %s mtu 1500", netdev), fmt.Sprintf("ip link set %s mtu %d", netdev, *p.NetdevMTU)},
		}
	}
	i := good(name, "%d bytes", *p.MTU)
	if p.Ethernet() && p.NetdevMTU != nil {
		i.Found += fmt.Sprintf(", %s has %d", *p.Netdev, *p.NetdevMTU)
	}
	if *p.MTU >= *p.MaxMTU {
		return i
	}
	i.Verdict, i.Why = Note, why
	i.Found += fmt.Sprintf("; the device supports %d", *p.MaxMTU)
	if !p.Ethernet() {
		i.Hint = "the subnet manager sets the MTU: for 4096 bytes, set mtu=5 in the partitions.conf of opensm"
		return i
	}
	if p.Netdev != nil && p.NetdevMTU != nil && *p.NetdevMTU < netdevMTU {
		i.Fix = []string{fmt.Sprintf("ip link set %s mtu %d", textfile.ShellWord(*p.Netdev), netdevMTU)}
		i.Hint = "switches and peers need at least this MTU too; add it to the network configuration to keep it"
	}
	return i
}
