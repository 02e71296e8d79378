package sim

import (
	"errors"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/netfile"
	"github.com/ibkit/ibkit/mad"
)

// ParseNet parses an ibsim net file. The fabric is the same that ibsim 0.10 simulates
// before a subnet manager has run: the same GUIDs, widths and speeds, and links in state
// Initialize. Errors name the file (name), line and column.
//
// The grammar follows ibsim (the README and sim_net.c) with these exceptions: include is
// rejected, since a reader has no directory ([ReadFile] supports it), as are ibsim console
// commands ("do ...") other than Link and Unlink, and lines that ibsim ignores because they
// are unknown. Extended speeds include NDR, as in ibsim 0.12.
func ParseNet(r io.Reader, name string) (*Fabric, error) {
	return parseText(r, name, netfile.NetFile, func(string) (io.ReadCloser, error) {
		return nil, errors.New("include requires a file")
	})
}

// parseNetFile reads a net file and the files that it includes.
func parseNetFile(r io.Reader, name string) (*Fabric, error) {
	return parseText(r, name, netfile.NetFile, func(path string) (io.ReadCloser, error) { return interrupt.Open(path) })
}

// parseText makes the fabric in a net file or a topology file.
func parseText(r io.Reader, name string, rules netfile.Rules, open func(string) (io.ReadCloser, error)) (*Fabric, error) {
	file, err := netfile.Parse(r, name, rules, open)
	if err == nil && len(file.Damage) > 0 {
		err = file.Damage[0].Err // a simulated fabric is complete
	}
	if err != nil {
		return nil, fmt.Errorf("read fabric: %w", err)
	}
	f, err := buildText(file, rules)
	if err != nil {
		return nil, fmt.Errorf("read fabric: %w", err)
	}
	return f, nil
}

