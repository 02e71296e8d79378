// Package resolve finds ports by their addresses: LIDs, GUIDs, directed routes,
// GIDs, IP addresses and names. Its sources are subnet administration, the nodes of
// the fabric, and the neighbour table of the kernel.
package resolve

import (
	"fmt"
	"net/netip"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Kind is a kind of address.
type Kind uint8

// The kinds of addresses.
const (
	LID   Kind = iota + 1 // a LID or a range of them
	GUID                  // of a port, or of a node with all its ports
	Route                 // a directed route, from the local port or from a LID
	GID                   //
	IP                    // an IP address of a host
	Name                  // of a node, or of a host
)

var kindNames = [...]string{LID: "lid", GUID: "guid", Route: "route", GID: "gid", IP: "ip", Name: "name"}

// String returns the prefix of the kind that [Parse] accepts, without the colon.
func (k Kind) String() string {
	if k > 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// An Address identifies one port or more.
type Address struct {
	Kind Kind
	Text string // that was parsed

	// First and Last are the bounds of a range of LIDs, which are equal for a
	// single LID. For a route, First is the LID at which the route starts, or 0
	// for the local port.
	First, Last ib.LID

	GUID  ib.GUID
	Route mad.Route
	GID   ib.GID
	IP    netip.Addr // IPv4 or IPv6, with an optional zone
	Name  string
}

// Self returns the address of the local port.
func Self() Address { return Address{Kind: Route, Text: "route:0", Route: mad.Local} }

// String returns a.Text.
func (a Address) String() string { return a.Text }
