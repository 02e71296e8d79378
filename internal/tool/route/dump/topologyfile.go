package dump

import (
	"io"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/sim"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// readTopology reads ibnetdiscover output. It has no states: a link in the file counts
// as active.
func readTopology(in io.Reader, file string) (*route.Routing, error) {
	f, err := sim.ParseTopology(in, file)
	if err != nil {
		return nil, err
	}
	r := &route.Routing{}
	known := make(map[*sim.Node]*route.Node, len(f.Nodes))
	for _, from := range f.Nodes {
		n := r.Add(from.Info.NodeGUID, from.Info.NodeType, uint8(len(from.Ports)-1))
		n.Desc = from.Desc
		known[from] = n
		for i := range from.Ports {
			p, info := &n.Ports[i], &from.Ports[i].Info
			p.GUID = from.Ports[i].GUID
			if !n.IsSwitch() || i == 0 {
				p.LID, p.LMC = info.LID, info.LMC
			}
			if from.Ports[i].Peer != nil {
				p.State, p.Width, p.Speed = ib.PortActive, info.LinkWidthActive, info.ActiveSpeed(info, from.Ports[i].Ext)
			}
		}
	}
	for from, n := range known {
		for i := range from.Ports {
			if peer := from.Ports[i].Peer; peer != nil {
				n.Ports[i].Peer = &known[peer.Node].Ports[peer.Number]
			}
		}
	}
	return r, nil
}
