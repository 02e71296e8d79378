package route

import (
	"github.com/ibkit/ibkit/fabric"
)

// FromFabric returns a scan's nodes and links, without tables.
func FromFabric(f *fabric.Fabric) *Routing {
	r := &Routing{}
	known := make(map[*fabric.Node]*Node, len(f.Nodes))
	for _, from := range f.Nodes {
		n := r.Add(from.GUID, from.Info.NodeType, uint8(len(from.Ports)-1))
		n.Desc, n.Route = from.Desc, from.Route
		known[from] = n
		for _, p := range from.Ports {
			if p != nil {
				n.Ports[p.Number].copy(p)
			}
		}
		if from.Switch != nil {
			n.Tables = &Tables{
				Cap: from.Switch.LinearFDBCap, Top: from.Switch.LinearFDBTop,
				MulticastCap: from.Switch.MulticastFDBCap, MulticastTop: from.Switch.MulticastFDBTop,
			}
		}
	}
	for from, n := range known {
		for _, p := range from.Ports {
			if p == nil || p.Peer == nil {
				continue
			}
			if peer := known[p.Peer.Node]; peer != nil && int(p.Peer.Number) < len(peer.Ports) {
				n.Ports[p.Number].Peer = &peer.Ports[p.Peer.Number]
			}
		}
	}
	for _, failure := range f.Failures {
		to := Failure{Node: r.byGUID[failure.NodeGUID], Modifier: failure.Modifier, Err: failure.Err}
		if !failure.IsDamage() {
			to.Attr = failure.Attr.String()
		}
		r.Failures = append(r.Failures, to)
	}
	r.Unread, r.Blind = f.Unanswered, f.Blind()
	return r
}

// copy copies a port's attributes.
func (p *Port) copy(from *fabric.Port) {
	p.GUID = from.GUID
	i := from.Info
	if i == nil {
		return
	}
	isSwitch := from.Node.IsSwitch()
	if !isSwitch || from.Number == 0 {
		p.LID, p.LMC = i.LID, i.LMC
	}
	p.State, p.Width, p.MTU, p.VLs = i.State, i.LinkWidthActive, i.NeighborMTU, i.OperVLs
	p.Speed = from.ActiveSpeed()
}
