package fabric

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// noPort is the forwarding table entry for a LID without a route.
const noPort = 255

// RouteTo returns a directed route to the port with a LID. It follows the switches'
// linear forwarding tables from the local port. If LID routing is broken, the error
// names the switch at which the route ends.
func RouteTo(ctx context.Context, c *umad.Client, lid ib.LID) (mad.Route, error) {
	route := mad.Local
	for {
		next, arrived, err := nextHop(ctx, c, route, lid)
		switch {
		case err != nil:
			return mad.Route{}, fmt.Errorf("find directed route to LID %d: at %s: %w", lid, route, err)
		case arrived:
			return route, nil
		case route.Hops() == mad.MaxHops:
			return mad.Route{}, fmt.Errorf("find directed route to LID %d: more than %d hops: the forwarding tables may contain a loop", lid, mad.MaxHops)
		}
		route = route.Append(next)
	}
}

// nextHop returns the port through which the node at the end of route forwards a
// LID. arrived reports that the LID is the node's own.
func nextHop(ctx context.Context, c *umad.Client, route mad.Route, lid ib.LID) (port uint8, arrived bool, err error) {
	var node mad.NodeInfo
	if err := c.Get(ctx, umad.Target{Route: route}, &node); err != nil {
		return 0, false, err
	}
	if !node.IsSwitch() {
		var info mad.PortInfo
		if err := c.Get(ctx, umad.Target{Route: route}, &info, umad.Modifier(uint32(node.LocalPort))); err != nil {
			return 0, false, err
		}
		switch {
		case lid >= info.LID && int(lid) < int(info.LID)+1<<info.LMC:
			return 0, true, nil
		case route != mad.Local:
			return 0, false, fmt.Errorf("the route ends at port %d of 0x%016x, which has LID %d", node.LocalPort, node.NodeGUID, info.LID)
		}
		return node.LocalPort, false, nil
	}

	var info mad.SwitchInfo
	if err := c.Get(ctx, umad.Target{Route: route}, &info); err != nil {
		return 0, false, err
	}
	if lid > info.LinearFDBTop {
		return 0, false, fmt.Errorf("switch 0x%016x forwards no LID above %d", node.NodeGUID, info.LinearFDBTop)
	}
	var table mad.LinearForwardingTable
	block, entry := lid/ib.LID(len(table.Ports)), lid%ib.LID(len(table.Ports))
	if err := c.Get(ctx, umad.Target{Route: route}, &table, umad.Modifier(uint32(block))); err != nil {
		return 0, false, err
	}
	port = table.Ports[entry]
	if port == noPort || port > node.NumPorts {
		return 0, false, fmt.Errorf("switch 0x%016x has no route to LID %d", node.NodeGUID, lid)
	}
	return port, port == 0, nil
}
