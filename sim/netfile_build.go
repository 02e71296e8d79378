package sim

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// build makes the fabric that has been read.
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

// linked returns the ports that a line links to others, by number.
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

// resolve finds the other end of each link and makes sure that the lines of
// both ends say the same.
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
				return p.at.bare("%s is linked to %s, which %s links to %s", p, p.peer, p.peer.at.where(), p.peer.peer)
			}
		}
	}
	return nil
}

// findPeer finds the other end of a link. The end that is named by an alias
// has no line that names the first end.
func (n *netReader) findPeer(p *netPort) error {
	if to := n.aliases[p.remote]; to != nil {
		if to.peer != nil {
			return p.at.bare("%s is linked to %s, and so is %s (%s)", p, to.alias, to.peer, to.peer.at.where())
		}
		p.peer, to.peer = to, p
		return nil
	}
	node := n.byID[p.remote]
	if node == nil {
		return p.at.bare("%s is linked to node %q, which is not in the file", p, p.remote)
	}
	if p.remoteNumber > node.spec.Ports {
		return p.at.bare("%s is linked to port %d of node %q, which has %d", p, p.remoteNumber, p.remote, node.spec.Ports)
	}
	p.peer = node.ports[p.remoteNumber]
	switch {
	case p.peer == nil || p.peer.remote == "":
		return p.at.bare("%s is linked to %q[%d], which has no line that says so", p, p.remote, p.remoteNumber)
	case p.peer == p:
		return p.at.bare("%s is linked to itself", p)
	}
	return nil
}

// bare makes an error about the whole line.
func (l *netLine) bare(format string, args ...any) error {
	return fmt.Errorf("%s: %w", l.where(), fmt.Errorf(format, args...))
}

func (p *netPort) String() string { return fmt.Sprintf("%q[%d]", p.node.spec.ID, p.number) }

// addNode makes a node. What a file leaves at 0 stays so.
func (n *netReader) addNode(f *Fabric, from *netNode) error {
	node, err := f.Add(from.spec)
	if err != nil {
		return from.at.bare("%w", err)
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

// discovered makes a port of a topology file: able to do what it does.
func (p *Port) discovered(line *netPort) {
	l := LinkSpec{}
	if line == nil || line.running == nil {
		p.Info = l.portInfo(p.Number == 0 && p.Node.IsSwitch())
		return
	}
	l = LinkSpec{Width: line.running.width, Speed: line.running.speed}
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

// simulated makes a port as ibsim makes its ports.
func (p *Port) simulated(a ability) {
	isPort0 := p.Number == 0 && p.Node.IsSwitch()
	p.Info = LinkSpec{Width: ib.Width12X, Speed: ib.HDR}.portInfo(isPort0)
	p.Ext = &mad.MlnxExtPortInfo{} // answered by ports that know no FDR10, too
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

// link makes the link of a port, once for both ends.
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
			return line.at.bare("%s has %s %d enabled and %s (%s) %d: no bit in common", line, set.name, set.a, peer, peer.at.where(), set.b)
		}
	}
	if err := f.Connect(a, b); err != nil {
		return line.at.bare("%w", err)
	}
	a.settle(line.ability, peer.ability)
	b.settle(line.ability, peer.ability)
	return nil
}

// settle makes of a trained link what ibsim does: each group of speeds for
// itself, extended speeds only where some are in use, FDR10 where none are.
func (p *Port) settle(a, b ability) {
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

// relink makes a link of a topology file, which says what it runs at.
func (f *Fabric) relink(line *netPort, a, b *Port) error {
	peer := line.peer
	if *line.running != *peer.running {
		return line.at.bare("%s runs at %s %s and %s (%s) at %s %s", line, line.running.width, line.running.speed,
			peer, peer.at.where(), peer.running.width, peer.running.speed)
	}
	if err := f.Connect(a, b); err != nil {
		return line.at.bare("%w", err)
	}
	return nil
}
