package fabricfile

import (
	"bytes"
	"cmp"
	"errors"
	"io"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/netfile"
	"github.com/ibkit/ibkit/mad"
)

// parseNetdiscover reads ibnetdiscover output, also with -g, -f or -s. Link states are
// unknown. The width and the speed in a line are those of the line's port.
func parseNetdiscover(data []byte, name string) (*fabric.Fabric, error) {
	file, err := netfile.Parse(bytes.NewReader(data), name, netfile.Topology, func(string) (io.ReadCloser, error) {
		return nil, errors.New("include is not supported in a topology file")
	})
	if err != nil {
		return nil, err
	}
	nodes := make([]*fabric.Node, len(file.Nodes))
	known := make(map[*netfile.Node]*fabric.Node, len(nodes))
	for i, n := range file.Nodes {
		nodes[i] = discoveredNode(n)
		known[n] = nodes[i]
	}
	for _, n := range file.Nodes {
		for _, p := range n.Linked() {
			known[n].At(uint8(p.Number)).Peer = known[p.Peer.Node].At(uint8(p.Peer.Number))
		}
	}
	f := fabric.Assemble(nodes, startOf(data, nodes))
	f.Sparse = true
	for _, d := range file.Damage {
		failure := fabric.Failure{Err: d.Err}
		if d.Node != nil {
			failure.NodeGUID, failure.Port = d.Node.GUID, uint8(d.Port)
		}
		f.Failures = append(f.Failures, failure)
	}
	return f, nil
}

// discoveredNode returns a node with its ports, but without links.
func discoveredNode(from *netfile.Node) *fabric.Node {
	n := fabric.NewNode(mad.NodeInfo{
		BaseVersion: 1, ClassVersion: 1, NodeType: from.Kind, NumPorts: uint8(from.NumPorts),
		SystemGUID: from.System(), NodeGUID: from.GUID, PortGUID: cmp.Or(from.PortGUID, from.GUID),
		VendorID: from.VendorID, DeviceID: from.DeviceID,
	}, mad.NewNodeDescription(from.Desc))
	if n.IsSwitch() {
		n.At(0).Info = &mad.PortInfo{LID: from.LID, LMC: from.LMC}
		n.Switch = &mad.SwitchInfo{}
		if from.Enhanced {
			n.Switch.EnhancedPort0 = 1
		}
	}
	for number := 1; number <= from.NumPorts; number++ {
		line := from.Ports[number]
		if line == nil {
			continue
		}
		p := n.At(uint8(number))
		p.Info = &mad.PortInfo{LinkWidthActive: line.Running.Width, PhysState: ib.PhysLinkUp}
		if !n.IsSwitch() {
			p.GUID, p.Info.LID, p.Info.LMC = cmp.Or(line.GUID, from.GUID+ib.GUID(number)), line.LID, line.LMC
			n.Info.LocalPort, n.Info.PortGUID = p.Number, p.GUID
		}
		p.Ext = p.Info.SetActiveSpeed(p.Caps(), line.Running.Speed)
	}
	return n
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
