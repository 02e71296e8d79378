package port

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/srcaddr"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/memory"
	"github.com/ibkit/ibkit/verbs"
)

// A GID is a port GID with its type.
type GID struct {
	Addr netip.Addr    `json:"gid"`
	Type verbs.GIDType `json:"type"`
}

// GIDsOf returns the GIDs that the peer may choose from: the GIDs with an index, or all if
// it is negative. An InfiniBand port has GIDs only if its packets need a GRH.
func GIDsOf(ports []*Port, index int) []GID {
	var all []GID
	for _, p := range ports {
		if p.Ethernet() || p.NeedsGID(index) {
			all = p.AppendGIDs(all, index)
		}
	}
	return all
}

// AppendGIDs appends a port's GID with an index, or all GIDs if it is negative.
func (p *Port) AppendGIDs(all []GID, index int) []GID {
	for _, e := range p.GIDs {
		if index < 0 || int(e.Index) == index {
			all = append(all, GID{e.GID, e.Type})
		}
	}
	return all
}

// A Remote has the peer's GIDs.
type Remote struct {
	GIDs []GID // from [GIDsOf]

	InfiniBand []GID // from the port that Selector.InfiniBand selects, if this side needs a GID
}

// CheckIndex returns an error that wraps [ErrGIDIndex] if no port has a GID with an index.
// A negative index means any GID.
func CheckIndex(ports []*Port, index int) error {
	if index < 0 || len(GIDsOf(ports, index)) > 0 {
		return nil
	}
	return fmt.Errorf("use GID %d: %w", index, ErrGIDIndex)
}

// ErrGIDIndex is wrapped for a GID index that no active port has.
var ErrGIDIndex = errors.New("no active port has a GID of this index")

// NeedsGID reports whether the packets of a port without Ethernet need GIDs: if the user
// selected a GID by its index, if the port requires it, as a virtual function's port may
// do, or if it is no InfiniBand port either, as with AWS's adapters (efa_port_link_layer in
// the kernel's efa_verbs.c).
func (p *Port) NeedsGID(index int) bool {
	return index >= 0 || p.Attr.GRHRequired || p.Attr.LinkLayer == ib.LinkLayerUnspecified
}

// A Choice is a local port, a GID from it, and the peer's GID to use with it. The GIDs
// are zero for an InfiniBand port that needs LIDs only.
type Choice struct {
	Port   *Port
	Index  uint8 // in the port's GID table
	Local  GID
	Remote GID
	Why    string // reason for the local GID, to be printed in parentheses
}

// Info describes the port, the local GID and the memory of messages.
func (c Choice) Info(m memory.Source) host.PortInfo {
	p := c.Port
	i := host.PortInfo{
		Device: p.Device, Driver: p.Context.Driver().String(), Port: p.Number, Link: p.Attr.LinkLayer.String(), LID: p.Attr.LID,
		GIDIndex: -1, MTU: p.Attr.ActiveMTU.Bytes(), Memory: m.String(),
	}
	if c.Local.Addr.IsValid() {
		i.GID, i.GIDType, i.GIDIndex, i.Why = c.Local.Addr, c.Local.Type.String(), int(c.Index), c.Why
	}
	return i
}

// A Selector chooses a test's port and GIDs.
type Selector struct {
	// Local and Remote are the control connection's two addresses. Their ports and GIDs
	// take precedence: the user named either address.
	Local, Remote netip.Addr

	// Index is the local GID index, negative if any may be used.
	Index int

	// IPv6 excludes GIDs with IPv4 addresses.
	IPv6 bool

	// Source returns the source address for packets to an address (default: the
	// kernel's), invalid if there is no route.
	Source func(to netip.Addr) netip.Addr

	// Interfaces returns this host's network devices (default: the kernel's).
	Interfaces func() ([]Interface, error)
}

// An Interface is a network device, for IPoIB.
type Interface struct {
	Hardware []byte // link-layer address
	Addrs    []netip.Addr
}

// ErrNoGID is wrapped if no local GID reaches a peer's GID.
var ErrNoGID = errors.New("no GID reaches the peer")

