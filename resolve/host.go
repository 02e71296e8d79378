package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/neighbour"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/umad/device"
)

// answerTime is how long the kernel may take to find a neighbour. It asks three
// times, a second apart, unless told otherwise (man 7 arp).
const answerTime = 4 * time.Second

// ipoibAddrLen is the length of IPoIB's link-layer addresses: flags and queue
// pair in 4 bytes, and the port's GID (RFC 4391, 9.1.1).
const ipoibAddrLen = 4 + len(ib.GID{})

func (r *Resolver) lookup(ctx context.Context, ip netip.Addr) (*neighbour.NextHop, error) {
	if r.opts.Simulated {
		return nil, &MisplacedError{"a simulated fabric has no IP addresses", "name a LID, a GUID, a GID or a node"}
	}
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	way, err := r.opts.Lookup(limited, ip)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, neighbour.ErrNoReply) {
		return nil, &MisplacedError{err.Error(), "is the host up, and its address in this network?"}
	}
	return way, err
}

// hostOf is what the kernel says of an address.
func hostOf(ip netip.Addr, way *neighbour.NextHop) *Host {
	return &Host{IP: ip, Netdev: way.Netdev, Local: way.Local, Gateway: way.Gateway, LinkAddr: way.LinkAddr}
}

// findByIP finds the port that has an IP address over InfiniBand; or where
// packets to it leave by a port of RoCE of this host, the host that has it.
func (r *Resolver) findByIP(ctx context.Context, a Address) ([]*Port, error) {
	way, err := r.lookup(ctx, a.IP)
	switch {
	case err != nil:
		return nil, err
	case len(way.LinkAddr) != ipoibAddrLen:
		return one(r.hostBy(a.IP, way))
	case way.Gateway.IsValid():
		return nil, &MisplacedError{fmt.Sprintf("it is behind the router %v, in another subnet", way.Gateway), "name its GID"}
	}
	gid := ib.GID(way.LinkAddr[ipoibAddrLen-len(ib.GID{}):])
	ports, err := r.findGID(ctx, Address{Kind: GID, GID: gid})
	for _, p := range ports {
		p.Host = hostOf(a.IP, way)
		p.Host.Ways = []Way{{GID: gid, Type: "IB", SGIDIndex: -1}}
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
		return one(r.hostByIP(ctx, a.IP))
	case GID:
		ip := netip.AddrFrom16(a.GID)
		if ip.IsLinkLocalUnicast() {
			return one(r.hostByLinkLocal(ip))
		}
		return one(r.hostByIP(ctx, ip.Unmap()))
	case Name:
		return r.hostsByName(ctx, a.Name)
	case Route:
		if a.First == 0 && a.Route == "" {
			return r.self()
		}
	}
	what := "what there is of RoCE on this host"
	if r.local.Device != "" {
		what = fmt.Sprintf("%s port %d", r.local.Device, r.local.Number)
	}
	return nil, &MisplacedError{
		fmt.Sprintf("%s is on Ethernet, where there are no LIDs, GUIDs and routes", what),
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
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if err == nil {
		err = fmt.Errorf("it has no IP address")
	}
	return nil, err
}

// candidates returns the RoCE ports to send from: the local port, or all RoCE
// ports if the local port is not one.
func (r *Resolver) candidates() ([]device.Candidate, error) {
	all, err := device.Candidates(r.opts.Sysfs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the kernel has no module for MADs
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(c device.Candidate) bool {
		if r.local.LinkLayer == Ethernet && r.local.Device != "" && (c.Device.Name != r.local.Device || c.Port.Number != r.local.Number) {
			return true
		}
		return c.Port.LinkLayer != Ethernet
	}), nil
}

// self is the local port of RoCE, or all of them.
func (r *Resolver) self() ([]*Port, error) {
	candidates, err := r.candidates()
	if err != nil {
		return nil, err
	}
	var ports []*Port
	for _, c := range candidates {
		h := &Host{Local: true}
		for _, g := range r.opts.Sysfs.GIDs(c.Device.Name, c.Port.Number) {
			w := Way{GID: g.GID.As16(), From: &c, SGIDIndex: int(g.Index)}
			if g.Type != nil {
				w.Type = *g.Type
			}
			w.OneWay = g.GID.Is4In6() && w.Type == "RoCE v2"
			if g.Netdev != nil && h.Netdev == "" {
				h.Netdev = *g.Netdev
			}
			h.Ways = append(h.Ways, w)
		}
		if link, err := net.InterfaceByName(h.Netdev); err == nil {
			h.LinkAddr = link.HardwareAddr
		}
		ports = append(ports, &Port{Host: h, FoundBy: FromHost})
	}
	return ports, nil
}

// hostByIP finds the host with an IP address.
func (r *Resolver) hostByIP(ctx context.Context, ip netip.Addr) (*Port, error) {
	way, err := r.lookup(ctx, ip)
	if err != nil {
		return nil, err
	}
	return r.hostBy(ip, way)
}

// hostBy is the host at the end of a way over Ethernet. Its GIDs are the address
// and, on the same link, the one by its link-layer address.
func (r *Resolver) hostBy(ip netip.Addr, way *neighbour.NextHop) (*Port, error) {
	h := hostOf(ip, way)
	candidates, err := r.candidates()
	if err != nil {
		return nil, err
	}
	path, err := device.PathFrom(r.opts.Sysfs, candidates, way.Source, ip)
	if errors.Is(err, device.ErrNoRoCE) {
		return nil, &MisplacedError{
			fmt.Sprintf("packets to it leave by %s, where no port of RoCE that may be used has a GID to send from", way.Netdev),
			"ibkit devinfo shows which devices there are and which GIDs they have; -C DEVICE chooses one",
		}
	}
	if err != nil {
		return nil, err
	}
	if local, ok := linkLocal(way.LinkAddr); ok && !way.Gateway.IsValid() && local != ip.WithZone("") {
		byMAC, err := device.PathFrom(r.opts.Sysfs, candidates, netip.Addr{}, local.WithZone(way.Netdev))
		w := wayBy(&byMAC, local)
		if err != nil {
			w = Way{GID: local.As16(), SGIDIndex: -1}
		}
		w.Derived = true
		h.Ways = append(h.Ways, w)
	}
	h.Ways = append(h.Ways, wayBy(&path, ip))
	// The best one is first.
	slices.SortStableFunc(h.Ways, func(a, b Way) int { return cmp.Compare(min(b.SGIDIndex, 0), min(a.SGIDIndex, 0)) })
	return &Port{Host: h, FoundBy: FromNeighbours}, nil
}

// hostByLinkLocal is the host with a GID that means something on one link only.
func (r *Resolver) hostByLinkLocal(ip netip.Addr) (*Port, error) {
	candidates, err := r.candidates()
	if err != nil {
		return nil, err
	}
	path, err := device.PathFrom(r.opts.Sysfs, candidates, netip.Addr{}, ip)
	if err != nil {
		return nil, err
	}
	h := &Host{Netdev: path.Netdev, Ways: []Way{wayBy(&path, ip)}}
	h.Local = slices.ContainsFunc(r.opts.Sysfs.GIDs(path.From.Device.Name, path.From.Port.Number), func(g sysfs.GID) bool { return g.GID == ip })
	if mac, ok := macOf(ip); ok {
		h.LinkAddr = mac
	}
	return &Port{Host: h, FoundBy: FromAddress}, nil
}

func wayBy(path *device.Path, ip netip.Addr) Way {
	return Way{GID: ip.As16(), Type: path.Type, From: &path.From, SGIDIndex: int(path.GRH.SGIDIndex), OneWay: path.Embedded}
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
