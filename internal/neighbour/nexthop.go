// Package neighbour queries the kernel for the next hop to an IP address: the network
// device and the link-layer address: the gateway's or the peer's own.
package neighbour

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// ErrNoReply is wrapped by the error for an address that is neither in the neighbour
// table nor resolved by ARP or neighbour discovery.
var ErrNoReply = errors.New("no host on the link responds to this address")

// A NextHop is the next hop to an IP address.
type NextHop struct {
	Local   bool       // the address belongs to this host
	Netdev  string     // network device on the route or with the local address
	Source  netip.Addr // source address on the route; invalid if the kernel does not report it
	Gateway netip.Addr // invalid if the address is on the link

	// LinkAddr is the link-layer address for the gateway or, without a gateway, for the address
	// itself. Ethernet addresses have 6 bytes. IPoIB addresses have 20, and the last 16 are
	// the port GID (RFC 4391, 9.1.1). It is nil for devices without link-layer addresses.
	LinkAddr []byte
}

// Lookup returns the next hop to an address. If the neighbour table does not contain it,
// Lookup sends an empty UDP packet to the address's discard port, which makes the kernel
// resolve the next hop, and waits until ctx ends or the kernel gives up.
func Lookup(ctx context.Context, ip netip.Addr) (*NextHop, error) {
	hop, err := lookup(ctx, ip)
	if err != nil {
		return nil, fmt.Errorf("find next hop to %v: %w", ip, err)
	}
	return hop, nil
}

func lookup(ctx context.Context, ip netip.Addr) (*NextHop, error) {
	if hop, err := local(ip); hop != nil || err != nil {
		return hop, err
	}
	k, err := dial()
	if err != nil {
		return nil, err
	}
	defer k.close()
	r, err := k.route(ip)
	if err != nil {
		return nil, err
	}
	link, err := net.InterfaceByIndex(r.netdev)
	if err != nil {
		return nil, err
	}
	hop := &NextHop{Netdev: link.Name, Source: r.source, Gateway: r.gateway}
	next := ip.WithZone("")
	if hop.Gateway.IsValid() {
		next = hop.Gateway
	}
	e, err := k.await(ctx, next, link)
	if err != nil {
		return nil, fmt.Errorf("resolve %v on %s: %w", next, link.Name, err)
	}
	hop.LinkAddr = e.linkAddr
	return hop, nil
}

// local returns the next hop to an address on this host; nil for other addresses.
func local(ip netip.Addr) (*NextHop, error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		if zone := ip.Zone(); zone != "" && zone != link.Name {
			continue
		}
		addresses, err := link.Addrs()
		if err != nil {
			continue // the device was removed
		}
		for _, a := range addresses {
			prefix, err := netip.ParsePrefix(a.String())
			if err == nil && prefix.Addr() == ip.WithZone("") {
				return &NextHop{Local: true, Netdev: link.Name, Source: ip.WithZone(""), LinkAddr: link.HardwareAddr}, nil
			}
		}
	}
	return nil, nil
}
