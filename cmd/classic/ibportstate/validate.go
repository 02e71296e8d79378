package ibportstate

import (
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// validate compares an active switch port with its peer.
func (c *call) validate(p *reading) error {
	if !p.isSwitch || p.number == 0 || p.info.State != ib.PortActive {
		return nil
	}
	to, err := c.peerID()
	if err != nil {
		return err
	}
	node, err := c.nodeInfo(to)
	if err != nil {
		return err
	}
	peer := &reading{to: to, number: int32(node.LocalPort), isSwitch: node.IsSwitch()}
	fmt.Fprintln(c.out, "Peer PortInfo:")
	if err := c.readPort(peer); err != nil {
		return err
	}
	if err := c.readExtended(peer, node); err != nil {
		return err
	}
	if err := c.show(peer); err != nil {
		return err
	}
	if peer.hasExt {
		if err := c.showExtended(peer); err != nil {
			return err
		}
	}
	c.compare(p, peer)
	return nil
}

// peerID returns the peer's address, by a route that begins at the port.
func (c *call) peerID() (getopt.PortID, error) {
	to, exit := c.to, uint8(c.number)
	if to.LID == 0 {
		if to.Route.Hops()+1 >= mad.MaxHops {
			return to, &failure{"main", "Too many hops"}
		}
		to.Text += fmt.Sprintf(",%d", exit)
	} else {
		to.Text += fmt.Sprintf(" DR path slid %d; dlid %d; 0,%d", c.local.LID, ib.PermissiveLID, exit)
	}
	to.Target = to.Target.Through(exit)
	return to, nil
}

// A rate is a width or speed value with its name in warnings.
type rate struct {
	value int
	name  string
}

var (
	widthRates    = []rate{{8, "12x"}, {4, "8x"}, {2, "4x"}, {16, "2x"}, {1, "1x"}}
	speedRates    = []rate{{4, "10.0 Gbps"}, {2, "5.0 Gbps"}, {1, "2.5 Gbps"}}
	extendedRates = []rate{{32, "212.5 Gbps"}, {8, "106.25 Gbps"}, {4, "53.125 Gbps"}, {2, "25.78125 Gbps"}, {1, "14.0625 Gbps"}}
)

// compare warns about a link that is slower than both ends have enabled.
func (c *call) compare(p, peer *reading) {
	here, there := &p.info, &peer.info
	c.warn("validate_width", "width", widthRates, enabledWidths(here)&enabledWidths(there), int(here.LinkWidthActive))
	c.warn("validate_speed", "speed", speedRates, enabledSpeeds(here)&enabledSpeeds(there), int(here.LinkSpeedActive))
	if p.extendedSpeeds() && peer.extendedSpeeds() {
		c.warn("validate_extended_speed", "extended speed", extendedRates, p.enabledExtended()&peer.enabledExtended(), p.activeExtended())
		return
	}
	const fdr10 = 1
	if p.ext.LinkSpeedEnabled&peer.ext.LinkSpeedEnabled&fdr10 != 0 && p.ext.LinkSpeedActive&fdr10 == 0 {
		c.Ibwarn("main", "Peer ports operating at active speed %d rather than FDR10", here.LinkSpeedActive)
	}
}

// warn prints a warning if the active value is not the best value that
// both ends have enabled.
func (c *call) warn(function, what string, rates []rate, enabled, active int) {
	for _, r := range rates {
		if enabled&r.value == 0 {
			continue
		}
		if active != r.value {
			c.Ibwarn(function, "Peer ports operating at active %s %d rather than %d (%s)", what, active, r.value, r.name)
		}
		return
	}
}

// The values for all supported widths and speeds stand for the supported sets.

func enabledWidths(i *mad.PortInfo) int {
	if i.LinkWidthEnabled == 255 {
		return int(i.LinkWidthSupported)
	}
	return int(i.LinkWidthEnabled)
}

func enabledSpeeds(i *mad.PortInfo) int {
	if i.LinkSpeedEnabled == 15 {
		return int(i.LinkSpeedSupported)
	}
	return int(i.LinkSpeedEnabled)
}

// enabledExtended returns the extended speeds, XDR as 32. The C tool treats 30, which
// disables them, as a speed set.
func (p *reading) enabledExtended() int {
	speeds := p.info.EnabledSpeeds(&p.caps, nil)
	if p.info.LinkSpeedExtEnabled == 31 {
		speeds |= p.info.LinkSpeedExtSupported.Speed()
	}
	return extendedValue(speeds)
}

func (p *reading) activeExtended() int {
	active := p.info.ActiveSpeed(&p.caps, nil)
	if active == ib.XDR {
		return extendedValue(active)
	}
	return int(p.info.LinkSpeedExtActive)
}

// extendedValue returns an extended speed set with ibportstate's bits.
func extendedValue(s ib.Speed) int {
	v := int(s / ib.FDR & 0xf)
	if s.Has(ib.XDR) {
		v |= 32
	}
	return v
}
