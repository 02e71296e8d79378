package doctor

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// A route is an IPv4 route to a subnet through a network device.
type route struct {
	netdev string
	subnet netip.Prefix
}

// routes reads /proc/net/route, which contains the main routing table.
func (h *host) routes() ([]route, error) {
	text, err := h.text("proc/net/route")
	if err != nil {
		return nil, err
	}
	return parseRoutes(text), nil
}

// parseRoutes parses /proc/net/route. Addresses and masks are printed as the host order
// number for their bytes in network order (fib_trie.c, fib_route_seq_show).
func parseRoutes(text string) []route {
	var all []route
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 8 || fields[0] == "Iface" {
			continue
		}
		to, err1 := strconv.ParseUint(fields[1], 16, 32)
		mask, err2 := strconv.ParseUint(fields[7], 16, 32)
		if err1 != nil || err2 != nil {
			continue
		}
		var raw [4]byte
		binary.NativeEndian.PutUint32(raw[:], uint32(to))
		all = append(all, route{fields[0], netip.PrefixFrom(netip.AddrFrom4(raw), bits.OnesCount32(uint32(mask)))})
	}
	return all
}

// A rail is an IPv4 address that a RoCE port uses as its source address.
type rail struct {
	port, netdev string
	addr         netip.Addr
}

func (h *host) rails() []rail {
	var rails []rail
	for d, p := range h.roce() {
		for _, g := range p.GIDs {
			netdev := p.Netdev
			if g.Netdev != nil {
				netdev = g.Netdev
			}
			if isRoutable4(g) && netdev != nil {
				rails = append(rails, rail{portName(d, p), *netdev, g.GID.Unmap()})
			}
		}
	}
	return rails
}

func checkRoutes(_ context.Context, h *host) []Item {
	rails := h.rails()
	if rails == nil {
		return h.noRails()
	}
	routes, err := h.routes()
	if err != nil {
		return []Item{unreadable("", err)}
	}
	var items []Item
	users := map[netip.Prefix][]rail{}
	for _, r := range rails {
		found := netip.Prefix{}
		for _, to := range routes {
			if to.netdev == r.netdev && to.subnet.Contains(r.addr) && to.subnet.Bits() >= found.Bits() {
				found = to.subnet
			}
		}
		if !found.IsValid() {
			items = append(items, h.noRoute(r))
			continue
		}
		items = append(items, good(r.port, "%v through %s, source %v", found, r.netdev, r.addr))
		if found.Bits() > 0 {
			users[found] = append(users[found], r)
		}
	}
	for _, r := range rails {
		for subnet, of := range users {
			if of[0] == r { // once per subnet, in port order
				items = append(items, h.sharedSubnet(subnet, of)...)
			}
		}
	}
	return items
}

// noRails returns the checkRoutes result on a host without rails, with the verdict on the
// port with the fewest GIDs.
func (h *host) noRails() []Item {
	var worst report.Severity
	for d, p := range h.roce() {
		severity := report.Warning // an IPv4 GID without a network device
		if f := h.finding(report.NoIPv4GID, portName(d, p)); f != nil {
			severity = f.Severity
		}
		if all := report.Severities(); worst == "" || slices.Index(all, severity) < slices.Index(all, worst) {
			worst = severity
		}
	}
	if worst == "" {
		return h.noActivePort("RoCE port", roce.IsRoCE)
	}
	return []Item{h.prerequisite("gids", Item{
		Verdict: verdictOf(worst), Found: noIPv4GID, Why: whyIPv4GID[worst], Hint: "to find a fix, run: ibkit doctor --only gids",
	})}
}

func (h *host) noRoute(r rail) Item {
	i := Item{
		Subject: r.port, Verdict: Warning, Found: fmt.Sprintf("no route through %s to the subnet of %v", r.netdev, r.addr),
		Why: "the kernel needs a route to set up a connection: connections fail or use another device",
	}
	for _, p := range h.addresses(r.netdev) {
		if p.Addr() == r.addr && p.Bits() < 32 {
			i.Fix = []string{fmt.Sprintf("ip route add %v dev %s src %v", p.Masked(), textfile.ShellWord(r.netdev), r.addr)}
		}
	}
	if i.Fix == nil {
		i.Fix = []string{fmt.Sprintf("ip route add SUBNET/PREFIX dev %s src %v", textfile.ShellWord(r.netdev), r.addr)}
	}
	i.Hint = "only the main routing table was checked; with policy routing (ip rule), another table may contain the route"
	return i
}

// sharedSubnet checks network devices with addresses in the same subnet. By default, the
// kernel answers ARP requests for all its addresses on any device, and peers may then send
// all traffic to one device (Documentation/networking/ip-sysctl.rst).
func (h *host) sharedSubnet(subnet netip.Prefix, rails []rail) []Item {
	var netdevs []string
	for _, r := range rails {
		if !strings.Contains(" "+strings.Join(netdevs, " ")+" ", " "+r.netdev+" ") {
			netdevs = append(netdevs, r.netdev)
		}
	}
	if len(netdevs) < 2 {
		return nil
	}
	i := Item{
		Subject: strings.Join(netdevs, " "), Verdict: OK, Found: fmt.Sprintf("in one subnet (%v), each answers ARP for its own address only", subnet),
	}
	for _, s := range []struct {
		name  string
		value int
	}{{"arp_ignore", 1}, {"arp_announce", 2}} {
		low := false
		for _, netdev := range netdevs {
			low = low || max(h.sysctlValue("net/ipv4/conf/all/"+s.name), h.sysctlValue("net/ipv4/conf/"+netdev+"/"+s.name)) < s.value
		}
		if low {
			fix, persist := sysctl("net.ipv4.conf.all."+s.name, strconv.Itoa(s.value))
			i.Fix, i.Persist = append(i.Fix, fix...), append(i.Persist, persist...)
		}
	}
	if i.Fix != nil {
		i.Verdict, i.Found = Warning, fmt.Sprintf("in one subnet (%v), each answers ARP for the others' addresses", subnet)
		i.Why = "peers may learn one device's MAC address for all: traffic uses one device or is dropped"
		i.Hint = "policy routing by source address (ip rule) also sends outgoing traffic through the right device"
	}
	return []Item{i}
}

// sysctlValue reads a numeric kernel parameter; 0 if it cannot be read.
func (h *host) sysctlValue(name string) int {
	text, err := h.text("proc/sys/" + name)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