// Choose selects among the peer's GIDs. It prefers, in this order: the control
// connection's addresses, RoCE v2 to v1, addresses with a route between them, IPv4 to
// IPv6, GIDs from the device's own network device. It selects an InfiniBand port if the
// control connection uses IPoIB on it, or if Remote.GIDs is empty. It selects LIDs there,
// unless either port needs a GID.
func (s Selector) Choose(ports []*Port, remote Remote) (Choice, error) {
	p := s.ipoib(ports)
	if p == nil && len(remote.GIDs) == 0 {
		p = infiniBand(ports)
	}
	switch global := slices.ContainsFunc(remote.GIDs, func(g GID) bool { return g.Type == verbs.GIDTypeIB }); {
	case p == nil:
		return s.choosePair(ports, nil, remote.GIDs)
	case !global && !p.NeedsGID(-1):
		return Choice{Port: p}, nil
	}
	return s.choosePair([]*Port{p}, nil, remote.InfiniBand)
}

// InfiniBand returns the InfiniBand port that Choose selects for a peer without GIDs, or nil.
func (s Selector) InfiniBand(ports []*Port) *Port {
	if p := s.ipoib(ports); p != nil {
		return p
	}
	return infiniBand(ports)
}

// ChooseWith selects the local GID that the peer has chosen for its own GID.
func (s Selector) ChooseWith(ports []*Port, local, remote GID) (Choice, error) {
	return s.choosePair(ports, []GID{local}, []GID{remote})
}

// ChooseByAddress selects for a peer with unknown GIDs. It assumes that the peer's
// address is a GID with each type that a local port has.
func (s Selector) ChooseByAddress(ports []*Port) (Choice, error) {
	if p := s.ipoib(ports); p != nil {
		if !p.NeedsGID(s.Index) {
			return Choice{Port: p}, nil
		}
		ports = []*Port{p}
	}
	peer := toGID(s.Remote)
	var remote []GID
	for _, g := range GIDsOf(ports, s.Index) {
		guess := g // for a GID with another kind than the address
		if g.Type != verbs.GIDTypeIB && peer.Is4In6() == g.Addr.Is4In6() && peer.IsLinkLocalUnicast() == g.Addr.IsLinkLocalUnicast() {
			guess.Addr = peer
		}
		if !slices.Contains(remote, guess) {
			remote = append(remote, guess)
		}
	}
	c, err := s.choosePair(ports, nil, remote)
	if ib := infiniBand(ports); err != nil && ib != nil && s.Index < 0 {
		return Choice{Port: ib}, nil
	}
	return c, err
}

// choosePair returns the best pair from a local and a remote GID. Without local GIDs,
// all port GIDs are candidates.
func (s Selector) choosePair(ports []*Port, local, remote []GID) (Choice, error) {
	var best Choice
	score := -1
	source := s.cachedSource()
	for _, p := range ports {
		for _, e := range p.GIDs {
			l := GID{e.GID, e.Type}
			if s.Index >= 0 && int(e.Index) != s.Index || e.Index > 255 || len(local) > 0 && !slices.Contains(local, l) {
				continue
			}
			for _, r := range remote {
				n, why := s.rate(l, r, source)
				if n >= 0 && p.owns(e) {
					n += weightOwn
				}
				if n > score {
					score = n
					best = Choice{Port: p, Index: uint8(e.Index), Local: l, Remote: r, Why: why}
				}
			}
		}
	}
	if score < 0 {
		return Choice{}, s.noGID(ports)
	}
	if s.Index >= 0 {
		best.Why = Requested
	}
	return best, nil
}

// Requested is the Choice reason for a GID that the user selected by its index.
const Requested = "requested"

func (s Selector) noGID(ports []*Port) error {
	var names []string
	for _, p := range ports {
		names = append(names, p.Device)
	}
	if s.Index >= 0 {
		return fmt.Errorf("choose GID %d of %v: %w", s.Index, names, ErrNoGID)
	}
	return fmt.Errorf("choose a GID of %v: %w", names, ErrNoGID)
}

// Weights for the properties in a GID pair.
const (
	weightLocal  = 1 << 6 // the local GID is the control connection's local address
	weightRemote = 1 << 5
	weightV2     = 1 << 4
	weightRoute  = 1 << 3
	weightIPv4   = 1 << 2
	weightGlobal = 1 << 1
	weightOwn    = 1 << 0 // two devices may have the GIDs from a network device above another
)

