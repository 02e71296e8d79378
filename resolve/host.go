package resolve

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/ibkit/ibkit/internal/neighbour"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/mad"
)

// answerTime is how long the kernel may take to find a neighbour. It asks three
// times, a second apart, unless told otherwise (man 7 arp).
const answerTime = 4 * time.Second

// ipoibAddrLen is the length of IPoIB's link-layer addresses: flags and queue
// pair in 4 bytes, and the port's GID (RFC 4391, 9.1.1).
const ipoibAddrLen = 4 + len(mad.GID{})

func (r *Resolver) lookup(ctx context.Context, ip netip.Addr) (*neighbour.Way, error) {
	if r.opts.Simulated {
		return nil, &MisplacedError{"a simulated fabric has no IP addresses", "name a LID, a GUID, a GID or a node"}
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return r.opts.Lookup(ctx, ip)
}

// hostOf is what the kernel says of an address.
func hostOf(ip netip.Addr, way *neighbour.Way) *Host {
	return &Host{IP: ip, Netdev: way.Netdev, Local: way.Local, Gateway: way.Gateway, LinkAddr: way.LinkAddr}
}

// findIPoIB finds the port that has an IP address over InfiniBand.
func (r *Resolver) findIPoIB(ctx context.Context, a Address) ([]*Port, error) {
	way, err := r.lookup(ctx, a.IP)
	switch {
	case err != nil:
		return nil, err
	case len(way.LinkAddr) != ipoibAddrLen:
		return nil, &MisplacedError{
			fmt.Sprintf("packets to it go by %s, which is no IP over InfiniBand", way.Netdev),
			"choose the device of RoCE to use: -C DEVICE",
		}
	case way.Gateway.IsValid():
		return nil, &MisplacedError{fmt.Sprintf("it is behind the router %v, in another subnet", way.Gateway), "name its GID"}
	}
	gid := mad.GID(way.LinkAddr[ipoibAddrLen-len(mad.GID{}):])
	ports, err := r.findGID(ctx, Address{Kind: GID, GID: gid})
	for _, p := range ports {
		p.Host = hostOf(a.IP, way)
		p.Host.Ways = []Way{{GID: gid, Type: "IB", SGIDIndex: -1}}
		p.PortGUID = gid.GUID()
	}
	if err != nil {
		err = fmt.Errorf("the neighbour table has GID %v: %w", gid, err)
	}
	return ports, err
}

// findEthernet finds hosts on the network of a port of RoCE.
func (r *Resolver) findEthernet(ctx context.Context, a Address) ([]*Port, error) {
	switch a.Kind {
	case IP:
		p, err := r.hostByIP(ctx, a.IP)
		return one(p, err)
	case GID:
		ip := netip.AddrFrom16(a.GID)
		if ip.IsLinkLocalUnicast() {
			return one(r.hostByLinkLocal(ip), nil)
		}
		p, err := r.hostByIP(ctx, ip.Unmap())
		return one(p, err)
	case Name:
		return r.hostsByName(ctx, a.Name)
	case Route:
		if a.First == 0 && a.Route == "" {
			return one(r.self(), nil)
		}
	}
	return nil, &MisplacedError{
		fmt.Sprintf("%s is a port of RoCE, whose network has no LIDs, GUIDs and routes", r.local.Device),
		"name an IP address, a GID or a host, or choose a device of InfiniBand: -C DEVICE",
	}
}

func one(p *Port, err error) ([]*Port, error) {
	if err != nil {
		return nil, err
	}
	return []*Port{p}, nil
}

// lookupHost asks the resolver of names.
func lookupHost(ctx context.Context, name string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

// hostsByName finds a host by the first of its addresses that is on a network.
func (r *Resolver) hostsByName(ctx context.Context, name string) ([]*Port, error) {
	if r.opts.Simulated {
		return nil, &MisplacedError{"a simulated fabric has no names of hosts", "name a GID"}
	}
	addresses, err := r.opts.LookupHost(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, ip := range addresses {
		var p *Port
		if p, err = r.hostByIP(ctx, ip.Unmap()); err == nil {
			return []*Port{p}, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("it has no IP address")
	}
	return nil, err
}

// self is the local port of RoCE.
func (r *Resolver) self() *Port {
	h := &Host{Local: true}
	for _, g := range r.opts.Sysfs.GIDs(r.local.Device, r.local.Number) {
		w := Way{GID: g.GID.As16(), SGIDIndex: int(g.Index), OneWay: g.GID.Is4In6()}
		if g.Type != nil {
			w.Type = *g.Type
		}
		if g.Netdev != nil && h.Netdev == "" {
			h.Netdev = *g.Netdev
		}
		h.Ways = append(h.Ways, w)
	}
	if link, err := net.InterfaceByName(h.Netdev); err == nil {
		h.LinkAddr = link.HardwareAddr
	}
	return &Port{Host: h, FoundBy: FromHost}
}

// hostByIP finds the host with an IP address. Its GIDs are the address and, on the
// same link, the one by its link-layer address.
func (r *Resolver) hostByIP(ctx context.Context, ip netip.Addr) (*Port, error) {
	way, err := r.lookup(ctx, ip)
	if err != nil {
		return nil, err
	}
	h := hostOf(ip, way)
	gids := r.gidsOn(way.Netdev)
	if len(gids) == 0 {
		return nil, &MisplacedError{
			fmt.Sprintf("packets to it go by %s, and no GID of %s port %d is on that", way.Netdev, r.local.Device, r.local.Number),
			"choose the device that is on it: -C DEVICE; ibkit devinfo shows which",
		}
	}
	if local, ok := linkLocal(way.LinkAddr); ok && !way.Gateway.IsValid() && local.As16() != ip.As16() {
		h.add(gids, local, netip.Addr{}, true)
	}
	h.add(gids, ip.WithZone(""), way.Source, false)
	return &Port{Host: h, FoundBy: FromNeighbours}, nil
}

// hostByLinkLocal is the host with a GID that holds on the link only.
func (r *Resolver) hostByLinkLocal(ip netip.Addr) *Port {
	h := &Host{}
	gids := r.gidsOn("")
	h.add(gids, ip, netip.Addr{}, false)
	for i := range gids {
		if g := &gids[i]; int(g.Index) == h.Ways[0].SGIDIndex && g.Netdev != nil {
			h.Netdev = *g.Netdev
		}
		if gids[i].GID == ip {
			h.Local = true
		}
	}
	if mac, ok := macOf(ip); ok {
		h.LinkAddr = mac
	}
	return &Port{Host: h, FoundBy: FromAddress}
}

// gidsOn returns the entries of the local port's GID table that are on a network
// device; "": all.
func (r *Resolver) gidsOn(netdev string) []sysfs.GID {
	return slices.DeleteFunc(r.opts.Sysfs.GIDs(r.local.Device, r.local.Number), func(g sysfs.GID) bool {
		return netdev != "" && (g.Netdev == nil || *g.Netdev != netdev)
	})
}

// add adds the way to a GID, from the entry of the local table that fits: of the
// same kind of address, the source that the kernel would take, and RoCE v2 where
// there is a choice.
func (h *Host) add(gids []sysfs.GID, ip, source netip.Addr, derived bool) {
	w := Way{GID: ip.As16(), SGIDIndex: -1, Derived: derived, OneWay: ip.Is4() || ip.Is4In6()}
	best := -1
	for _, g := range gids {
		if g.Index > 0xff || g.GID.Is4In6() != w.OneWay || g.GID.IsLinkLocalUnicast() != ip.IsLinkLocalUnicast() {
			continue
		}
		score := 0
		if source.IsValid() && g.GID.Unmap() == source {
			score += 2
		}
		if g.Type != nil && *g.Type == "RoCE v2" {
			score++
		}
		if score > best {
			best = score
			w.SGIDIndex = int(g.Index)
			w.Type = ""
			if g.Type != nil {
				w.Type = *g.Type
			}
		}
	}
	h.Ways = append(h.Ways, w)
}

// linkLocal returns the address that a link-layer address of Ethernet stands for:
// Linux gives it to ports of RoCE as their first GID (RFC 4291, appendix A;
// drivers/infiniband/core/cache.c, make_default_gid).
func linkLocal(mac []byte) (netip.Addr, bool) {
	if len(mac) != 6 {
		return netip.Addr{}, false
	}
	return netip.AddrFrom16([16]byte{
		0: 0xfe, 1: 0x80,
		8: mac[0] ^ 2, 9: mac[1], 10: mac[2], 11: 0xff, 12: 0xfe, 13: mac[3], 14: mac[4], 15: mac[5],
	}), true
}

// macOf is the reverse of linkLocal.
func macOf(ip netip.Addr) (net.HardwareAddr, bool) {
	b := ip.As16()
	mac := net.HardwareAddr{b[8] ^ 2, b[9], b[10], b[13], b[14], b[15]}
	made, _ := linkLocal(mac)
	return mac, made == ip
}
