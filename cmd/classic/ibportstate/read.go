package ibportstate

import (
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/portdump"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A reading is a port's attributes.
type reading struct {
	to       getopt.PortID
	number   int32
	isSwitch bool

	info, caps mad.PortInfo // caps: with the capability masks
	data       []byte

	hasExt  bool
	ext     mad.MlnxExtPortInfo
	extData []byte
}

// extendedSpeeds reports whether the extended speed fields are valid.
func (p *reading) extendedSpeeds() bool { return p.caps.CapMask.Has(mad.CapExtendedSpeeds) }

// extendedSpeeds2 reports whether the extended speed fields that were added with XDR are
// valid.
func (p *reading) extendedSpeeds2() bool {
	return p.caps.CapMask.Has(mad.CapCapMask2) && p.caps.CapMask2.Has(mad.Cap2ExtendedSpeeds2)
}

// get requests an attribute and returns its data, nil if it failed.
func (c *call) get(to getopt.PortID, a mad.Attribute, number int32) []byte {
	reply, err := c.Call(c.ctx, c.client, getopt.MadRPC, to, &umad.Request{Value: a, Modifier: uint32(number)})
	if err != nil {
		return nil
	}
	return append([]byte(nil), reply.Data()...)
}

func (c *call) nodeInfo(to getopt.PortID) (*mad.NodeInfo, error) {
	var node mad.NodeInfo
	if c.get(to, &node, 0) == nil {
		return nil, &failure{"get_node_info", "smp query nodeinfo failed"}
	}
	return &node, nil
}

// readPort reads PortInfo, on a switch also port 0's PortInfo, which has the
// capabilities.
func (c *call) readPort(p *reading) error {
	if p.isSwitch && c.get(p.to, &p.caps, 0) == nil {
		return &failure{"get_port_info", "smp query port 0 portinfo failed"}
	}
	if p.data = c.get(p.to, &p.info, p.number); p.data == nil {
		return &failure{"get_port_info", "smp query portinfo failed"}
	}
	if !p.isSwitch {
		p.caps = p.info
	}
	return nil
}

// readExtended reads NVIDIA's ExtendedPortInfo on devices that have it.
func (c *call) readExtended(p *reading, node *mad.NodeInfo) error {
	if c.NoExtendedPortInfo() || !fabric.HasExtendedPortInfo(node) {
		return nil
	}
	p.hasExt = true
	if p.extData = c.get(p.to, &p.ext, p.number); p.extData == nil {
		return &failure{"get_mlnx_ext_port_info", "smp query ext portinfo failed"}
	}
	return nil
}

// show prints the PortInfo fields.
func (c *call) show(p *reading) error {
	names := []string{
		"LinkState", "PhysLinkState", "Lid", "SMLid", "LMC", "LinkWidthSupported", "LinkWidthEnabled", "LinkWidthActive",
		"LinkSpeedSupported", "LinkSpeedEnabled", "LinkSpeedActive",
	}
	if p.extendedSpeeds() {
		names = append(names, "LinkSpeedExtSupported", "LinkSpeedExtEnabled", "LinkSpeedExtActive")
	}
	if p.extendedSpeeds2() {
		names = append(names, "LinkSpeedExtSupported2", "LinkSpeedExtEnabled2", "LinkSpeedExtActive2")
	}
	if !p.isSwitch || p.number == 0 {
		names = append(names, "Mkey", "MkeyLeasePeriod", "ProtectBits")
	}
	fmt.Fprintf(c.out, "# Port info: %s port %d\n", p.to.Text, p.number)
	return portdump.WriteFields(c.out, &p.info, names, c.ShowKeys)
}

func (c *call) showExtended(p *reading) error {
	fmt.Fprintf(c.out, "# MLNX ext Port info: %s port %d\n", p.to.Text, p.number)
	return mad.Dump(c.out, &p.ext)
}
