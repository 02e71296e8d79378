package sim

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// build makes the fabric.
func (n *netReader) build() (*Fabric, error) {
	f := &Fabric{}
	if err := n.resolve(); err != nil {
		return nil, err
	}
	for _, node := range n.nodes {
		if err := n.addNode(f, node); err != nil {
			return nil, err
		}
	}
	for _, node := range n.nodes {
		for _, p := range node.linked() {
			if err := f.link(p); err != nil {
				return nil, err
			}
		}
	}
	for i := range n.commands {
		if err := n.commands[i].apply(f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// linked returns the node's linked ports, by number.
func (node *netNode) linked() []*netPort {
	var out []*netPort
	for _, p := range node.ports {
		if p.peer != nil {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *netPort) int { return a.number - b.number })
	return out
}

// resolve finds each port's peer and checks that the lines for both ends agree.
func (n *netReader) resolve() error {
	for _, node := range n.nodes {
		for number := 1; number <= node.spec.Ports; number++ {
			p := node.ports[number]
			if p == nil || p.remote == "" {
				continue
			}
			if err := n.findPeer(p); err != nil {
				return err
			}
		}
	}
	for _, node := range n.nodes {
		for _, p := range node.linked() {
			if p.peer.peer != p {
				return p.at.lineErrorf("%s is linked to %s, which is linked to %s (%s)", p, p.peer, p.peer.peer, p.peer.at.location())
			}
		}
	}
	return nil
}

// findPeer finds a port's peer. A port with an alias has no line that names the peer.
func (n *netReader) findPeer(p *netPort) error {
	if to := n.aliases[p.remote]; to != nil {
		if to.peer != nil {
			return p.at.lineErrorf("%s is linked to %s, which is linked to %s (%s)", p, to.alias, to.peer, to.peer.at.location())
		}
		p.peer, to.peer = to, p
		return nil
	}
	node := n.byID[p.remote]
	if node == nil {
		return p.at.lineErrorf("%s is linked to node %q, which is not in the file", p, p.remote)
	}
	if p.remoteNumber > node.spec.Ports {
		return p.at.lineErrorf("%s is linked to port %d of node %q, which has %d ports", p, p.remoteNumber, p.remote, node.spec.Ports)
	}
	p.peer = node.ports[p.remoteNumber]
	switch {
	case p.peer == nil || p.peer.remote == "":
		return p.at.lineErrorf("%s is linked to %q[%d], which has no line for the link", p, p.remote, p.remoteNumber)
	case p.peer == p:
		return p.at.lineErrorf("%s is linked to itself", p)
	}
	return nil
}

// lineErrorf returns an error about a whole line.
func (l *netLine) lineErrorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", l.location(), fmt.Errorf(format, args...))
}

func (p *netPort) String() string { return fmt.Sprintf("%q[%d]", p.node.spec.ID, p.number) }

// addNode adds a node. IDs that the file leaves at 0 stay 0.
func (n *netReader) addNode(f *Fabric, from *netNode) error {
	node, err := f.Add(from.spec)
	if err != nil {
		return from.at.lineErrorf("%w", err)
	}
	s := &from.spec
	node.Info.NodeGUID, node.Info.VendorID, node.Info.DeviceID = s.GUID, s.VendorID, s.DeviceID
	node.Info.SystemGUID = or(s.SystemGUID, s.GUID)
	node.Switch.EnhancedPort0 = 0
	if from.enhanced {
		node.Switch.EnhancedPort0 = 1
	}
	for i := range node.Ports {
		p := &node.Ports[i]
		p.GUID = s.GUID
		if !node.IsSwitch() {
			p.GUID += ib.GUID(i)
		}
		a := from.ability
		line := from.ports[i]
		if line != nil {
			a = line.ability
		}
		if n.rules == topologyRules {
			p.discovered(line)
		} else {
			p.simulated(a)
			if line == nil || line.peer == nil {
				p.Info.LinkSpeedExtSupported, p.Info.LinkSpeedExtEnabled = 0, 0
			}
		}
		switch {
		case node.IsSwitch() && i == 0:
			p.Info.LID, p.Info.LMC = from.lid, from.lmc
		case !node.IsSwitch() && line != nil:
			p.Info.LID, p.Info.LMC = line.lid, line.lmc
		}
	}
	return nil
}

// discovered sets up a port from a topology file. The port supports the active and all
// lower widths and speeds.
func (p *Port) discovered(line *netPort) {
	l := LinkSpec{}
	if line == nil || line.running == nil {
		p.Info = l.portInfo(p.Number == 0 && p.Node.IsSwitch())
		return
	}
	l = LinkSpec{Width: line.running.width, Speed: line.running.speed}
	p.Ext = &mad.MlnxExtPortInfo{} // ports without FDR10 answer, too
	if l.Speed == ib.FDR10 {
		l.Speed = ib.QDR
		p.Ext = fdr10()
	}
	p.Info = l.portInfo(false)
	p.GUID = or(line.guid, p.GUID)
}

func fdr10() *mad.MlnxExtPortInfo {
	const s = mad.MlnxLinkSpeed(1)
	return &mad.MlnxExtPortInfo{LinkSpeedSupported: s, LinkSpeedEnabled: s, LinkSpeedActive: s}
}

// simulated sets up a port as ibsim does.
func (p *Port) simulated(a ability) {
	isPort0 := p.Number == 0 && p.Node.IsSwitch()
	p.Info = LinkSpec{Width: ib.Width12X, Speed: ib.HDR}.portInfo(isPort0)
	p.Ext = &mad.MlnxExtPortInfo{} // ports without FDR10 answer, too
	i := &p.Info
	i.LinkWidthEnabled, i.LinkSpeedEnabled, i.LinkSpeedExtEnabled = a.width, a.speed, a.ext
	i.LinkSpeedExtSupported |= a.ext
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
func (f *Fabric) link(line *netPort) error {
	port := func(p *netPort) *Port { return &f.byID[p.node.spec.ID].Ports[p.number] }
	a, b := port(line), port(line.peer)
	if a.Peer == b {
		return nil
	}
	peer := line.peer
	if line.running != nil {
		return f.relink(line, a, b)
	}
	for _, set := range []struct {
		name string
		a, b uint
	}{
		{"width", uint(line.ability.width), uint(peer.ability.width)},
		{"speed", uint(line.ability.speed), uint(peer.ability.speed)},
	} {
		if set.a&set.b == 0 {
			return line.at.lineErrorf("no common %s: %s has %d enabled, %s (%s) has %d", set.name, line, set.a, peer, peer.at.location(), set.b)
		}
	}
	if err := f.Connect(a, b); err != nil {
		return line.at.lineErrorf("%w", err)
	}
	a.limitSpeeds(line.ability, peer.ability)
	b.limitSpeeds(line.ability, peer.ability)
	return nil
}

// limitSpeeds adjusts a trained link as ibsim does: each speed group is handled separately,
// extended speeds are kept only if an extended speed is active, FDR10 only if no extended
// speed is active.
func (p *Port) limitSpeeds(a, b ability) {
	i := &p.Info
	i.LinkSpeedActive = mad.LinkSpeed((a.speed & b.speed).Speed().Max())
	if i.LinkSpeedExtActive != 0 {
		return
	}
	i.LinkSpeedExtSupported, i.LinkSpeedExtEnabled = 0, 0
	if a.fdr10 && b.fdr10 {
		p.Ext = fdr10()
	}
}

// relink connects two ports from a topology file with their active width and speed.
func (f *Fabric) relink(line *netPort, a, b *Port) error {
	peer := line.peer
	if *line.running != *peer.running {
		return line.at.lineErrorf("%s runs at %s %s and %s (%s) at %s %s", line, line.running.width, line.running.speed,
			peer, peer.at.location(), peer.running.width, peer.running.speed)
	}
	if err := f.Connect(a, b); err != nil {
		return line.at.lineErrorf("%w", err)
	}
	return nil
}
