package rdmacm

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
)

// afIB is AF_IB in <linux/socket.h>.
const afIB = 27

// Socket address sizes. The kernel accepts no other size (cma.c,
// rdma_addr_size).
const (
	sizeIPv4 = 16
	sizeIPv6 = 28
	sizeIB   = 48
)

// An Addr is a connection manager address: an [IPAddr] or an [IBAddr]. It
// implements [net.Addr].
type Addr interface {
	Network() string
	String() string

	// sockaddr encodes the address with its family's size.
	sockaddr() ([]byte, error)
}

// An IPAddr is an IPv4 or IPv6 address with a port. The zero address with a port
// stands for all local addresses in both families.
type IPAddr struct{ netip.AddrPort }

// Network returns "rdma".
func (IPAddr) Network() string { return "rdma" }

func (a IPAddr) sockaddr() ([]byte, error) {
	ip := a.Addr()
	if !ip.IsValid() {
		ip = netip.IPv6Unspecified()
	}
	ip = ip.Unmap()
	family, size, at := uint16(unix.AF_INET6), sizeIPv6, 8
	if ip.Is4() {
		family, size, at = unix.AF_INET, sizeIPv4, 4
	}
	s := make([]byte, size)
	binary.NativeEndian.PutUint16(s, family)
	binary.BigEndian.PutUint16(s[2:], a.Port())
	copy(s[at:], ip.AsSlice())
	if zone := ip.Zone(); zone != "" {
		scope, err := scopeID(zone)
		if err != nil {
			return nil, err
		}
		binary.NativeEndian.PutUint32(s[24:], scope)
	}
	return s, nil
}

// scopeID returns the interface index for a zone name.
func scopeID(zone string) (uint32, error) {
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n), nil
	}
	i, err := net.InterfaceByName(zone)
	if err != nil {
		return 0, fmt.Errorf("find interface %s: %w", zone, err)
	}
	return uint32(i.Index), nil
}

// An IBAddr is a native InfiniBand address (struct sockaddr_ib in <rdma/ib.h>). It
// requires no IP address on either host.
type IBAddr struct {
	GID         ib.GID
	PKey        uint16 // 0: any, which suffices for a listener, but not for a route
	FlowLabel   uint32 // 20 bits
	ServiceID   uint64 // see [PortSpace.ServiceID]; 0: a free ID in the port space
	ServiceMask uint64 // given ServiceID bits; 0: all, unless ServiceID is 0
	ScopeID     uint64
}

// Network returns "ib".
func (IBAddr) Network() string { return "ib" }

// String returns the GID and the service ID.
func (a IBAddr) String() string { return fmt.Sprintf("[%v]:%#x", a.GID, a.ServiceID) }

func (a IBAddr) sockaddr() ([]byte, error) {
	s := make([]byte, sizeIB)
	mask := a.ServiceMask
	if mask == 0 && a.ServiceID != 0 {
		mask = ^uint64(0)
	}
	binary.NativeEndian.PutUint16(s[0:], afIB)
	binary.BigEndian.PutUint16(s[2:], a.PKey)
	binary.BigEndian.PutUint32(s[4:], a.FlowLabel)
	copy(s[8:], a.GID[:])
	binary.BigEndian.PutUint64(s[24:], a.ServiceID)
	binary.BigEndian.PutUint64(s[32:], mask)
	binary.NativeEndian.PutUint64(s[40:], a.ScopeID)
	return s, nil
}

// ParseSockaddr parses a kernel socket address (struct sockaddr_storage). It
// returns nil for an address without a family, which stands for no address.
func ParseSockaddr(b []byte) (Addr, error) {
	var s uapi.CMSockaddr
	copy(s[:], b)
	return decodeAddr(s)
}

// decodeAddr decodes a socket address. It returns nil for an address without a family,
// which the kernel returns for an end that is not bound.
func decodeAddr(s uapi.CMSockaddr) (Addr, error) {
	switch family := binary.NativeEndian.Uint16(s[:]); family {
	case unix.AF_UNSPEC:
		return nil, nil
	case unix.AF_INET:
		return IPAddr{netip.AddrPortFrom(netip.AddrFrom4([4]byte(s[4:8])), binary.BigEndian.Uint16(s[2:]))}, nil
	case unix.AF_INET6:
		ip := netip.AddrFrom16([16]byte(s[8:24]))
		if scope := binary.NativeEndian.Uint32(s[24:]); scope != 0 && ip.IsLinkLocalUnicast() {
			ip = ip.WithZone(strconv.FormatUint(uint64(scope), 10))
		}
		return IPAddr{netip.AddrPortFrom(ip, binary.BigEndian.Uint16(s[2:]))}, nil
	case afIB:
		return IBAddr{
			PKey: binary.BigEndian.Uint16(s[2:]), FlowLabel: binary.BigEndian.Uint32(s[4:]), GID: ib.GID(s[8:24]),
			ServiceID: binary.BigEndian.Uint64(s[24:]), ServiceMask: binary.BigEndian.Uint64(s[32:]),
			ScopeID: binary.NativeEndian.Uint64(s[40:]),
		}, nil
	default:
		return nil, fmt.Errorf("decode address: unknown family %d", family)
	}
}

// ResolveAddr converts "host:port" to an address. The host is a name, or an IPv4 or
// IPv6 address; without a host, the address stands for all local addresses. The port is a
// number: service names belong to other protocols.
func ResolveAddr(ctx context.Context, address string) (IPAddr, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return IPAddr{}, fmt.Errorf("parse address %q: %w", address, err)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return IPAddr{}, fmt.Errorf("parse address %q: invalid port %q", address, service)
	}
	if host == "" {
		return IPAddr{netip.AddrPortFrom(netip.Addr{}, uint16(port))}, nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return IPAddr{}, fmt.Errorf("resolve %s: %w", host, err)
		}
		ip = all[0].Unmap()
	}
	return IPAddr{netip.AddrPortFrom(ip, uint16(port))}, nil
}

// String returns the address and port, ":port" for all local addresses.
func (a IPAddr) String() string {
	if !a.Addr().IsValid() {
		return ":" + strconv.Itoa(int(a.Port()))
	}
	return a.AddrPort.String()
}
