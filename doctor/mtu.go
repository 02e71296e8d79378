package doctor

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/devinfo"
)

// netdevMTU is what a network device needs for RoCE's 4096 bytes with the longest
// headers, rounded up.
const netdevMTU = 4200

func checkMTU(_ context.Context, h *host) []Item {
	var items []Item
	for d, p := range h.ports() {
		if p.Active() && !isIWARP(d) {
			items = append(items, h.checkPortMTU(d, p))
		}
	}
	if items == nil {
		return nothing("no port is active")
	}
	return items
}

func (h *host) checkPortMTU(d *devinfo.Device, p *devinfo.Port) Item {
	name := portName(d, p)
	if p.MTU == nil || p.MaxMTU == nil {
		i := Item{Subject: name, Verdict: Unknown, Found: "the device could not be asked", Advice: "see nodes above"}
		if !h.live {
			i.Advice = onHost
		}
		return i
	}
	const why = "smaller packets cost more of each byte's time, and peers with a larger MTU do not connect by default"
	if f := h.finding("mtu-low", d.Name, p.Number); f != nil && p.Netdev != nil && p.NetdevMTU != nil {
		netdev := quote(*p.Netdev)
		return Item{
			Subject: name, Verdict: Warning, Found: f.Text, Why: why,
			// Nothing happens where the value stays the same.
			Mend: []string{fmt.Sprintf("ip link set %s mtu 1500", netdev), fmt.Sprintf("ip link set %s mtu %d", netdev, *p.NetdevMTU)},
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
	i.Found += fmt.Sprintf("; the device can do %d", *p.MaxMTU)
	if !p.Ethernet() {
		i.Advice = "the subnet manager sets it: opensm's partitions.conf has mtu=5 for 4096"
		return i
	}
	if p.Netdev != nil && p.NetdevMTU != nil && *p.NetdevMTU < netdevMTU {
		i.Mend = []string{fmt.Sprintf("ip link set %s mtu %d", quote(*p.Netdev), netdevMTU)}
		i.Advice = "switches and peers need as much, and the network's configuration is to set it at each start"
	}
	return i
}
