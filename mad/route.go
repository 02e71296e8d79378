package mad

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxHops is the length of the longest directed route in a subnet management
// packet: the path field has 64 entries, and entry 0 is not used (InfiniBand
// Architecture, Volume 1, 14.2.1.2).
const MaxHops = 63

// A Route is a directed route: the output port of each node on the route, one byte
// per hop, the local node first. The empty Route is the local node. Routes are
// immutable and comparable.
type Route string

// Append returns the route extended by one hop through port.
func (r Route) Append(port uint8) Route { return r + Route([]byte{port}) }

// Parent returns the route to the node before the last hop.
// The local node's parent is the local node.
func (r Route) Parent() Route {
	if r == "" {
		return r
	}
	return r[:len(r)-1]
}

// Hops returns the number of links that the route crosses.
func (r Route) Hops() int { return len(r) }

// String returns the route in the form of infiniband-diags: 0 for the local node,
// followed by decimal port numbers, for example "0,1,3".
func (r Route) String() string {
	b := []byte{'0'}
	for i := range len(r) {
		b = append(b, ',')
		b = strconv.AppendUint(b, uint64(r[i]), 10)
	}
	return string(b)
}

// MarshalText returns the text of [Route.String]. The error is always nil.
func (r Route) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses the text that [ParseRoute] accepts.
func (r *Route) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRoute(string(text))
	return err
}

// ParseRoute parses a directed route, for example "0,1,3". The first element
// stands for the local node and must be 0. The error contains the number of the
// invalid element, from 1.
func ParseRoute(s string) (Route, error) {
	elements := strings.Split(s, ",")
	if len(elements)-1 > MaxHops {
		return "", fmt.Errorf("parse directed route %q: %d hops, at most %d are possible", s, len(elements)-1, MaxHops)
	}
	hops := make([]byte, 0, len(elements))
	for i, e := range elements {
		port, err := strconv.ParseUint(strings.TrimSpace(e), 0, 8)
		switch {
		case err != nil:
			return "", fmt.Errorf("parse directed route %q: element %d: %q is not a port number (0 to 255)", s, i+1, e)
		case i == 0 && port != 0:
			return "", fmt.Errorf("parse directed route %q: element 1 is the local node and must be 0, not %d", s, port)
		case i > 0 && port == 0:
			return "", fmt.Errorf("parse directed route %q: element %d: no link leaves by port 0", s, i+1)
		case i > 0:
			hops = append(hops, byte(port))
		}
	}
	return Route(hops), nil
}
