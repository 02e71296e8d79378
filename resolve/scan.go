package resolve

import (
	"context"

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

// scannedPorts returns the ports of a node that can have LIDs.
func scannedPorts(n *fabric.Node) []*Port {
	if n.Info.NodeType == mad.NodeTypeSwitch {
		if n.Ports[0] == nil {
			return nil
		}
		return []*Port{scannedPort(n.Ports[0])}
	}
	var ports []*Port
	for _, p := range n.Ports {
		if p != nil {
			ports = append(ports, scannedPort(p))
		}
	}
	return ports
}

// scannedPort returns a port that a scan has found, with its LID as the path, or a
// directed route if it has no LID.
func scannedPort(p *fabric.Port) *Port {
	n := p.Node
	node, desc := n.Info, n.Desc
	node.PortGUID, node.LocalPort = p.GUID, p.Number
	port := &Port{FoundBy: FromScan, PortGUID: p.GUID, Node: &node, Description: &desc, Info: p.Info, DescribedBy: FromScan}
	if lid := p.LID(); lid != 0 {
		port.To = umad.Target{LID: lid}
	} else {
		port.To = umad.Target{Route: routeTo(p)}
	}
	return port
}

// routeTo returns a directed route that enters the node at a port. Each port of an
// adapter has its own agent.
func routeTo(p *fabric.Port) mad.Route {
	peer := p.Peer
	if p.Node.Info.NodeType == mad.NodeTypeSwitch || peer == nil || peer.Node.Info.NodeType != mad.NodeTypeSwitch {
		return p.Node.Route
	}
	return peer.Node.Route.Append(peer.Number)
}
