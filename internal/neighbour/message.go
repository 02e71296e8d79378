package neighbour

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// native is the netlink byte order.
var native = binary.NativeEndian

// family returns an IP address's family.
func family(ip netip.Addr) uint8 {
	if ip.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// route is a route to an address: struct rtmsg from linux/rtnetlink.h with attributes.
type route struct {
	netdev          int // index
	source, gateway netip.Addr
}

// routeRequest encodes a request for the route to ip. If netdev is not 0, the route
// must use the network device with this index.
func routeRequest(ip netip.Addr, netdev int) ([]byte, error) {
	b := make([]byte, unix.SizeofRtMsg)
	b[0], b[1] = family(ip), uint8(ip.BitLen())
	e := netlink.NewAttributeEncoder()
	e.Bytes(unix.RTA_DST, ip.AsSlice())
	if netdev != 0 {
		e.Uint32(unix.RTA_OIF, uint32(netdev))
	}
	attributes, err := e.Encode()
	return append(b, attributes...), err
}

var errShort = errors.New("message is too short")

func parseRoute(b []byte) (r route, err error) {
	if len(b) < unix.SizeofRtMsg {
		return r, fmt.Errorf("parse route: %w", errShort)
	}
	ad, err := netlink.NewAttributeDecoder(b[unix.SizeofRtMsg:])
	if err != nil {
		return r, fmt.Errorf("parse route: %w", err)
	}
	for ad.Next() {
		switch ad.Type() {
		case unix.RTA_OIF:
			r.netdev = int(ad.Uint32())
		case unix.RTA_PREFSRC:
			r.source, _ = netip.AddrFromSlice(ad.Bytes())
		case unix.RTA_GATEWAY:
			r.gateway, _ = netip.AddrFromSlice(ad.Bytes())
		case unix.RTA_VIA: // gateway with the other IP version: family and address
			if via := ad.Bytes(); len(via) > 2 {
				r.gateway, _ = netip.AddrFromSlice(via[2:])
			}
		}
	}
	if err := ad.Err(); err != nil {
		return r, fmt.Errorf("parse route: %w", err)
	}
	return r, nil
}

// entry is a neighbour table entry: struct ndmsg from linux/neighbour.h with attributes.
type entry struct {
	ip       netip.Addr
	netdev   int // index
	state    uint16
	linkAddr []byte
}

// neighboursRequest encodes a request for all neighbours in an address family.
func neighboursRequest(family uint8) []byte {
	b := make([]byte, unix.SizeofNdMsg)
	b[0] = family
	return b
}

// Offsets in struct ndmsg.
const (
	offNetdev = 4
	offState  = 8
)

func parseEntry(b []byte) (e entry, err error) {
	if len(b) < unix.SizeofNdMsg {
		return e, fmt.Errorf("parse neighbour: %w", errShort)
	}
	e.netdev = int(int32(native.Uint32(b[offNetdev:])))
	e.state = native.Uint16(b[offState:])
	ad, err := netlink.NewAttributeDecoder(b[unix.SizeofNdMsg:])
	if err != nil {
		return e, fmt.Errorf("parse neighbour: %w", err)
	}
	for ad.Next() {
		switch ad.Type() {
		case unix.NDA_DST:
			e.ip, _ = netip.AddrFromSlice(ad.Bytes())
		case unix.NDA_LLADDR:
			e.linkAddr = ad.Bytes()
		}
	}
	if err := ad.Err(); err != nil {
		return e, fmt.Errorf("parse neighbour: %w", err)
	}
	if e.state&unix.NUD_NOARP != 0 {
		e.linkAddr = nil // the kernel reports the local device's address
	}
	return e, nil
}

// known reports whether the kernel can send to the neighbour: it has the link-layer
// address, or the device does not use link-layer addresses.
func (e *entry) known() bool {
	const valid = unix.NUD_REACHABLE | unix.NUD_STALE | unix.NUD_DELAY | unix.NUD_PROBE | unix.NUD_PERMANENT
	return e.state&unix.NUD_NOARP != 0 || e.state&valid != 0 && len(e.linkAddr) > 0
}
