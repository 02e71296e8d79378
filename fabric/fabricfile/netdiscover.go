package fabricfile

import (
	"bytes"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// parseNetdiscover reads ibnetdiscover output. Link states are unknown.
func parseNetdiscover(data []byte, name string) (*fabric.Fabric, error) {
	from, err := sim.ParseTopology(bytes.NewReader(data), name)
	if err != nil {
		return nil, err
	}
	nodes := make([]*fabric.Node, len(from.Nodes))
	known := make(map[*sim.Node]*fabric.Node, len(nodes))
	for i, n := range from.Nodes {
		nodes[i] = fabric.NewNode(n.Info, n.Desc)
		known[n] = nodes[i]
	}
	for _, n := range from.Nodes {
		to := known[n]
		if n.IsSwitch() {
			p0 := to.At(0)
			p0.GUID = n.Ports[0].GUID
			p0.Info = &mad.PortInfo{LID: n.Ports[0].Info.LID, LMC: n.Ports[0].Info.LMC}
			to.Switch = &mad.SwitchInfo{EnhancedPort0: n.Switch.EnhancedPort0}
		}
		for k := range n.Ports {
			p := &n.Ports[k]
			if p.Peer == nil {
				continue
			}
			q := to.At(p.Number)
			q.Info = &mad.PortInfo{LinkWidthActive: p.Info.LinkWidthActive, PhysState: ib.PhysLinkUp}
			caps := &p.Info
			if n.IsSwitch() {
				q.GUID, caps = n.Ports[0].GUID, &n.Ports[0].Info
			} else {
				q.GUID, q.Info.LID, q.Info.LMC = p.GUID, p.Info.LID, p.Info.LMC
				to.Info.LocalPort, to.Info.PortGUID = p.Number, p.GUID
			}
			q.Ext = q.Info.SetActiveSpeed(q.Caps(), p.Info.ActiveSpeed(caps, p.Ext))
			q.Peer = known[p.Peer.Node].At(p.Peer.Number)
		}
	}
	f := fabric.Assemble(nodes, startOf(data, nodes))
	f.Sparse = true
	return f, nil
}

// initiated is the comment with the node from which ibnetdiscover scanned.
var initiated = lazyregexp.New(`(?m)^# Initiated from node ([0-9a-f]{1,16}) port ([0-9a-f]{1,16})\s*$`)

// startOf returns the port from which the scan began, nil if it is unknown.
func startOf(data []byte, nodes []*fabric.Node) *fabric.Port {
	m := initiated.FindSubmatch(data)
	if m == nil {
		return nil
	}
	node, _ := ib.ParseGUID("0x" + string(m[1]))
	guid, _ := ib.ParseGUID("0x" + string(m[2]))
	for _, n := range nodes {
		for _, p := range n.Ports {
			if n.GUID == node && p != nil && p.GUID == guid {
				return p
			}
		}
	}
	return nil
}
