// Package srcaddr finds the local address from which the kernel sends packets.
package srcaddr

import (
	"net"
	"net/netip"
)

// discard is the discard protocol port (RFC 863), which needs no listener.
const discard = 9

// For returns the source address for IP packets to an address. It sends no packet: it only
// connects a UDP socket.
func For(to netip.Addr) (netip.Addr, error) {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to.Unmap(), discard)))
	if err != nil {
		return netip.Addr{}, err
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}
