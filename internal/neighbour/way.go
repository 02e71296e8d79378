// Package neighbour asks the kernel how this host gets to an IP address: by
// which network device, and what the link-layer address of the next host is.
package neighbour

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// ErrNoAnswer is wrapped by the error of an address on a link where nobody has
// it: neither the neighbour table knows of it, nor was a question answered.
var ErrNoAnswer = errors.New("nobody on the link says to have it")

// A Way is how this host gets to an IP address.
type Way struct {
	Local   bool       // the address is one of this host's own
	Netdev  string     // by which it goes, or that has a local one
	Source  netip.Addr // of packets that go there; invalid: not told
	Gateway netip.Addr // that packets go through; invalid: the address is on the link

	// LinkAddr is the link-layer address of the gateway, else of the address
	// itself. Ethernet's has 6 bytes; IPoIB's has 20, the last 16 of which are the
	// GID of the port (RFC 4391, 9.1.1). nil: the device has no use for one.
	LinkAddr []byte
}

// Lookup asks how to get to an address. Where the neighbour table does not know
// the next host, it has the kernel ask for it, by an empty UDP packet to the
// discard port, and waits until ctx ends or the kernel gives up.
func Lookup(ctx context.Context, ip netip.Addr) (*Way, error) {
	w, err := lookup(ctx, ip)
	if err != nil {
		return nil, fmt.Errorf("find way to %v: %w", ip, err)
	}
	return w, nil
}

func lookup(ctx context.Context, ip netip.Addr) (*Way, error) {
	if w, err := own(ip); w != nil || err != nil {
		return w, err
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
	w := &Way{Netdev: link.Name, Source: r.source, Gateway: r.gateway}
	next := ip.WithZone("")
	if w.Gateway.IsValid() {
		next = w.Gateway
	}
	e, err := k.await(ctx, next, link)
	if err != nil {
		return nil, fmt.Errorf("ask for %v on %s: %w", next, link.Name, err)
	}
	w.LinkAddr = e.linkAddr
	return w, nil
}

// own returns the way to an address of this host; nil: it is none.
func own(ip netip.Addr) (*Way, error) {
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
			continue // it went away
		}
		for _, a := range addresses {
			prefix, err := netip.ParsePrefix(a.String())
			if err == nil && prefix.Addr() == ip.WithZone("") {
				return &Way{Local: true, Netdev: link.Name, Source: ip.WithZone(""), LinkAddr: link.HardwareAddr}, nil
			}
		}
	}
	return nil, nil
}
