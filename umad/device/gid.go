package device

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/umad"
)

// HopLimit lets packets cross as many routers as IP packets commonly do.
const HopLimit = 64

// ErrNoRoCE is wrapped by the error of [PathTo] where no port of this host is
// the one to send from.
var ErrNoRoCE = errors.New("no RoCE port of this host leads there")

// A Path is a way over RoCE, which has no LIDs.
type Path struct {
	From   Candidate
	GRH    umad.GRH
	Type   string // of the GIDs, such as "RoCE v2"; "": not known
	Netdev string // that packets leave by; "": not known

	// Embedded says that the GIDs are IPv4 addresses and packets RoCE v2, whose
	// header then is one of IPv4. Linux hands no response to such a packet over;
	// see package ping.
	Embedded bool
}

// PathTo returns how to reach the GID or IP address of a port over RoCE: from
// which GID of which of the candidates. An IP address is a GID there (InfiniBand
// Architecture, Volume 1, Annex A17). What packets are sent from is what the
// kernel would send IP packets from; link-local addresses are in the network of
// their zone, or where they have none in that of the only candidate which has
// such ones.
func PathTo(fs sysfs.FS, candidates []Candidate, to netip.Addr) (Path, error) {
	to = to.Unmap()
	var from netip.Addr
	if isPort(to) && !isOfLink(to) {
		var err error
		if from, err = sourceOf(to); err != nil {
			return Path{}, fmt.Errorf("find path to %v: %w: %w", to, ErrNoRoCE, err)
		}
	}
	return PathFrom(fs, candidates, from, to)
}

// isPort reports whether an address can be that of a port.
func isPort(ip netip.Addr) bool { return ip.IsValid() && !ip.IsUnspecified() && !ip.IsMulticast() }

// isOfLink reports whether an address means something on one link only.
func isOfLink(ip netip.Addr) bool { return ip.Is6() && ip.IsLinkLocalUnicast() }

// PathFrom is [PathTo] where the source is known: the address that is the GID to
// send from. To a link-local address packets are sent from any such one.
func PathFrom(fs sysfs.FS, candidates []Candidate, from, to netip.Addr) (Path, error) {
	to = to.Unmap()
	if !isPort(to) {
		return Path{}, fmt.Errorf("find path to %v: not the address of a port", to)
	}
	if isOfLink(to) {
		from = netip.Addr{}
	}
	path, found := Path{}, 0
	for _, c := range candidates {
		if c.Port.LinkLayer != "Ethernet" || !from.IsValid() && !isOfLink(to) {
			continue
		}
		gid, ok := pickGID(fs.GIDs(c.Device.Name, c.Port.Number), from, to.Zone())
		if !ok {
			continue
		}
		if found++; found > 1 {
			break
		}
		path = Path{
			From: c,
			GRH:  umad.GRH{SGIDIndex: uint8(gid.Index), HopLimit: HopLimit, DGID: to.WithZone("").As16()},
			// RoCE v1 has a global route header of its own.
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
	case found > 1:
		return Path{}, fmt.Errorf("find path to %v: several ports lead there; name one by -C and -P, or its network as in %v%%eth0", to, to)
	case found == 1:
		return path, nil
	case from.IsValid():
		return Path{}, fmt.Errorf("find path to %v: %w: the host sends from %v", to, ErrNoRoCE, from)
	}
	return Path{}, fmt.Errorf("find path to %v: %w", to, ErrNoRoCE)
}

// pickGID picks the GID that is an address, or any link-local one in a zone where
// the address is not valid. RoCE v2 goes before v1.
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

func isV2(g sysfs.GID) bool { return g.Type != nil && *g.Type == "RoCE v2" }

// discard is a port that nothing needs to listen at (RFC 863).
const discard = 9

// sourceOf returns the address that the kernel would send to an address from. To
// connect a UDP socket sends nothing.
func sourceOf(to netip.Addr) (netip.Addr, error) {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, discard)))
	if err != nil {
		return netip.Addr{}, err
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}
