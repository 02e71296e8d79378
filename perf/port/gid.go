package port

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/ibkit/ibkit/verbs"
)

// A GID is an address of a port as both sides speak of it.
type GID struct {
	Addr netip.Addr    `json:"gid"`
	Type verbs.GIDType `json:"type"`
}

// Table returns the port's GIDs.
func (p *Port) Table() []GID {
	var all []GID
	for _, e := range p.GIDs {
		all = append(all, GID{e.GID, e.Type})
	}
	return all
}

// A Choice is a port, a GID of it, and one of the other side's that it reaches.
type Choice struct {
	Port   *Port
	Index  uint8 // in the port's GID table
	Local  GID
	Remote GID
	Why    string // in words, after "GID 3 was chosen"
}

// A Router tells from which address of this host packets to another address go;
// not valid: there is no way.
type Router func(to netip.Addr) netip.Addr

// once asks about each address once. Hosts of many containers have hundreds of
// GIDs, and each of one side's may go with each of the other's.
func (r Router) once() Router {
	known := map[netip.Addr]netip.Addr{}
	return func(to netip.Addr) netip.Addr {
		from, ok := known[to]
		if !ok {
			from = r(to)
			known[to] = from
		}
		return from
	}
}

// Routes asks the kernel. Nothing is sent.
func Routes(to netip.Addr) netip.Addr {
	const roce = 4791 // the UDP port of RoCE v2
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to.Unmap(), roce)))
	if err != nil {
		return netip.Addr{}
	}
	defer c.Close()
	from, ok := netip.AddrFromSlice(c.LocalAddr().(*net.UDPAddr).IP)
	if !ok {
		return netip.Addr{}
	}
	return from.Unmap()
}

// ErrNoGID means that no GID of this side reaches one of the other side's.
var ErrNoGID = errors.New("no GID of this side reaches one of the other side's")

// Choose returns the best pair of a GID of this side's and one of the other side's:
// RoCE v2 before v1, addresses that the kernel has a route between before others,
// IPv4 before IPv6. Index picks this side's GID where it is not negative.
func Choose(ports []*Port, remote []GID, index int, route Router) (Choice, error) {
	var best Choice
	score := -1
	route = route.once()
	for _, p := range ports {
		if !p.Ethernet() {
			continue
		}
		for _, e := range p.GIDs {
			if index >= 0 && int(e.Index) != index || e.Index > 255 {
				continue
			}
			for _, r := range remote {
				if s, why := rate(GID{e.GID, e.Type}, r, route); s > score {
					score = s
					best = Choice{Port: p, Index: uint8(e.Index), Local: GID{e.GID, e.Type}, Remote: r, Why: why}
				}
			}
		}
	}
	if score < 0 {
		return Choice{}, noGID(ports, index)
	}
	if index >= 0 {
		best.Why = "it was asked for"
	}
	return best, nil
}

func noGID(ports []*Port, index int) error {
	var names []string
	for _, p := range ports {
		names = append(names, p.Device)
	}
	if index >= 0 {
		return fmt.Errorf("choose GID %d of %v: %w", index, names, ErrNoGID)
	}
	return fmt.Errorf("choose a GID of %v: %w", names, ErrNoGID)
}

// rate tells how good a pair of GIDs is, -1 if it is none.
func rate(local, remote GID, route Router) (int, string) {
	four := local.Addr.Is4In6()
	if local.Type != remote.Type || four != remote.Addr.Is4In6() ||
		local.Addr.IsLinkLocalUnicast() != remote.Addr.IsLinkLocalUnicast() {
		return -1, ""
	}
	score, why := 0, "the other side has one of this kind"
	if local.Type == verbs.GIDTypeRoCEv2 {
		score += 8
		if !local.Addr.IsLinkLocalUnicast() && route(remote.Addr) == local.Addr.Unmap() {
			score += 4
			why = fmt.Sprintf("the route to %v begins there", remote.Addr.Unmap())
		}
	}
	switch {
	case four:
		score += 2
	case !local.Addr.IsLinkLocalUnicast():
		score++
	}
	return score, why
}

// ChooseFor returns a GID for a peer whose GIDs are not known yet, by its address
// on the network.
func ChooseFor(ports []*Port, peer netip.Addr, index int, route Router) (Choice, error) {
	peer = peer.WithZone("")
	var remote []GID
	for _, p := range ports {
		for _, g := range p.Table() {
			guess := GID{g.Addr, g.Type} // of the same kind
			if same := netip.AddrFrom16(peer.As16()); same.Is4In6() == g.Addr.Is4In6() && same.IsLinkLocalUnicast() == g.Addr.IsLinkLocalUnicast() {
				guess.Addr = same
			}
			if !slices.Contains(remote, guess) {
				remote = append(remote, guess)
			}
		}
	}
	return Choose(ports, remote, index, route)
}

// InfiniBand returns the first port whose link is InfiniBand, nil if there is none.
func InfiniBand(ports []*Port) *Port {
	for _, p := range ports {
		if !p.Ethernet() {
			return p
		}
	}
	return nil
}
