package doctor

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
)

const (
	whyDown   = "a port that is not active carries no traffic"
	hintCable = "check the cable, the transceiver and the peer port"
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
		return skipped("no port")
	}
	return items
}

// checkPort checks a port's state. A port without a link is only a warning if another port
// on the host is active.
func (h *host) checkPort(d *devinfo.Device, p *devinfo.Port, anyActive bool) Item {
	i := Item{Subject: portName(d, p)}
	if p.State == nil {
		i.Verdict, i.Found, i.Hint = Unknown, "the kernel does not report the port state", "run as root"
		return i
	}
	state := p.State.String()
	if p.PhysState != nil {
		state += "/" + p.PhysState.String()
	}
	if p.Active() {
		rate := ""
		if p.Rate != nil {
			rate = ", " + *p.Rate
		}
		return h.checkIPoIB(p, good(i.Subject, "%s%s", state, rate))
	}
	i.Verdict, i.Found, i.Why = Error, state, whyDown
	phys := ib.PhysState(0)
	if p.PhysState != nil {
		phys = *p.PhysState
	}
	switch {
	case phys == ib.PhysLinkUp && !p.Ethernet():
		i.Why = "the link is up, but no subnet manager has activated the port"
		i.Hint = "start a subnet manager; if one runs, find out why it ignores this port: ibkit doctor --only sm"
	case p.Ethernet() && h.isDown(p):
		i.Found = fmt.Sprintf("%s, %s is down", state, *p.Netdev)
		i.Fix = []string{fmt.Sprintf("ip link set %s up", textfile.ShellWord(*p.Netdev))}
	case phys == ib.PhysDisabled && !p.Ethernet():
		i.Fix = []string{fmt.Sprintf("ibkit port -C %s -P %d route:0 %d enable", textfile.ShellWord(d.Name), p.Number, p.Number)}
		i.Hint = "the port was disabled on purpose, by an administrator or a tool"
	default:
		i.Hint = hintCable
		if anyActive {
			i.Verdict = Warning
		}
	}
	return i
}

// checkIPoIB adds an active InfiniBand port's network device.
func (h *host) checkIPoIB(p *devinfo.Port, i Item) Item {
	if p.Ethernet() || p.Netdev == nil {
		return i
	}
	i.Found += ", " + *p.Netdev
	if h.isDown(p) {
		i.Verdict, i.Found = Note, i.Found+" is down"
		i.Why = "rdma_cm finds InfiniBand ports by the IP addresses of their network devices"
		i.Fix = []string{fmt.Sprintf("ip link set %s up", textfile.ShellWord(*p.Netdev))}
	}
	return i
}

// isDown reports whether a port's network device is administratively down: the flag IFF_UP
// is 1 (linux/if.h).
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