// owns reports whether a GID is an address on the port's network device, and not on a
// device above it, such as a VLAN, for which there may be another RDMA device. The first
// table entry is the default GID for the port's network device (ib_cache.c).
func (p *Port) owns(e verbs.GIDEntry) bool { return e.Ifindex == p.GIDs[0].Ifindex }

// rate returns a GID pair's score and the reason for it, -1 for GIDs that cannot
// communicate.
func (s Selector) rate(local, remote GID, source func(netip.Addr) netip.Addr) (int, string) {
	four := local.Addr.Is4In6()
	linkLocal := local.Addr.IsLinkLocalUnicast()
	if local.Type != remote.Type || four && s.IPv6 || four != remote.Addr.Is4In6() || linkLocal != remote.Addr.IsLinkLocalUnicast() {
		return -1, ""
	}
	score, why := 0, "the peer has a GID of this type"
	if local.Type == verbs.GIDTypeRoCEv2 {
		score += weightV2
		if !linkLocal && source(remote.Addr) == local.Addr.Unmap() {
			score += weightRoute
			why = fmt.Sprintf("source of the route to %v", remote.Addr.Unmap())
		}
	}
	switch {
	case four:
		score += weightIPv4
	case !linkLocal:
		score += weightGlobal
	}
	if remote.Addr == toGID(s.Remote) {
		score += weightRemote
	}
	if local.Addr == toGID(s.Local) {
		score += weightLocal
		why = "address of the control connection"
	}
	return score, why
}

// toGID returns an address in GID form.
func toGID(a netip.Addr) netip.Addr {
	if !a.IsValid() {
		return netip.Addr{}
	}
	return netip.AddrFrom16(a.As16())
}

// cachedSource looks up each address once: hosts with many containers have hundreds of
// GIDs, each of which may be combined with each peer GID.
func (s Selector) cachedSource() func(netip.Addr) netip.Addr {
	lookup := s.Source
	if lookup == nil {
		lookup = func(to netip.Addr) netip.Addr {
			from, _ := srcaddr.For(to) // invalid without a route
			return from
		}
	}
	known := map[netip.Addr]netip.Addr{}
	return func(to netip.Addr) netip.Addr {
		from, ok := known[to]
		if !ok {
			from = lookup(to)
			known[to] = from
		}
		return from
	}
}

// infiniBand returns the first InfiniBand port, or nil.
func infiniBand(ports []*Port) *Port {
	for _, p := range ports {
		if !p.Ethernet() {
			return p
		}
	}
	return nil
}

// ipoibAddrLen is the IPoIB link-layer address length: flags and queue pair in 4 bytes,
// and the port GID (RFC 4391, 9.1.1).
const ipoibAddrLen = 4 + 16

// UsesIPoIB reports whether the control connection uses IPoIB on any port.
func (s Selector) UsesIPoIB(ports []*Port) bool { return s.ipoib(ports) != nil }

// ipoib returns the InfiniBand port with the control connection's local address on its
// IPoIB device, or nil.
func (s Selector) ipoib(ports []*Port) *Port {
	if infiniBand(ports) == nil || !s.Local.IsValid() {
		return nil
	}
	list := s.Interfaces
	if list == nil {
		list = interfaces
	}
	all, err := list()
	if err != nil {
		return nil // the first port that is active is as good a guess
	}
	local := s.Local.Unmap().WithZone("")
	for _, i := range all {
		if len(i.Hardware) != ipoibAddrLen || !slices.Contains(i.Addrs, local) {
			continue
		}
		for _, p := range ports {
			if !p.Ethernet() && slices.ContainsFunc(p.GIDs, func(e verbs.GIDEntry) bool {
				gid := e.GID.As16()
				return bytes.Equal(gid[:], i.Hardware[4:])
			}) {
				return p
			}
		}
	}
	return nil
}

// interfaces returns this host's network devices.
func interfaces() ([]Interface, error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var all []Interface
	for _, l := range links {
		addrs, err := l.Addrs()
		if err != nil {
			return nil, err
		}
		i := Interface{Hardware: l.HardwareAddr}
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok {
				if ip, ok := netip.AddrFromSlice(n.IP); ok {
					i.Addrs = append(i.Addrs, ip.Unmap())
				}
			}
		}
		all = append(all, i)
	}
	return all, nil
}
