package umad

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// byLID reports whether a request is a subnet management packet that is routed by LID, at
// least to where its directed route begins.
func (r *Request) byLID() bool { return r.class().IsSMP() && r.To.LID != 0 }

// A routeFinder finds directed routes to LIDs, for a port that cannot send subnet
// management packets to a LID. It follows the switches' linear forwarding tables from the
// local port. It requests each attribute once.
type routeFinder struct {
	client *Client
	routes map[ib.LID]*lidRoute
	cache  map[cacheKey]*cacheEntry
}

// A lidRoute is the route to a LID, or the search for it.
type lidRoute struct {
	route   mad.Route
	err     error
	found   bool       // route and err are valid
	waiting []*Request // for the route
}

// A cacheKey identifies a node attribute at the end of a route.
type cacheKey struct {
	route    mad.Route
	attr     mad.AttrID
	modifier uint32
}

// A cacheEntry is an attribute's data, or the request for it.
type cacheEntry struct {
	data    []byte
	err     error
	known   bool // data and err are valid
	waiting []func(data []byte, err error)
}

func newRouteFinder(c *Client) *routeFinder {
	return &routeFinder{client: c, routes: map[ib.LID]*lidRoute{}, cache: map[cacheKey]*cacheEntry{}}
}

// submit queues a request as soon as the route to its LID is known.
func (f *routeFinder) submit(r *Request) {
	lid := r.To.LID
	l := f.routes[lid]
	if l == nil {
		l = &lidRoute{}
		f.routes[lid] = l
	}
	if l.found {
		fl, err := f.flight(r, l)
		fl.unsent = err // ends the request when the client runs
		f.client.enqueue(r, fl)
		return
	}
	l.waiting = append(l.waiting, r)
	r.flight.state = queued
	if len(l.waiting) == 1 {
		f.follow(mad.Local, lid)
	}
}

// flight returns a request's flight along the route to its LID.
func (f *routeFinder) flight(r *Request, l *lidRoute) (flight, error) {
	if l.err != nil {
		return flight{}, l.err
	}
	route := r.To.RouteAfter(l.route)
	if route.Hops() > mad.MaxHops {
		return flight{}, fmt.Errorf("find directed route by LID %d: more than %d hops", r.To.LID, mad.MaxHops)
	}
	return flight{directed: true, route: route}, nil
}

// end ends the search for a route, and the requests that have none.
func (f *routeFinder) end(lid ib.LID, route mad.Route, err error) {
	l := f.routes[lid]
	waiting := l.waiting
	*l = lidRoute{route: route, err: err, found: true}
	for _, r := range waiting {
		if fl, err := f.flight(r, l); err != nil {
			f.client.end(r, Reply{Err: r.fail(err)})
		} else {
			f.client.enqueue(r, fl)
		}
	}
}

// noRoute is the forwarding table entry for a LID without a route.
const noRoute = 255

// follow continues the search for a LID at the node at the end of a route.
func (f *routeFinder) follow(route mad.Route, lid ib.LID) {
	fail := func(err error) {
		f.end(lid, mad.Route{}, fmt.Errorf("find directed route to LID %d: at %s: %w", lid, route, err))
	}
	var node mad.NodeInfo
	f.get(route, &node, 0, func(err error) {
		switch {
		case err != nil:
			fail(err)
		case node.IsSwitch():
			f.forward(route, lid, node, fail)
		default:
			f.arrive(route, lid, node, fail)
		}
	})
}

// forward continues at the next node after a switch.
func (f *routeFinder) forward(route mad.Route, lid ib.LID, node mad.NodeInfo, fail func(error)) {
	var table mad.LinearForwardingTable
	block, entry := uint32(lid)/uint32(len(table.Ports)), int(lid)%len(table.Ports)
	f.get(route, &table, block, func(err error) {
		port := table.Ports[entry]
		switch {
		case err != nil:
			fail(err)
		case port == 0:
			f.end(lid, route, nil)
		case port == noRoute || port > node.NumPorts:
			fail(fmt.Errorf("switch 0x%016x has no route", uint64(node.NodeGUID)))
		case route.Hops() == mad.MaxHops:
			fail(fmt.Errorf("more than %d hops: the forwarding tables may contain a loop", mad.MaxHops))
		default:
			f.follow(route.Append(port), lid)
		}
	})
}

// arrive ends the search at an adapter or a router that has the LID. From the local port,
// which sends all other packets through its link, it continues at the next node.
func (f *routeFinder) arrive(route mad.Route, lid ib.LID, node mad.NodeInfo, fail func(error)) {
	var info mad.PortInfo
	f.get(route, &info, uint32(node.LocalPort), func(err error) {
		switch {
		case err != nil:
			fail(err)
		case lid >= info.LID && int(lid) < int(info.LID)+1<<info.LMC:
			f.end(lid, route, nil)
		case route != mad.Local:
			fail(fmt.Errorf("the route ends at port %d of 0x%016x, which has LID %d", node.LocalPort, uint64(node.NodeGUID), info.LID))
		default:
			f.follow(route.Append(node.LocalPort), lid)
		}
	})
}

// get decodes a node attribute at the end of a route, and calls done.
func (f *routeFinder) get(route mad.Route, a mad.Attribute, modifier uint32, done func(error)) {
	decode := func(data []byte, err error) {
		if err == nil {
			err = mad.Decode(a, data)
		}
		done(err)
	}
	key := cacheKey{route, a.Spec().ID, modifier}
	e := f.cache[key]
	if e != nil && e.known {
		decode(e.data, e.err)
		return
	}
	if e != nil {
		e.waiting = append(e.waiting, decode)
		return
	}
	e = &cacheEntry{waiting: []func([]byte, error){decode}}
	f.cache[key] = e
	f.client.enqueue(&Request{To: Target{Route: route}, Attr: key.attr, Modifier: modifier, Done: func(_ *Request, reply *Reply) {
		e.known, e.err = true, reply.Err
		if reply.Err == nil {
			e.data = append(e.data, reply.Data()...)
		}
		for _, w := range e.waiting {
			w(e.data, e.err)
		}
		e.waiting = nil
	}}, flight{})
}
