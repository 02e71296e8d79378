package lookup

import (
	"context"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// scan scans the fabric once. If the scan ends early, it returns both the part
// that was scanned and the error: a port found in that part is good, and a port
// not found in it may exist.
func (r *Resolver) scan(ctx context.Context) (*fabric.Fabric, error) {
	if r.scanned != nil || r.scanErr != nil {
		return r.scanned, r.scanErr
	}
	f, err := fabric.Discover(ctx, r.client, fabric.DiscoverOptions{NoExtendedPortInfo: true, Progress: r.opts.Progress})
	if ctx.Err() == nil {
		r.scanned, r.scanErr = f, err
	}
	return f, err
}

// PortsOf returns the ports on a scan's node that can have LIDs, as [Resolver.Find] does.
func PortsOf(n *fabric.Node) []*Port {
	var ports []*Port
	for _, p := range addressable(n) {
		ports = append(ports, scannedPort(p))
	}
	return ports
}

// addressable returns a node's ports that can have LIDs. If the scan has no such port, it
// returns the port that replied for the node, without PortInfo.
func addressable(n *fabric.Node) []*fabric.Port {
	known := n.Ports
	number := n.Info.LocalPort
	if n.IsSwitch() {
		known, number = n.Ports[:1], 0
	}
	ports := slices.DeleteFunc(slices.Clone(known), func(p *fabric.Port) bool { return p == nil })
	if len(ports) == 0 {
		ports = append(ports, &fabric.Port{Node: n, Number: number, GUID: n.Info.PortGUID})
	}
	return ports
}

// scannedPort returns a port that a scan has found, with its LID as the path, or a
// directed route if it has no LID or that is unknown.
func scannedPort(p *fabric.Port) *Port {
	n := p.Node
	node, desc := n.Info, n.Desc
	node.PortGUID, node.LocalPort = p.GUID, p.Number
	port := &Port{FoundBy: FromScan, PortGUID: p.GUID, Node: &node, Description: &desc, Info: p.Info, DescribedBy: FromScan}
	if lid := p.LID(); lid != 0 {
		port.To = umad.Target{LID: lid}
	} else {
		port.To, port.Err = umad.Target{Route: routeTo(p)}, p.Missing()
	}
	return port
}

// routeTo returns a directed route that enters the node at a port. Each adapter port
// has its own agent.
func routeTo(p *fabric.Port) mad.Route {
	peer := p.Peer
	if p.Node.IsSwitch() || peer == nil || !peer.Node.IsSwitch() {
		return p.Node.Route
	}
	return peer.Node.Route.Append(peer.Number)
}
