package sim

import (
	"math"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad/register"
)

// optics are the faults of a port's connector. The zero value has none.
type optics struct {
	dirty    bool   // little light arrives
	hot      bool   // the module is above its limit
	dark     bool   // no light leaves lane 0
	firmware uint32 // of the module; 0: as all others
}

// A cage is a connector with its module. NDR and XDR switches have two ports in each.
type cage struct {
	node   *Node
	number int // from 1
}

// cage returns the port's connector, and the module's first lane that the port uses.
func (p *Port) cage() (cage, int) {
	n := p.Node
	if !n.IsSwitch() || p.Info.SupportedSpeeds(&p.Info, nil)&(ib.NDR|ib.XDR) == 0 {
		return cage{n, int(p.Number)}, 0
	}
	return cage{n, (int(p.Number) + 1) / 2}, (int(p.Number) + 1) % 2 * 4
}

// port returns the first connected port in the cage, nil if no cable is in the cage.
func (c cage) port() *Port {
	for i := range c.node.Ports {
		if p := &c.node.Ports[i]; i > 0 && p.Peer != nil {
			if at, _ := p.cage(); at == c {
				return p
			}
		}
	}
	return nil
}

// faults returns the union of the faults of the cage's ports.
func (c cage) faults() optics {
	var all optics
	for i := range c.node.Ports {
		p := &c.node.Ports[i]
		if at, _ := p.cage(); i > 0 && at == c {
			all.hot = all.hot || p.optics.hot
			all.firmware = max(all.firmware, p.optics.firmware)
		}
	}
	return all
}

// random returns a number that depends on the cage and a salt only.
func (c cage) random(salt uint64) uint64 {
	x := uint64(c.node.Info.NodeGUID)*0x9e3779b97f4a7c15 + uint64(c.number)<<16 + salt
	x ^= x >> 31
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 29
	x *= 0x94d049bb133111eb
	return x ^ x>>32
}

// between returns a number from low to high that depends on the cage and a salt.
func (c cage) between(low, high float64, salt uint64) float64 {
	return low + (high-low)*float64(c.random(salt)%1000)/999
}

// kind returns the cable: optical modules between switches, copper or active optical
// cables to hosts.
func (c cage) kind() register.CableType {
	p := c.port()
	switch {
	case p == nil:
		return register.CableUnplugged
	case p.Node.IsSwitch() && p.Peer.Node.IsSwitch():
		return register.CableOptical
	case c.owner().random(1)%2 == 0:
		return register.CablePassive
	}
	return register.CableActive
}

// owner returns the cage that determines a cable's type and serial number, which both ends
// have: the switch's, for the cable of a host.
func (c cage) owner() cage {
	if p := c.port(); p != nil && !c.node.IsSwitch() && p.Peer.Node.IsSwitch() {
		other, _ := p.Peer.cage()
		return other
	}
	return c
}

// Optical levels of healthy modules, in microwatts.
const (
	transmitted    = 1400.0
	dirtyLoss      = 12.0 // dB
	alarmPowerHigh = 3981 // 6 dBm
	alarmPowerLow  = 158  // -8 dBm
)

// sent returns a lane's power at the transmitter. Lanes count in the module.
func (c cage) sent(lane int) float64 {
	return transmitted * c.between(0.9, 1.1, uint64(10+lane))
}

// txPower returns the power that leaves a lane of the port, from 0 on.
func (p *Port) txPower(lane int) float64 {
	c, first := p.cage()
	if p.optics.dark && lane == 0 {
		return 0
	}
	return c.sent(first + lane)
}

// rxPower returns the power that arrives at a lane of the port.
func (p *Port) rxPower(lane int) float64 {
	if p.Peer == nil {
		return 0
	}
	c, first := p.cage()
	loss := c.between(0.6, 1.6, uint64(20+first+lane))
	if p.optics.dirty {
		loss += dirtyLoss
	}
	return p.Peer.txPower(lane) * math.Pow(10, -loss/10)
}

// rawBER returns the port's bit error rate before correction.
func (p *Port) rawBER() float64 {
	c, _ := p.cage()
	switch {
	case p.optics.dirty || p.Peer != nil && p.Peer.optics.dark:
		return 6e-5
	case c.kind() == register.CablePassive:
		return 1e-12 * c.between(1, 9, 3)
	}
	return 1e-9 * c.between(1, 9, 3)
}
