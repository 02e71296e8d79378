package doctor

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/ibkit/ibkit/devinfo"
)

func checkGIDs(_ context.Context, h *host) []Item {
	var items []Item
	for d, p := range h.roce() {
		items = append(items, h.checkPortGIDs(d, p))
	}
	if items == nil {
		return nothing("no port runs RoCE")
	}
	return items
}

func (h *host) checkPortGIDs(d *devinfo.Device, p *devinfo.Port) Item {
	for _, g := range p.GIDs {
		if isRoutable4(g) {
			return good(portName(d, p), "index %d: %v, RoCE v2", g.Index, g.GID.Unmap())
		}
	}
	i := Item{
		Subject: portName(d, p), Verdict: Warning, Found: "no GID of RoCE v2 over IPv4",
		Why: "NCCL, UCX and rdma_cm over IPv4 need one; those of IPv6 link-local addresses reach no further than a router",
	}
	for _, g := range p.GIDs {
		if g.GID.IsGlobalUnicast() && !g.GID.Is4In6() && isVersion2(g) {
			i.Verdict, i.Found = Note, fmt.Sprintf("%s, only over IPv6: index %d, %v", i.Found, g.Index, g.GID)
			i.Why = "programs that look for one over IPv4 find none"
			break
		}
	}
	if len(p.GIDs) == 0 {
		i.Verdict, i.Found = Error, "no GID at all"
		i.Why = "packets of RoCE go from GID to GID: none can be sent"
	}
	if p.Netdev == nil {
		i.Advice = "the kernel does not tell which network device it belongs to"
		return i
	}
	netdev := quote(*p.Netdev)
	if have := h.addresses(*p.Netdev); len(have) > 0 {
		i.Found += fmt.Sprintf(", but %s has %v", *p.Netdev, have[0].Addr())
		i.Mend = []string{
			fmt.Sprintf("ip address delete %v dev %s", have[0], netdev),
			fmt.Sprintf("ip address add %v dev %s", have[0], netdev),
		}
		return i
	}
	i.Mend = []string{fmt.Sprintf("ip address add ADDRESS/PREFIX dev %s", netdev)}
	i.Advice = "an address of your network, which the network's configuration is to set at each start"
	return i
}

// isRoutable4 tells whether a GID is one of RoCE v2 over IPv4.
func isRoutable4(g devinfo.GID) bool {
	return g.GID.Is4In6() && isVersion2(g)
}

func isVersion2(g devinfo.GID) bool { return g.Type != nil && *g.Type == "RoCE v2" }

// addresses are those of IPv4 that a network device of this machine has.
func (h *host) addresses(netdev string) []netip.Prefix {
	if !h.live {
		return nil
	}
	i, err := net.InterfaceByName(netdev)
	if err != nil {
		return nil
	}
	all, err := i.Addrs()
	if err != nil {
		return nil
	}
	var found []netip.Prefix
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() {
			found = append(found, p)
		}
	}
	return found
}
