package device

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/ibkit/ibkit/internal/srcaddr"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/umad"
)

// HopLimit is the hop limit in global route headers: the same as in most IP packets.
const HopLimit = 64

// ErrNoRoCE is wrapped by the error from [PathTo] if no RoCE port on the host leads to
// the destination.
var ErrNoRoCE = errors.New("no RoCE port of this host leads there")

// A Path is a path over RoCE, which has no LIDs.
type Path struct {
	From   LocalPort
	GRH    umad.GRH
	Type   string // GID type, such as "RoCE v2"; "": unknown
	Netdev string // source network device; "": unknown

	// Embedded reports that the GIDs are IPv4 addresses and the packets RoCE v2 with an
	// IPv4 header. Linux drops responses to such packets; see package ping.
	Embedded bool
}

// PathTo returns the path from any of several ports to a GID or IP address over RoCE, on
// which an IP address is a GID (InfiniBand Architecture, Volume 1, Annex A17). The
// source is the address from which the kernel would send IP packets. Link-local
// addresses are in their zone's network; without a zone, in the network of the only port
// with a link-local address.
func PathTo(ports []LocalPort, to netip.Addr) (Path, error) {
	to = to.Unmap()
	var from netip.Addr
	if isPort(to) && !isOfLink(to) {
		var err error
		if from, err = srcaddr.For(to); err != nil {
			return Path{}, fmt.Errorf("find path to %v: %w: %w", to, ErrNoRoCE, err)
		}
	}
	return PathFrom(ports, from, to)
}

// isPort reports whether an address can be a port address.
func isPort(ip netip.Addr) bool { return ip.IsValid() && !ip.IsUnspecified() && !ip.IsMulticast() }

// isOfLink reports whether an address is valid on a single link only.
func isOfLink(ip netip.Addr) bool { return ip.Is6() && ip.IsLinkLocalUnicast() }

// PathFrom is [PathTo] with a known source, the GID to send from. For a link-local
// destination the source is any link-local GID.
func PathFrom(ports []LocalPort, from, to netip.Addr) (Path, error) {
	to = to.Unmap()
	if !isPort(to) {
		return Path{}, fmt.Errorf("find path to %v: not the address of a port", to)
	}
	if isOfLink(to) {
		from = netip.Addr{}
	}
	path, found, owners := Path{}, 0, 0
	for _, p := range ports {
		if p.Attr.LinkLayer != ethernet || !from.IsValid() && !isOfLink(to) {
			continue
		}
		table := p.host.sysfs().GIDs(p.Attr.Device, p.Attr.Number)
		gid, ok := pickGID(table, from, to.Zone())
		if !ok {
			continue
		}
		found++
		if owns(table, gid) {
			owners++
		} else if owners > 0 {
			continue
		}
		path = Path{
			From: p,
			GRH:  umad.GRH{SGIDIndex: uint8(gid.Index), HopLimit: HopLimit, DGID: to.WithZone("").As16()},
			// RoCE v1 packets have a global route header.
			Embedded: to.Is4() && isV2(gid),
		}
		if gid.Type != nil {
			path.Type = *gid.Type
		}
		if gid.Netdev != nil {
			path.Netdev = *gid.Netdev
		}
	}
	switch {
	case owners > 1, owners == 0 && found > 1:
		return Path{}, fmt.Errorf("find path to %v: %w", to, &AmbiguousError{to})
	case found > 0:
		return path, nil
	case from.IsValid():
		return Path{}, fmt.Errorf("find path to %v: %w: the host sends from %v", to, ErrNoRoCE, from)
	}
	return Path{}, fmt.Errorf("find path to %v: %w", to, ErrNoRoCE)
}

// An AmbiguousError reports that several ports lead to a link-local address.
type AmbiguousError struct{ To netip.Addr }

func (e *AmbiguousError) Error() string { return "several ports lead there" }

// pickGID returns the GID that equals an address, or if the address is invalid any
// link-local GID in a zone. It prefers RoCE v2 to v1.
func pickGID(table []sysfs.GID, address netip.Addr, zone string) (best sysfs.GID, ok bool) {
	for _, g := range table {
		if g.Index > 255 || zone != "" && (g.Netdev == nil || *g.Netdev != zone) {
			continue
		}
		fits := g.GID.Unmap() == address
		if !address.IsValid() {
			fits = g.GID.IsLinkLocalUnicast()
		}
		if fits && (!ok || !isV2(best) && isV2(g)) {
			best, ok = g, true
		}
	}
	return best, ok
}

// owns reports whether a GID is an address of the port's network device, to which the
// table's first entry belongs, and not of a device above it, such as a VLAN, for which
// there may be another RDMA device with the same GIDs.
func owns(table []sysfs.GID, g sysfs.GID) bool {
	first := table[0].Netdev
	return first != nil && g.Netdev != nil && *g.Netdev == *first
}

func isV2(g sysfs.GID) bool { return g.Type != nil && *g.Type == "RoCE v2" }
