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

// eachLink looks at all InfiniBand ports that have a link, at once: what does not
// answer takes its time.
func (h *host) eachLink(look func(*devinfo.Device, *devinfo.Port) Item) []Item {
	var items []Item
	var looks []func() Item
	for d, p := range h.ports() {
		if p.LinkLayer == nil || *p.LinkLayer != "InfiniBand" || p.PhysState == nil || ib.PhysState(*p.PhysState) != ib.PhysLinkUp {
			continue // which is a matter of the check of ports
		}
		items = append(items, Item{Subject: portName(d, p)})
		looks = append(looks, func() Item { return look(d, p) })
	}
	if items == nil {
		return nothing("no InfiniBand port has a link")
	}
	var all sync.WaitGroup
	for i := range looks {
		all.Go(func() {
			found := looks[i]()
			found.Subject = items[i].Subject
			items[i] = found
		})
	}
	all.Wait()
	return items
}

// openPort opens the device node of a port for management datagrams. Where it
// cannot, it returns nil, and the item that says why.
func (h *host) openPort(d *devinfo.Device, p *devinfo.Port) (umad.Port, Item) {
	if !h.live {
		return nil, Item{Verdict: Unknown, Found: "only a running kernel can ask", Advice: onHost}
	}
	all, err := device.Candidates(h.sysfs())
	if err == nil {
		i := slices.IndexFunc(all, func(c device.Candidate) bool { return c.Device.Name == d.Name && int(c.Port.Number) == p.Number })
		if i < 0 {
			return nil, Item{Verdict: Unknown, Found: "the port has no device node for management datagrams", Advice: "see modules above"}
		}
		var port *device.Port
		if port, err = all[i].Open(h.path("dev/infiniband")); err == nil {
			return port, Item{}
		}
	}
	i := Item{Verdict: Unknown, Found: err.Error()}
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) {
		i.Advice = hinter.Hint()
	}
	return nil, i
}
