package doctor

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/dcbnl"
)

// checkLossless checks the features that keep RoCE packets from being dropped:
// priority flow control (PFC) and congestion marking (ECN).
func checkLossless(_ context.Context, h *host) []Item {
	var items []Item
	for d, p := range h.roce() {
		if p.Netdev == nil {
			items = append(items, Item{Subject: portName(d, p), Verdict: Skipped, Found: "the kernel does not report the network device"})
			continue
		}
		ecn := h.ecn(*p.Netdev, p)
		for _, netdev := range h.lowerDevices(*p.Netdev) {
			i := h.flowControl(netdev)
			i.Subject = portName(d, p)
			if ecn != "" {
				i.Found += "; " + ecn
			}
			items = append(items, i)
		}
	}
	if items == nil {
		return h.noActivePort("RoCE port", isRoCE)
	}
	return items
}

const whyLossless = "switches drop packets if a buffer is full; RoCE then retransmits all later packets too, and throughput collapses"

func (h *host) flowControl(netdev string) Item {
	if h.bridging == nil {
		return Item{Verdict: Unknown, Found: "flow control of " + netdev + ": " + notLive, Hint: hintOnHost}
	}
	p, err := h.bridging(netdev)
	switch {
	case errors.Is(err, dcbnl.ErrNone):
		return good("", "%s: PFC not supported by the driver (no DCB)", netdev)
	case err != nil:
		return unreadable("", err)
	case p.Enabled == 0:
		return Item{
			Verdict: Note, Found: netdev + ": PFC is off", Why: whyLossless,
			Fix:  []string{fmt.Sprintf("dcb pfc set dev %s prio-pfc 3:on", quote(netdev))},
			Hint: "use the priority of your network (3 is common) on switches and peers too, and map the DSCP of RoCE to it; networks designed for ECN only or for lossy RoCE do not need PFC",
		}
	}
	var on []string
	var sent, received uint64
	for priority := range dcbnl.Priorities {
		if p.Enabled>>priority&1 == 1 {
			on = append(on, strconv.Itoa(priority))
		}
		sent, received = sent+p.Requests[priority], received+p.Indications[priority]
	}
	found := fmt.Sprintf("%s: PFC on priority %s, %d pauses sent, %d received", netdev, strings.Join(on, " "), sent, received)
	if bits.OnesCount8(p.Enabled) > 2 {
		return Item{
			Verdict: Note, Found: found,
			Why:  "each paused priority needs buffers in switches, and pauses delay other traffic together with RoCE",
			Hint: "enable PFC only on the priority of RoCE",
		}
	}
	var mapped []string
	for code := range uint8(64) {
		if priority, has := p.DSCP[code]; has && p.Enabled>>priority&1 == 1 {
			mapped = append(mapped, strconv.Itoa(int(code)))
		}
	}
	if mapped == nil {
		return Item{
			Verdict: Note, Found: found + "; no DSCP is mapped to it",
			Why:  "packets without a VLAN tag get their priority from the DSCP: RoCE packets use a priority without flow control",
			Fix:  []string{fmt.Sprintf("dcb app add dev %s dscp-prio 26:%s", quote(netdev), on[0])},
			Hint: "use the DSCP of your network (26 is common); not needed if RoCE runs over a VLAN with this priority, or if mlnx_qos --trust dscp configured the adapter, which the kernel does not report",
		}
	}
	return good("", "%s; DSCP %s", found, strings.Join(mapped, " "))
}

// ecn describes the ECN state; "" if it is unknown. NVIDIA's out-of-tree drivers report for
// each priority whether the adapter requests that senders slow down (np) and whether it
// slows down itself (rp). Other drivers only have counters.
func (h *host) ecn(netdev string, p *devinfo.Port) string {
	var parts []string
	for _, role := range []struct{ dir, name string }{{"roce_np", "receiver"}, {"roce_rp", "sender"}} {
		dir := "sys/class/net/" + netdev + "/ecn/" + role.dir + "/enable"
		var on []string
		for _, priority := range h.names(dir) {
			if v, err := h.text(dir + "/" + priority); err == nil && v == "1" {
				on = append(on, priority)
			}
		}
		if on != nil {
			parts = append(parts, fmt.Sprintf("ECN as %s on priority %s", role.name, strings.Join(on, " ")))
		}
	}
	for _, c := range []struct{ name, text string }{
		{"np_ecn_marked_roce_packets", "%d packets with an ECN mark"},
		{"np_cnp_sent", "%d congestion notifications sent"},
		{"rp_cnp_handled", "%d congestion notifications received"},
	} {
		if n := p.HWCounts[c.name]; n > 0 {
			parts = append(parts, fmt.Sprintf(c.text, n))
		}
	}
	return strings.Join(parts, ", ")
}

// lowerDevices returns the network devices below a bond or a VLAN. For other devices, it
// returns the device itself.
func (h *host) lowerDevices(netdev string) []string {
	var lowest []string
	for _, name := range h.names("sys/class/net/" + netdev) {
		if lower, is := strings.CutPrefix(name, "lower_"); is {
			lowest = append(lowest, h.lowerDevices(lower)...)
		}
	}
	if lowest == nil {
		return []string{netdev}
	}
	return lowest
}
