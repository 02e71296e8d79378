package lookup

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
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// nextHopTimeout bounds the time for a next hop. The kernel by default sends three
// requests, a second apart (man 7 arp).
const nextHopTimeout = 4 * time.Second

// ipoibAddrLen is the length of an IPoIB link-layer address: flags and queue pair in 4
// bytes, and the port GID (RFC 4391, 9.1.1).
const ipoibAddrLen = 4 + len(ib.GID{})

// nextHop returns the next hop to an IP address.
func (r *Resolver) nextHop(ctx context.Context, ip netip.Addr) (*NextHop, error) {
	if r.opts.Simulated {
		return nil, &MisplacedError{"a simulated fabric has no IP addresses", "name a LID, a GUID, a GID or a node"}
	}
	limited, cancel := context.WithTimeout(ctx, nextHopTimeout)
	defer cancel()
	hop, err := r.opts.NextHop(limited, ip)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, ErrNoReply) {
		return nil, &MisplacedError{err.Error(), "check that the host is up and its address is in this network"}
	}
	return hop, err
}

// hostAt returns the host with an IP address, without paths.
func hostAt(ip netip.Addr, hop *NextHop) *Host {
	return &Host{IP: ip, Netdev: hop.Netdev, Local: hop.Local, Gateway: hop.Gateway, LinkAddr: hop.LinkAddr}
}

// findByIP finds the port with an IP address over InfiniBand. If packets to it leave by
// a RoCE port on this host, it finds the host with the address.
func (r *Resolver) findByIP(ctx context.Context, a Address) ([]*Port, error) {
	hop, err := r.nextHop(ctx, a.IP)
	if err != nil {
		return nil, err
	}
	gid, err := hop.gid()
	if errors.Is(err, errNoIPoIB) {
		return one(r.hostBy(a.IP, hop))
	}
	if err != nil {
		return nil, err
	}
	ports, err := r.findGID(ctx, Address{Kind: GID, GID: gid})
	for _, p := range ports {
		p.Host = hostAt(a.IP, hop)
		p.Host.Paths = []Path{{GID: gid, Type: "IB", SGIDIndex: -1}}
	}
	if err != nil {
		err = fmt.Errorf("GID %v of the neighbour table: %w", gid, err)
	}
	return ports, err
}

// errNoIPoIB reports a next hop over a network other than IPoIB.
var errNoIPoIB = errors.New("not an IPoIB address in this fabric")

// gid returns the port GID in the IPoIB link-layer address.
func (h *NextHop) gid() (ib.GID, error) {
	switch {
	case len(h.LinkAddr) != ipoibAddrLen:
		return ib.GID{}, errNoIPoIB
	case h.Gateway.IsValid():
		return ib.GID{}, &MisplacedError{fmt.Sprintf("in another subnet, behind the router %v", h.Gateway), "name the GID of the port"}
	}
	return ib.GID(h.LinkAddr[ipoibAddrLen-len(ib.GID{}):]), nil
}

// GIDByIP returns the GID of the InfiniBand port with an IPoIB address, from the
// kernel's neighbour table. It uses no request to the fabric.
func GIDByIP(ctx context.Context, ip netip.Addr, o Options) (ib.GID, error) {
	hop, err := New(nil, umad.PortAttr{}, o).nextHop(ctx, ip)
	if err != nil {
		return ib.GID{}, err
	}
	return hop.gid()
}

// findEthernet finds hosts on a RoCE port's network.
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
		if a.First == 0 && a.Route == mad.Local {
			return r.self()
		}
	}
	subject := "the RoCE ports of this host are"
	if r.local.Device != "" {
		subject = fmt.Sprintf("%s/%d is", r.local.Device, r.local.Number)
	}
	return nil, &MisplacedError{
		fmt.Sprintf("%s on Ethernet, which has no LIDs, GUIDs and directed routes", subject),
		"name an IP address, a GID or a host, or select an InfiniBand device: -C DEVICE",
	}
}

func one(p *Port, err error) ([]*Port, error) {
	if err != nil {
		return nil, err
	}
	return []*Port{p}, nil
}

// lookupHost queries the system's name service.
func lookupHost(ctx context.Context, name string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

// hostsByName finds a host by its first address that can be reached.
func (r *Resolver) hostsByName(ctx context.Context, name string) ([]*Port, error) {
	if r.opts.Simulated {
		return nil, &MisplacedError{"a simulated fabric has no host names", "name a GID"}
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
		err = errors.New("host without an IP address")
	}
	return nil, err
}

// roce returns the RoCE ports to send from: the local port, or all RoCE ports if the
// local port is not a RoCE port.
func (r *Resolver) roce() ([]device.LocalPort, error) {
	all, err := device.Host{Sysfs: r.opts.Sysfs}.Ports()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the kernel has no module for MADs
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p device.LocalPort) bool {
		if r.local.LinkLayer == Ethernet && r.local.Device != "" && (p.Attr.Device != r.local.Device || p.Attr.Number != r.local.Number) {
			return true
		}
		return p.Attr.LinkLayer != Ethernet
	}), nil
}