// buildText makes the fabric.
func buildText(file *netfile.File, rules netfile.Rules) (*Fabric, error) {
	f := &Fabric{}
	for _, node := range file.Nodes {
		if err := f.addNode(node, rules); err != nil {
			return nil, err
		}
	}
	for _, node := range file.Nodes {
		for _, p := range node.Linked() {
			if err := f.link(p, rules); err != nil {
				return nil, err
			}
		}
	}
	for i := range file.Commands {
		if err := f.apply(&file.Commands[i]); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// addNode adds a node. IDs that the file leaves at 0 stay 0.
func (f *Fabric) addNode(from *netfile.Node, rules netfile.Rules) error {
	node, err := f.Add(NodeSpec{
		Kind: from.Kind, ID: from.ID, Desc: from.Desc, Ports: from.NumPorts,
		GUID: from.GUID, SystemGUID: from.SystemGUID, VendorID: from.VendorID, DeviceID: from.DeviceID,
	})
	if err != nil {
		return from.At.LineErrorf("%w", err)
	}
	node.Info.NodeGUID, node.Info.VendorID, node.Info.DeviceID = from.GUID, from.VendorID, from.DeviceID
	node.Info.SystemGUID = or(from.SystemGUID, from.GUID)
	if rules == netfile.Topology {
		node.Info.SystemGUID = from.System()
	}
	node.Switch.EnhancedPort0 = 0
	if from.Enhanced {
		node.Switch.EnhancedPort0 = 1
	}
	for i := range node.Ports {
		p := &node.Ports[i]
		p.GUID = from.GUID
		switch {
		case !node.IsSwitch():
			p.GUID += ib.GUID(i)
		case rules == netfile.Topology:
			p.GUID = or(from.PortGUID, from.GUID)
		}
		a := from.Ability
		line := from.Ports[i]
		if line != nil {
			a = line.Ability
		}
		if rules == netfile.Topology {
			p.discovered(line)
		} else {
			p.simulated(a)
			if line == nil || line.Peer == nil {
				p.Info.LinkSpeedExtSupported, p.Info.LinkSpeedExtEnabled = 0, 0
			}
		}
		switch {
		case node.IsSwitch() && i == 0:
			p.Info.LID, p.Info.LMC = unicast(from.LID), from.LMC
		case !node.IsSwitch() && line != nil:
			p.Info.LID, p.Info.LMC = unicast(line.LID), line.LMC
		}
	}
	return nil
}

// unicast returns a LID that a subnet manager can assign, 0 for another LID.
func unicast(lid ib.LID) ib.LID {
	if lid > ib.MaxUnicastLID {
		return 0
	}
	return lid
}

// discovered sets up a port from a topology file. The port supports the active and all
// lower widths and speeds.
func (p *Port) discovered(line *netfile.Port) {
	if line == nil {
		p.Info = LinkSpec{}.portInfo(p.Number == 0 && p.Node.IsSwitch())
		return
	}
	l := LinkSpec(line.Running.OrDefault())
	p.Ext = &mad.MlnxExtPortInfo{} // ports without FDR10 answer, too
	if l.Speed == ib.FDR10 {
		l.Speed = ib.QDR
		p.Ext = fdr10()
	}
	p.Info = l.portInfo(false)
	p.GUID = or(line.GUID, p.GUID)
}

func fdr10() *mad.MlnxExtPortInfo {
	const s = mad.MlnxLinkSpeed(1)
	return &mad.MlnxExtPortInfo{LinkSpeedSupported: s, LinkSpeedEnabled: s, LinkSpeedActive: s}
}

// simulated sets up a port as ibsim does.
func (p *Port) simulated(a netfile.Ability) {
	isPort0 := p.Number == 0 && p.Node.IsSwitch()
	p.Info = LinkSpec{Width: ib.Width12X, Speed: ib.HDR}.portInfo(isPort0)
	p.Ext = &mad.MlnxExtPortInfo{} // ports without FDR10 answer, too
	i := &p.Info
	i.LinkWidthEnabled, i.LinkSpeedEnabled, i.LinkSpeedExtEnabled = a.Width, a.Speed, a.Ext
	i.LinkSpeedExtSupported |= a.Ext
	i.NeighborMTU, i.MTUCap = mtu2048, mtu2048
	i.VLCap, i.OperVLs = vl0to7, vl0to7
	i.VLStallCount = 7
	i.GUIDCap, i.SubnetTimeout, i.RespTimeValue, i.LocalPhysErrors, i.OverrunErrors = 0, 0, 0, 0, 0
	switch {
	case isPort0:
		i.NeighborMTU, i.MTUCap, i.VLStallCount, i.GUIDCap = mtu256, mtu1024, 0, 1
	case p.Node.IsSwitch():
		i.GIDPrefix = 0
	default:
		i.GUIDCap = 32
	}
}

const (
	mtu256  ib.MTU   = 1
	mtu1024 ib.MTU   = 3
	mtu2048 ib.MTU   = 4
	vl0to7  ib.VLCap = 4
)

// link connects a port to its peer, once for both ends.
func (f *Fabric) link(line *netfile.Port, rules netfile.Rules) error {
	port := func(p *netfile.Port) *Port { return &f.byID[p.Node.ID].Ports[p.Number] }
	a, b := port(line), port(line.Peer)
	if a.Peer == b {
		return nil
	}
	peer := line.Peer
	if rules == netfile.Topology {
		return f.relink(line, a, b)
	}
	for _, set := range []struct {
		name string
		a, b uint
	}{
		{"width", uint(line.Ability.Width), uint(peer.Ability.Width)},
		{"speed", uint(line.Ability.Speed), uint(peer.Ability.Speed)},
	} {
		if set.a&set.b == 0 {
			return line.At.LineErrorf("no common %s: %s has %d enabled, %s (%s) has %d", set.name, line, set.a, peer, peer.At.Location(), set.b)
		}
	}
	if err := f.Connect(a, b); err != nil {
		return line.At.LineErrorf("%w", err)
	}
	a.limitSpeeds(line.Ability, peer.Ability)
	b.limitSpeeds(line.Ability, peer.Ability)
	return nil
}

// limitSpeeds adjusts a trained link as ibsim does: each speed group is handled separately,
// extended speeds are kept only if an extended speed is active, FDR10 only if no extended
// speed is active.
func (p *Port) limitSpeeds(a, b netfile.Ability) {
	i := &p.Info
	i.LinkSpeedActive = mad.LinkSpeed((a.Speed & b.Speed).Speed().Max())
	if i.LinkSpeedExtActive != 0 {
		return
	}
	i.LinkSpeedExtSupported, i.LinkSpeedExtEnabled = 0, 0
	if a.FDR10 && b.FDR10 {
		p.Ext = fdr10()
	}
}

// relink connects two ports from a topology file. Each has its own active width and speed,
// which differ if the ends disagree.
func (f *Fabric) relink(line *netfile.Port, a, b *Port) error {
	if err := f.Connect(a, b); err != nil {
		return line.At.LineErrorf("%w", err)
	}
	if here, there := line.Running.OrDefault(), line.Peer.Running.OrDefault(); here != there {
		a.run(here.Width, here.Speed)
		b.run(there.Width, there.Speed)
	}
	return nil
}

// apply changes the links.
func (f *Fabric) apply(c *netfile.Command) error {
	var ports []*Port
	for _, e := range c.Ends {
		node := f.byID[e.ID]
		if node == nil || e.Number >= len(node.Ports) {
			return c.At.LineErrorf("%q[%d] is not in the fabric", e.ID, e.Number)
		}
		if e.Number == 0 {
			for i := range node.Ports {
				f.Disconnect(&node.Ports[i])
			}
			return nil
		}
		ports = append(ports, &node.Ports[e.Number])
	}
	if c.Link {
		if err := f.Connect(ports[0], ports[1]); err != nil {
			return c.At.LineErrorf("%w", err)
		}
		return nil
	}
	if ports[0].Peer == nil {
		return c.At.LineErrorf("%s is not linked", ports[0])
	}
	f.Disconnect(ports[0])
	return nil
}
