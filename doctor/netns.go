package doctor

import (
	"context"
	"fmt"
)

// netnsMode is Y where devices are shared by all network namespaces
// (ib_devices_shared_netns in drivers/infiniband/core/device.c, which rdma system
// set netns changes).
const netnsMode = "sys/module/ib_core/parameters/netns_mode"

func checkNetns(_ context.Context, h *host) []Item {
	var items []Item
	switch mode, err := h.text(netnsMode); {
	case err != nil && len(h.devices.Devices) == 0:
		return nothing("no RDMA device")
	case err != nil:
		items = append(items, unread("", err))
	case mode == "Y":
		items = append(items, good("", "shared: all network namespaces see all devices"))
	case len(h.devices.Devices) == 0:
		items = append(items, Item{
			Verdict: Warning, Found: "exclusive, and no device is in this network namespace",
			Why:    "a device is seen in one network namespace only",
			Advice: "on the host: rdma dev set DEVICE netns NAME, or rdma system set netns shared",
		})
	default:
		items = append(items, good("", "exclusive: a device is seen in one network namespace only, and this one has some"))
	}
	for d, p := range h.roce() {
		if p.Netdev == nil && !h.live || p.Netdev != nil && h.exists("sys/class/net/"+*p.Netdev) {
			continue
		}
		netdev := "its network device"
		if p.Netdev != nil {
			netdev = *p.Netdev
		}
		items = append(items, Item{
			Subject: portName(d, p), Verdict: Error, Found: netdev + " is in another network namespace",
			Why: "the device is seen here, but RoCE sends by the addresses of its network device, which this namespace does not have",
			Advice: fmt.Sprintf("on the host, give it to this namespace (ip link set %s netns NAME), or run the program in the host's network",
				netdev),
		})
	}
	return items
}
