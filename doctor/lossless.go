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

// checkLossless looks at what keeps RoCE's packets from being dropped: pauses by
// priority (PFC), and slowing down where switches mark packets (ECN).
func checkLossless(_ context.Context, h *host) []Item {
	var items []Item
	for d, p := range h.roce() {
		if p.Netdev == nil {
			continue
		}
		ecn := h.ecn(*p.Netdev, p)
		for _, netdev := range h.below(*p.Netdev) {
			i := h.flowControl(netdev)
			i.Subject = portName(d, p)
			if ecn != "" {
				i.Found += "; " + ecn
			}
			items = append(items, i)
		}
	}
	if items == nil {
		return nothing("no port runs RoCE")
	}
	return items
}

const whyLossless = "where a buffer on the way is full, packets are dropped, and RoCE sends all behind them again: throughput falls to a fraction"

func (h *host) flowControl(netdev string) Item {
	if h.bridging == nil {
		return Item{Verdict: Unknown, Found: "files do not tell the flow control of " + netdev, Advice: onHost}
	}
	p, err := h.bridging(netdev)
	switch {
	case errors.Is(err, dcbnl.ErrNone):
		return good("", "the driver of %s pauses no priorities (no DCB)", netdev)
	case err != nil:
		return unread("", err)
	case p.Enabled == 0:
		return Item{
			Verdict: Note, Found: fmt.Sprintf("%s pauses no priority (PFC is off)", netdev), Why: whyLossless,
			Mend:   []string{fmt.Sprintf("dcb pfc set dev %s prio-pfc 3:on", quote(netdev))},
			Advice: "priority 3 is only what is usual: switches and peers need the same, and traffic needs its DSCP. A network that is made for ECN alone, or for loss, does without",
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
	found := fmt.Sprintf("%s pauses priority %s, %d pauses sent, %d received", netdev, strings.Join(on, " "), sent, received)
	if bits.OnesCount8(p.Enabled) > 2 {
		return Item{
			Verdict: Note, Found: found,
			Why:    "each paused priority takes room in the buffers of switches, and other traffic is held up with RoCE's",
			Advice: "pause RoCE's priority only",
		}
	}
	var marked []string
	for code := range uint8(64) {
		if priority, has := p.DSCP[code]; has && p.Enabled>>priority&1 == 1 {
			marked = append(marked, strconv.Itoa(int(code)))
		}
	}
	if marked == nil {
		return Item{
			Verdict: Note, Found: found + "; no DSCP has that priority",
			Why:    "packets without a VLAN tag have a priority by their DSCP or none: RoCE's are not those that are paused",
			Mend:   []string{fmt.Sprintf("dcb app add dev %s dscp-prio 26:%s", quote(netdev), on[0])},
			Advice: "unless RoCE runs over a VLAN that has the priority in its tags. DSCP 26 is only what is usual, and NVIDIA's mlnx_qos --trust dscp may have done it without the kernel's knowledge",
		}
	}
	return good("", "%s; DSCP %s", found, strings.Join(marked, " "))
}

// ecn tells what is known of ECN: NVIDIA's own drivers show for each priority
// whether a device asks senders to slow down (np) and slows down itself (rp);
// others count.
func (h *host) ecn(netdev string, p *devinfo.Port) string {
	var parts []string
	for _, role := range []struct{ dir, name string }{{"roce_np", "receiving"}, {"roce_rp", "sending"}} {
		dir := "sys/class/net/" + netdev + "/ecn/" + role.dir + "/enable"
		var on []string
		for _, priority := range h.names(dir) {
			if v, err := h.text(dir + "/" + priority); err == nil && v == "1" {
				on = append(on, priority)
			}
		}
		if on != nil {
			parts = append(parts, fmt.Sprintf("ECN when %s on priority %s", role.name, strings.Join(on, " ")))
		}
	}
	for _, c := range []struct{ name, text string }{
		{"np_ecn_marked_roce_packets", "%d packets marked by ECN"},
		{"np_cnp_sent", "%d senders told to slow down"},
		{"rp_cnp_handled", "slowed down %d times"},
	} {
		if n := p.HWCounts[c.name]; n > 0 {
			parts = append(parts, fmt.Sprintf(c.text, n))
		}
	}
	return strings.Join(parts, ", ")
}

// below returns the network devices below a bond or a VLAN, or the device itself.
func (h *host) below(netdev string) []string {
	var lowest []string
	for _, name := range h.names("sys/class/net/" + netdev) {
		if lower, is := strings.CutPrefix(name, "lower_"); is {
			lowest = append(lowest, h.below(lower)...)
		}
	}
	if lowest == nil {
		return []string{netdev}
	}
	return lowest
}
