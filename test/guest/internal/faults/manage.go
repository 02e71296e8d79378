//go:build linux

package main

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/rdmacm"
)

// A connection joins two queue pairs of iWARP, which may belong to another process.
type connection struct{ channel *rdmacm.Channel }

// manage connects two queue pairs in the state INIT through the device with an address.
func manage(address string, client, server uint32) *connection {
	c := &connection{must(rdmacm.NewChannel())}
	to := rdmacm.IPAddr{AddrPort: netip.AddrPortFrom(must(netip.ParseAddr(address)), 7000)}
	listener := must(c.channel.NewID(rdmacm.PortSpaceTCP, 0))
	check(listener.Bind(to))
	check(listener.Listen(1))
	a := must(c.channel.NewID(rdmacm.PortSpaceTCP, 0))
	check(a.ResolveAddr(nil, to, time.Minute))
	c.next(rdmacm.EventAddrResolved)
	check(a.ResolveRoute(time.Minute))
	c.next(rdmacm.EventRouteResolved)
	check(a.Connect(to, rdmacm.ConnParam{QPN: client}))
	check(c.next(rdmacm.EventConnectRequest).Accept(rdmacm.ConnParam{QPN: server}))
	c.next(rdmacm.EventEstablished)
	c.next(rdmacm.EventEstablished)
	return c
}

// next waits for an event of a type and returns its ID.
func (c *connection) next(want rdmacm.EventType) *rdmacm.ID {
	e := must(c.channel.Next(context.Background()))
	if e.Type != want {
		check(fmt.Errorf("got event %v, want %v", e.Type, want))
	}
	return e.ID
}

// awaitEnd waits for the end of the connection at both sides.
func (c *connection) awaitEnd() {
	c.next(rdmacm.EventDisconnected)
	c.next(rdmacm.EventDisconnected)
	check(c.channel.Close())
}

// serve connects the queue pairs of another process, and ends with the connection.
func serve(address string, numbers []string) {
	client, server := must(strconv.ParseUint(numbers[0], 0, 32)), must(strconv.ParseUint(numbers[1], 0, 32))
	c := manage(address, uint32(client), uint32(server))
	fmt.Println("connected")
	c.awaitEnd()
}
