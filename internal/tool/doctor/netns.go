package doctor

import (
	"context"
	"fmt"
)

// netnsMode is the file that contains Y if all network namespaces share all devices
// (ib_devices_shared_netns in drivers/infiniband/core/device.c; changed by rdma
// system set netns).
const netnsMode = "sys/module/ib_core/parameters/netns_mode"

func checkNetns(_ context.Context, h *host) []Item {
	var items []Item
	switch mode, err := h.text(netnsMode); {
	case err != nil && len(h.devices.Devices) == 0:
		return []Item{h.noDevice()}
	case err != nil:
		items = append(items, unreadable("", err))
	case mode == "Y":
		items = append(items, good("", "shared: all network namespaces use all devices"))
	case len(h.devices.Devices) == 0:
		items = append(items, Item{
			Verdict: Warning, Found: "exclusive mode, and no device in this network namespace",
			Why:  "in exclusive mode, a device can be used in a single network namespace",
			Hint: "on the host: rdma dev set DEVICE netns NAME, or rdma system set netns shared",
		})
	default:
		items = append(items, good("", "exclusive: devices of this network namespace only"))
	}
	for d, p := range h.roce() {
		if p.Netdev == nil && !h.live || p.Netdev != nil && h.exists("sys/class/net/"+*p.Netdev) {
			continue
		}
		netdev := "the network device"
		if p.Netdev != nil {
			netdev = *p.Netdev
		}
		items = append(items, Item{
			Subject: portName(d, p), Verdict: Error, Found: netdev + " is in another network namespace",
			Why: "RoCE needs the addresses of its network device, which do not exist in this network namespace",
			Hint: fmt.Sprintf("on the host, move it here (ip link set %s netns NAME), or run the program in the network namespace of the host",
				netdev),
		})
	}
	return items
}
