package doctor

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/ibkit/ibkit/devinfo"
)

const (
	noIPv4GID  = "no RoCE v2 GID over IPv4"
	whyIPv4GID = "NCCL, UCX and rdma_cm over IPv4 need one; GIDs of IPv6 link-local addresses do not pass routers"
)

func checkGIDs(_ context.Context, h *host) []Item {
	var items []Item
	for d, p := range h.roce() {
		items = append(items, h.checkPortGIDs(d, p))
	}
	if items == nil {
		return h.noActivePort("RoCE port", isRoCE)
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
		Subject: portName(d, p), Verdict: Warning, Found: noIPv4GID, Why: whyIPv4GID,
	}
	for _, g := range p.GIDs {
		if g.GID.IsGlobalUnicast() && !g.GID.Is4In6() && isVersion2(g) {
			i.Verdict, i.Found = Note, fmt.Sprintf("%s, only over IPv6: index %d, %v", i.Found, g.Index, g.GID)
			i.Why = "programs that use IPv4 addresses do not find a GID"
			break
		}
	}
	if len(p.GIDs) == 0 {
		i.Verdict, i.Found = Error, "no GID"
		i.Why = "RoCE packets are addressed by GID: the port cannot send or receive"
	}
	if p.Netdev == nil {
		i.Hint = "the kernel does not report the network device of this port"
		return i
	}
	netdev := quote(*p.Netdev)
	if have := h.addresses(*p.Netdev); len(have) > 0 {
		i.Found += fmt.Sprintf(", although %s has the address %v", *p.Netdev, have[0].Addr())
		i.Fix = []string{
			fmt.Sprintf("ip address delete %v dev %s", have[0], netdev),
			fmt.Sprintf("ip address add %v dev %s", have[0], netdev),
		}
		return i
	}
	i.Fix = []string{fmt.Sprintf("ip address add ADDRESS/PREFIX dev %s", netdev)}
	i.Hint = "replace ADDRESS/PREFIX by an address of your network, and add it to the network configuration to keep it"
	return i
}

// isRoutable4 reports whether a GID is a RoCE v2 GID over IPv4.
func isRoutable4(g devinfo.GID) bool {
	return g.GID.Is4In6() && isVersion2(g)
}

func isVersion2(g devinfo.GID) bool { return g.Type != nil && *g.Type == "RoCE v2" }

// addresses returns the IPv4 addresses on this host's network device; nil for another
// host's files.
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
