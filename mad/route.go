package mad

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxHops is the longest directed route that a subnet management packet can
// carry: its path field has 64 entries, and entry 0 is not used
// (InfiniBand Architecture, Volume 1, 14.2.1.2).
const MaxHops = 63

// A Route is a directed route: the port by which to leave each node on the
// way, one byte a hop, the local node first. The empty Route is the local node
// itself. A Route is immutable and comparable, so nodes that lie behind one
// another can share it and maps can be keyed by it.
type Route string

// Append returns the route that goes one hop further, out of port.
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

// String writes the route as the tools of infiniband-diags do: decimal port
// numbers behind a leading 0 for the local node, for example "0,1,3".
func (r Route) String() string {
	b := []byte{'0'}
	for i := range len(r) {
		b = append(b, ',')
		b = strconv.AppendUint(b, uint64(r[i]), 10)
	}
	return string(b)
}

// MarshalText writes the route in the form of [Route.String].
func (r Route) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// ParseRoute reads a directed route such as "0,1,3". The first element stands
// for the local node and must be 0. The error names the element at fault,
// counted from 1.
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
