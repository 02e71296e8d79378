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

// kernel is a connection to it by rtnetlink.
type kernel struct{ *netlink.Conn }

func dial() (*kernel, error) {
	c, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	if err != nil {
		return nil, err
	}
	return &kernel{c}, nil
}

func (k *kernel) close() { _ = k.Close() } // nothing was written that could get lost

// route asks for the way to an address.
func (k *kernel) route(ip netip.Addr) (route, error) {
	netdev := 0
	if zone := ip.Zone(); zone != "" {
		link, err := net.InterfaceByName(zone)
		if err != nil {
			return route{}, err
		}
		netdev = link.Index
	}
	data, err := askRoute(ip.WithZone(""), netdev)
	if err != nil {
		return route{}, err
	}
	messages, err := k.Execute(netlink.Message{Header: netlink.Header{Type: unix.RTM_GETROUTE, Flags: netlink.Request}, Data: data})
	if err != nil {
		return route{}, err
	}
	if len(messages) == 0 {
		return route{}, errors.New("the kernel tells no route")
	}
	return parseRoute(messages[0].Data)
}

// find looks an address up in the neighbour table; nil: it is not there.
func (k *kernel) find(ip netip.Addr, netdev int) (*entry, error) {
	messages, err := k.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETNEIGH, Flags: netlink.Request | netlink.Dump}, Data: askEntries(family(ip)),
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

// await returns the entry of an IP address. Where the table does not have it, it has the kernel ask and waits until that is told of the answer.
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
	if err := provoke(ip, link); err != nil {
		return nil, err
	}
	// It may have come before anybody listened.
	if e, err := k.find(ip, link.Index); e != nil || err != nil {
		return e, err
	}
	for {
		messages, err := events.Receive()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
			return nil, errors.Join(ErrNoAnswer, ctx.Err())
		case errors.Is(err, unix.ENOBUFS): // events got lost
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
				return nil, ErrNoAnswer
			}
		}
	}
}

// discard is the port that throws away what it gets (RFC 863).
const discard = 9

// provoke sends a packet, so that the kernel has to ask who has the address.
func provoke(ip netip.Addr, link *net.Interface) error {
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
