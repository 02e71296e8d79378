package doctor

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

const noIPv4GID = "no RoCE v2 GID over IPv4"

// whyIPv4GID has the effects of missing GIDs, by the severity that devinfo gives them.
var whyIPv4GID = map[report.Severity]string{
	report.Error:   "RoCE packets are addressed by GID: the port cannot send or receive",
	report.Warning: "NCCL, UCX and rdma_cm over IPv4 need one; GIDs of IPv6 link-local addresses do not pass routers",
	report.Info:    "programs that use IPv4 addresses do not find a GID",
}

func checkGIDs(_ context.Context, h *host) []Item {
	var items []Item
	for d, p := range h.active(roce.Judged) {
		items = append(items, h.checkPortGIDs(d, p))
	}
	if items == nil {
		return h.noActivePort("RoCE port", roce.Judged)
	}
	return items
}

func (h *host) checkPortGIDs(d *devinfo.Device, p *devinfo.Port) Item {
	if d.IsEFA() && p.GID0 != nil {
		return good(portName(d, p), "index 0: %v, the only GID: no rdma_cm, no IP address", *p.GID0)
	}
	f := h.finding(report.NoIPv4GID, portName(d, p))
	if f == nil {
		g, _ := p.RoutableGID()
		return good(portName(d, p), "index %d: %v, RoCE v2", g.Index, g.GID.Unmap())
	}
	i := Item{Subject: f.Subject, Verdict: verdictOf(f.Severity), Found: f.Detail, Why: whyIPv4GID[f.Severity]}
	if p.Netdev == nil {
		i.Hint = "the kernel does not report the network device of this port"
		return i
	}
	netdev := textfile.ShellWord(*p.Netdev)
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
func isRoutable4(g devinfo.GID) bool { return g.GID.Is4In6() && g.IsRoCEv2() }

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
