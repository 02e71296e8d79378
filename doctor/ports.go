package doctor

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
)

func checkPorts(_ context.Context, h *host) []Item {
	active := false
	for _, p := range h.ports() {
		active = active || p.Active()
	}
	var items []Item
	for d, p := range h.ports() {
		items = append(items, h.checkPort(d, p, active))
	}
	if items == nil {
		return nothing("no RDMA device")
	}
	return items
}

// checkPort looks at a port. That one is not plugged in is less bad where others
// are.
func (h *host) checkPort(d *devinfo.Device, p *devinfo.Port, others bool) Item {
	i := Item{Subject: portName(d, p)}
	if p.State == nil {
		i.Verdict, i.Found, i.Advice = Unknown, "the kernel does not tell its state", "run as root"
		return i
	}
	state := ib.PortState(*p.State).String()
	if p.PhysState != nil {
		state += "/" + ib.PhysState(*p.PhysState).String()
	}
	if p.Active() {
		rate := ""
		if p.Rate != nil {
			rate = ", " + *p.Rate
		}
		return good(i.Subject, "%s%s", state, rate)
	}
	i.Verdict, i.Found, i.Why = Error, state, "nothing is sent by it"
	phys := ib.PhysState(0)
	if p.PhysState != nil {
		phys = ib.PhysState(*p.PhysState)
	}
	switch {
	case phys == ib.PhysLinkUp && !p.Ethernet():
		i.Why = "the link is up, and no subnet manager has made the port active"
		i.Advice = "look at what sm says below"
	case p.Ethernet() && h.isDown(p):
		i.Found = fmt.Sprintf("%s, %s is down", state, *p.Netdev)
		i.Mend = []string{fmt.Sprintf("ip link set %s up", quote(*p.Netdev))}
	case phys == ib.PhysDisabled && !p.Ethernet():
		i.Mend = []string{fmt.Sprintf("ibportstate -C %s -P %d -D 0 %d enable", quote(d.Name), p.Number, p.Number)}
		i.Advice = "someone switched it off"
	default:
		i.Advice = "look at the cable, the transceiver and the port at the other end"
		if others {
			i.Verdict = Warning
		}
	}
	return i
}

// isDown tells whether the network device of a port is switched off: IFF_UP is 1
// (linux/if.h).
func (h *host) isDown(p *devinfo.Port) bool {
	if p.Netdev == nil {
		return false
	}
	text, err := h.text("sys/class/net/" + *p.Netdev + "/flags")
	if err != nil {
		return false
	}
	var flags uint64
	_, err = fmt.Sscanf(text, "0x%x", &flags)
	return err == nil && flags&1 == 0
}
