// Package resolve finds the ports that addresses of all kinds lead to: LIDs,
// GUIDs, directed routes, GIDs, IP addresses and names. It asks whoever knows:
// subnet administration, the nodes themselves, or the kernel's neighbour table.
package resolve

import (
	"fmt"
	"net/netip"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Kind is a way to write where a port is.
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

// String returns the name that [Parse] takes in front of an address.
func (k Kind) String() string {
	if k > 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// An Address is one or more places in a network as somebody wrote them down.
type Address struct {
	Kind Kind
	Text string // as it was written

	// First and Last bound a range of LIDs, and are equal where it is one. Of a
	// route First is the LID where it begins; 0: the local port.
	First, Last ib.LID

	GUID  ib.GUID
	Route mad.Route
	GID   ib.GID
	IP    netip.Addr // IPv4 or IPv6, perhaps with a zone
	Name  string
}

// Self is the address of the local port.
func Self() Address { return Address{Kind: Route, Text: "route:0"} }

// String returns the address as it was written.
func (a Address) String() string { return a.Text }