// self returns the local RoCE port, or all RoCE ports on this host.
func (r *Resolver) self() ([]*Port, error) {
	local, err := r.roce()
	if err != nil {
		return nil, err
	}
	var ports []*Port
	for _, l := range local {
		h := &Host{Local: true}
		for _, g := range r.sysfs().GIDs(l.Attr.Device, l.Attr.Number) {
			p := Path{GID: ib.GIDFrom(g.GID), Device: l.Attr.Device, Port: l.Attr.Number, SGIDIndex: int(g.Index)}
			if g.Type != nil {
				p.Type = *g.Type
			}
			p.OneWay = g.GID.Is4In6() && p.Type == "RoCE v2"
			if g.Netdev != nil && h.Netdev == "" {
				h.Netdev = *g.Netdev
			}
			h.Paths = append(h.Paths, p)
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
	hop, err := r.nextHop(ctx, ip)
	if err != nil {
		return nil, err
	}
	return r.hostBy(ip, hop)
}

// hostBy returns the host with an IP address and a next hop over Ethernet. Its GIDs are
// the address and, on the same link, the address derived from its link-layer address.
func (r *Resolver) hostBy(ip netip.Addr, hop *NextHop) (*Port, error) {
	h := hostAt(ip, hop)
	local, err := r.roce()
	if err != nil {
		return nil, err
	}
	path, err := device.PathFrom(local, hop.Source, ip)
	if errors.Is(err, device.ErrNoRoCE) {
		return nil, &MisplacedError{
			fmt.Sprintf("packets leave by %s, on which no selected RoCE port has a GID to send from", hop.Netdev),
			"list devices and their GIDs with ibkit devinfo, and select a device with -C DEVICE",
		}
	}
	if err != nil {
		return nil, err
	}
	if gid, ok := linkLocal(hop.LinkAddr); ok && !hop.Gateway.IsValid() && gid != ip.WithZone("") {
		byMAC, err := device.PathFrom(local, netip.Addr{}, gid.WithZone(hop.Netdev))
		p := pathOf(&byMAC, gid)
		if err != nil {
			p = Path{GID: ib.GIDFrom(gid), SGIDIndex: -1}
		}
		p.Derived = true
		h.Paths = append(h.Paths, p)
	}
	h.Paths = append(h.Paths, pathOf(&path, ip))
	// Paths without a source GID come last.
	slices.SortStableFunc(h.Paths, func(a, b Path) int { return cmp.Compare(min(b.SGIDIndex, 0), min(a.SGIDIndex, 0)) })
	return &Port{Host: h, FoundBy: FromNeighbours}, nil
}

// hostByLinkLocal returns the host with a link-local GID.
func (r *Resolver) hostByLinkLocal(ip netip.Addr) (*Port, error) {
	local, err := r.roce()
	if err != nil {
		return nil, err
	}
	path, err := device.PathFrom(local, netip.Addr{}, ip)
	if err != nil {
		return nil, err
	}
	h := &Host{Netdev: path.Netdev, Paths: []Path{pathOf(&path, ip)}}
	from := path.From.Attr
	h.Local = slices.ContainsFunc(r.sysfs().GIDs(from.Device, from.Number), func(g sysfs.GID) bool { return g.GID == ip })
	if mac, ok := macOf(ip); ok {
		h.LinkAddr = mac
	}
	return &Port{Host: h, FoundBy: FromAddress}, nil
}

func pathOf(p *device.Path, ip netip.Addr) Path {
	from := &p.From.Attr
	return Path{GID: ib.GIDFrom(ip), Type: p.Type, Device: from.Device, Port: from.Number, SGIDIndex: int(p.GRH.SGIDIndex), OneWay: p.Embedded}
}

// linkLocal returns the link-local address that is derived from an Ethernet address.
// Linux uses it as a RoCE port's first GID (RFC 4291, appendix A;
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

// macOf reverses linkLocal.
func macOf(ip netip.Addr) (net.HardwareAddr, bool) {
	b := ip.As16()
	mac := net.HardwareAddr{b[8] ^ 2, b[9], b[10], b[13], b[14], b[15]}
	made, _ := linkLocal(mac)
	return mac, made == ip
}
