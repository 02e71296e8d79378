package mad

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxHops is the maximum directed route length in a subnet management packet: the
// path field has 64 entries, and entry 0 is not used (InfiniBand Architecture,
// Volume 1, 14.2.1.2).
const MaxHops = 63

// A Route is a directed route: each node's output port on the route, the local node's
// first. The zero value is no route, and requests along it fail: a route that was not
// found never leads to the local port. Routes are immutable and comparable.
type Route struct {
	// path is a packet's path field up to the last hop. Entry 0 stands for the local
	// node and is 0; "" is no route.
	path string
}

const noRoute = "none"

// Local is the route to the local port, which has no hops.
var Local = RouteOf()

// RouteOf returns the route through output ports, the local node's first.
func RouteOf(ports ...uint8) Route { return Route{"\x00" + string(ports)} }

// IsNone reports whether r is the zero value.
func (r Route) IsNone() bool { return r.path == "" }

// Append returns the route extended by a hop through port. No route has no extension.
func (r Route) Append(port uint8) Route {
	if r.IsNone() {
		return r
	}
	return Route{r.path + string([]byte{port})}
}

// Join returns the route that continues along rest. It is no route if
// either has the zero value.
func (r Route) Join(rest Route) Route {
	if r.IsNone() || rest.IsNone() {
		return Route{}
	}
	return Route{r.path + rest.path[1:]}
}

// Parent returns the route to the node before the last hop. The local node's parent is the
// local node, and no route has no parent.
func (r Route) Parent() Route {
	if r.Hops() == 0 {
		return r
	}
	return Route{r.path[:len(r.path)-1]}
}

// Hops returns the number of links that the route crosses.
func (r Route) Hops() int { return max(len(r.path)-1, 0) }

// Exit returns the last hop's output port, 0 without hops.
func (r Route) Exit() uint8 {
	if r.Hops() == 0 {
		return 0
	}
	return r.path[len(r.path)-1]
}

// Ports returns each hop's output port.
func (r Route) Ports() []byte {
	if r.IsNone() {
		return nil
	}
	return []byte(r.path[1:])
}

// Compare compares two routes' ports in their order, no route first.
func (r Route) Compare(other Route) int { return strings.Compare(r.path, other.path) }

// String returns the route in infiniband-diags form: 0 for the local node, followed by
// decimal port numbers, for example "0,1,3". The zero value has its own text.
func (r Route) String() string {
	if r.IsNone() {
		return noRoute
	}
	b := []byte{'0'}
	for _, port := range r.Ports() {
		b = append(b, ',')
		b = strconv.AppendUint(b, uint64(port), 10)
	}
	return string(b)
}

// MarshalText returns the [Route.String] text. The error is always nil.
func (r Route) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses the text that [ParseRoute] accepts, and the zero value's text.
func (r *Route) UnmarshalText(text []byte) (err error) {
	if string(text) == noRoute {
		*r = Route{}
		return nil
	}
	*r, err = ParseRoute(string(text))
	return err
}

// ParseRoute parses a directed route, for example "0,1,3". The first element
// stands for the local node and must be 0. The error contains the invalid element's
// number, from 1.
func ParseRoute(s string) (Route, error) {
	elements := strings.Split(s, ",")
	if len(elements)-1 > MaxHops {
		return Route{}, fmt.Errorf("parse directed route %q: %d hops, at most %d are possible", s, len(elements)-1, MaxHops)
	}
	ports := make([]byte, 0, len(elements))
	for i, e := range elements {
		port, err := strconv.ParseUint(strings.TrimSpace(e), 0, 8)
		switch {
		case err != nil:
			return Route{}, fmt.Errorf("parse directed route %q: element %d: %q is not a port number (0 to 255)", s, i+1, e)
		case i == 0 && port != 0:
			return Route{}, fmt.Errorf("parse directed route %q: element 1 is the local node and must be 0, not %d", s, port)
		case i > 0 && port == 0:
			return Route{}, fmt.Errorf("parse directed route %q: element %d: no link leaves by port 0", s, i+1)
		case i > 0:
			ports = append(ports, byte(port))
		}
	}
	return RouteOf(ports...), nil
}
