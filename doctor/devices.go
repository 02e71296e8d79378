package doctor

import (
	"context"
	"fmt"
)

func checkDevices(_ context.Context, h *host) []Item {
	var items []Item
	if len(h.devices.Devices) == 0 {
		i := Item{
			Verdict: Error, Found: "there is no RDMA device", Why: "there is nothing to run RDMA on",
			Advice: "see above for modules of cards",
		}
		if h.isContainer() {
			i.Advice = "is it a container of a network namespace that devices were not given to? On the host: rdma system show, rdma dev set DEVICE netns NAME"
		} else if netdev := h.someNetdev(); netdev != "" {
			i.Mend = []string{fmt.Sprintf("rdma link add rxe0 type rxe netdev %s", quote(netdev))}
			i.Advice += "; the command makes a device of Soft-RoCE on Ethernet, for tests"
		}
		items = append(items, i)
	}
	known := map[string]bool{} // what the check of nodes tells
	for _, d := range h.devices.Devices {
		if d.OpenError != nil {
			known[d.OpenError.Error()] = true
		}
		driver, firmware := "driver unknown", ""
		if d.DriverID != nil {
			driver = *d.DriverID
		}
		if d.Driver != nil {
			driver = *d.Driver
		}
		if d.Firmware != nil && *d.Firmware != "" {
			firmware = ", firmware " + *d.Firmware
		}
		if f := h.finding("firmware-differs", d.Name, 0); f != nil {
			items = append(items, Item{
				Subject: d.Name, Verdict: Note, Found: f.Text,
				Why: "like cards that differ in firmware differ in speed and in faults", Advice: f.Hint,
			})
			continue
		}
		items = append(items, good(d.Name, "%s%s", driver, firmware))
	}
	for _, p := range h.devices.Problems {
		if !known[p.Text] {
			items = append(items, Item{Subject: p.Device, Verdict: Unknown, Found: p.Text, Advice: p.Hint})
		}
	}
	return items
}

// someNetdev returns a network device that is up and belongs to a card; "": there
// is none.
func (h *host) someNetdev() string {
	for _, name := range h.names("sys/class/net") {
		if state, err := h.text("sys/class/net/" + name + "/operstate"); err == nil && state == "up" && h.exists("sys/class/net/"+name+"/device") {
			return name
		}
	}
	return ""
}
