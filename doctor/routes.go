package doctor

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"
)

// A route is one of IPv4 to a subnet, by a network device.
type route struct {
	netdev string
	subnet netip.Prefix
}

// routes reads /proc/net/route, which has the kernel's main table.
func (h *host) routes() ([]route, error) {
	text, err := h.text("proc/net/route")
	if err != nil {
		return nil, err
	}
	return parseRoutes(text), nil
}

// parseRoutes reads lines of /proc/net/route. Addresses and masks are 32 bits of
// network order read as a number of the host's (fib_trie.c, fib_route_seq_show).
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

// A rail is an IPv4 address that RoCE sends from.
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
		return nothing("no port has a GID of RoCE v2 over IPv4")
	}
	routes, err := h.routes()
	if err != nil {
		return []Item{unread("", err)}
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
		items = append(items, good(r.port, "%v from %v by %s", found, r.addr, r.netdev))
		if found.Bits() > 0 {
			users[found] = append(users[found], r)
		}
	}
	for _, r := range rails {
		for subnet, of := range users {
			if of[0] == r { // once a subnet, in the order of ports
				items = append(items, h.sharedSubnet(subnet, of)...)
			}
		}
	}
	return items
}

func (h *host) noRoute(r rail) Item {
	i := Item{
		Subject: r.port, Verdict: Warning, Found: fmt.Sprintf("no route by %s to the network of %v", r.netdev, r.addr),
		Why: "the kernel looks for the way to a peer when a connection is made: it fails, or leaves by another device",
	}
	for _, p := range h.addresses(r.netdev) {
		if p.Addr() == r.addr && p.Bits() < 32 {
			i.Mend = []string{fmt.Sprintf("ip route add %v dev %s src %v", p.Masked(), quote(r.netdev), r.addr)}
		}
	}
	if i.Mend == nil {
		i.Mend = []string{fmt.Sprintf("ip route add SUBNET/PREFIX dev %s src %v", quote(r.netdev), r.addr)}
	}
	i.Advice = "with rules of your own (ip rule) a route of another table may do; this looks at the main one"
	return i
}

// sharedSubnet looks at devices with addresses of one subnet: the kernel answers
// ARP for any address on any device unless it is told not to, and peers then send
// all to one (Documentation/networking/ip-sysctl.rst).
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
		Subject: strings.Join(netdevs, " "), Verdict: OK, Found: fmt.Sprintf("share %v, and each answers ARP for its own address", subnet),
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
			mend, keep := sysctl("net.ipv4.conf.all."+s.name, strconv.Itoa(s.value))
			i.Mend, i.Keep = append(i.Mend, mend...), append(i.Keep, keep...)
		}
	}
	if i.Mend != nil {
		i.Verdict, i.Found = Warning, fmt.Sprintf("share %v, and each answers ARP for the other", subnet)
		i.Why = "peers learn one device's address for both: all traffic goes by one, or is dropped"
		i.Advice = "with rules of your own (ip rule) for each device's source address what is sent goes by the right one too"
	}
	return []Item{i}
}

// sysctlValue reads a number of /proc/sys, 0 where it is not there.
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
