package doctor

import (
	"errors"
	"slices"
	"sync"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// forEachLink runs a check on all InfiniBand ports with their link up, concurrently,
// because an unresponsive subnet manager or peer delays its port's check.
func (h *host) forEachLink(check func(*devinfo.Device, *devinfo.Port) Item) []Item {
	var items []Item
	var checks []func() Item
	for d, p := range h.ports() {
		if !isInfiniBand(d, p) || p.PhysState == nil || *p.PhysState != ib.PhysLinkUp {
			continue // checkPorts reports ports without a link
		}
		items = append(items, Item{Subject: portName(d, p)})
		checks = append(checks, func() Item { return check(d, p) })
	}
	if items == nil {
		return h.noActivePort("InfiniBand port", isInfiniBand)
	}
	var all sync.WaitGroup
	for i := range checks {
		all.Go(func() {
			found := checks[i]()
			found.Subject = items[i].Subject
			items[i] = found
		})
	}
	all.Wait()
	return items
}

// openPort opens a port's MAD device node. If it fails, the port is nil and the Item
// describes the failure.
func (h *host) openPort(d *devinfo.Device, p *devinfo.Port) (umad.Port, Item) {
	if !h.live {
		return nil, Item{Verdict: Unknown, Found: notLive, Hint: hintOnHost}
	}
	all, err := device.Host{Sysfs: string(h.sysfs()), Dev: h.path("dev/infiniband")}.Ports()
	if err == nil {
		i := slices.IndexFunc(all, func(l device.LocalPort) bool { return l.Attr.Device == d.Name && int(l.Attr.Number) == p.Number })
		if i < 0 {
			return nil, Item{Verdict: Unknown, Found: "the port has no device node for management datagrams", Hint: "load the module ib_umad: modprobe ib_umad"}
		}
		var port *device.Port
		if port, err = all[i].Open(); err == nil {
			return port, Item{}
		}
	}
	i := Item{Verdict: Unknown, Found: err.Error()}
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) {
		i.Hint = hinter.Hint()
	}
	return nil, i
}
