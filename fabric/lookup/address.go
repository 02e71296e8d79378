// Package lookup finds ports by their addresses: LIDs, GUIDs, directed routes, GIDs,
// IP addresses and names. Its sources are subnet administration, the fabric's nodes,
// and the kernel's neighbour table.
package lookup

import (
	"fmt"
	"net/netip"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Kind is a kind of address.
type Kind uint8

// The address kinds.
const (
	LID   Kind = iota + 1 // a LID or a LID range
	GUID                  // of a port, or of a node with all its ports
	Route                 // a directed route, from the local port or from a LID
	GID                   //
	IP                    // a host's IP address
	Name                  // of a node, or of a host
)

var kindNames = [...]string{LID: "lid", GUID: "guid", Route: "route", GID: "gid", IP: "ip", Name: "name"}

// String returns the kind's prefix that [Parse] accepts, without the colon.
func (k Kind) String() string {
	if k > 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// An Address identifies a single port or more.
type Address struct {
	Kind Kind
	Text string // that was parsed

	// First and Last are a LID range's bounds, which are equal for a single LID. For a
	// route, First is the LID at which the route starts, or 0 for the local port.
	First, Last ib.LID

	GUID  ib.GUID
	Route mad.Route
	GID   ib.GID
	IP    netip.Addr // IPv4 or IPv6, with an optional zone
	Name  string
}

// Self returns the local port's address.
func Self() Address { return Address{Kind: Route, Text: "route:0", Route: mad.Local} }

// String returns a.Text.
func (a Address) String() string { return a.Text }
