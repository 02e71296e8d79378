package neighbour

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// kernel is an rtnetlink connection.
type kernel struct{ *netlink.Conn }

func dial() (*kernel, error) {
	c, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	if err != nil {
		return nil, err
	}
	return &kernel{c}, nil
}

func (k *kernel) close() { _ = k.Close() } // an error cannot lose data

// route queries the route to an address.
func (k *kernel) route(ip netip.Addr) (route, error) {
	netdev := 0
	if zone := ip.Zone(); zone != "" {
		link, err := net.InterfaceByName(zone)
		if err != nil {
			return route{}, err
		}
		netdev = link.Index
	}
	data, err := routeRequest(ip.WithZone(""), netdev)
	if err != nil {
		return route{}, err
	}
	messages, err := k.Execute(netlink.Message{Header: netlink.Header{Type: unix.RTM_GETROUTE, Flags: netlink.Request}, Data: data})
	if err != nil {
		return route{}, err
	}
	if len(messages) == 0 {
		return route{}, errors.New("empty reply")
	}
	return parseRoute(messages[0].Data)
}

// find looks up an address in the neighbour table. It returns nil if the table does not
// contain the address.
func (k *kernel) find(ip netip.Addr, netdev int) (*entry, error) {
	messages, err := k.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETNEIGH, Flags: netlink.Request | netlink.Dump}, Data: neighboursRequest(family(ip)),
	})
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		if e, err := parseEntry(m.Data); err == nil && e.ip == ip && e.netdev == netdev && e.known() {
			return &e, nil
		}
	}
	return nil, nil
}

// await returns the entry for an IP address. If the table does not contain it, await
// triggers address resolution and waits for the result.
func (k *kernel) await(ctx context.Context, ip netip.Addr, link *net.Interface) (*entry, error) {
	if e, err := k.find(ip, link.Index); e != nil || err != nil {
		return e, err
	}
	events, err := dial()
	if err != nil {
		return nil, err
	}
	defer events.close()
	if err := events.JoinGroup(unix.RTNLGRP_NEIGH); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = events.SetReadDeadline(time.Now()) })
	defer stop()
	if err := triggerResolution(ip, link); err != nil {
		return nil, err
	}
	// The entry may have been added before the subscription.
	if e, err := k.find(ip, link.Index); e != nil || err != nil {
		return e, err
	}
	for {
		messages, err := events.Receive()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
			return nil, errors.Join(ErrNoReply, ctx.Err())
		case errors.Is(err, unix.ENOBUFS): // events were lost
			if e, err := k.find(ip, link.Index); e != nil || err != nil {
				return e, err
			}
			continue
		case err != nil:
			return nil, err
		}
		for _, m := range messages {
			e, err := parseEntry(m.Data)
			switch {
			case err != nil, e.ip != ip, e.netdev != link.Index:
			case e.known():
				return &e, nil
			case e.state&unix.NUD_FAILED != 0:
				return nil, ErrNoReply
			}
		}
	}
}

// discard is the discard service's UDP port (RFC 863).
const discard = 9

// triggerResolution sends a packet to an address, which makes the kernel resolve it.
func triggerResolution(ip netip.Addr, link *net.Interface) error {
	if ip.IsLinkLocalUnicast() && ip.Is6() {
		ip = ip.WithZone(link.Name)
	}
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(ip, discard)))
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write(nil)
	return err
}
