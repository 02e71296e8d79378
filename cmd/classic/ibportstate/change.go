package ibportstate

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// operations are the operations without a value.
var operations = []string{"query", "enable", "reset", "disable", "down", "arm", "active", "on", "off"}

// A setting is an operation with a value.
type setting struct {
	name     string
	min, max uint64
	or       uint64 // a valid value above max; 0: none
	invalid  string // the error for other values
}

var settings = []setting{
	{name: "speed", max: 15, invalid: "invalid speed value %d"},
	{name: "espeed", max: 63, invalid: "invalid extended speed value %d"}, // 31 in the C tool, which cannot set XDR
	{name: "fdr10", max: 1, invalid: "invalid fdr10 speed value %d"},
	{name: "width", max: 31, or: 255, invalid: "invalid width value %d"},
	{name: "vls", min: 1, max: 5, invalid: "invalid vls value %d"},
	{name: "mtu", min: 1, max: 5, invalid: "invalid mtu value %d"},
	{name: "lid", min: 1, max: 0xbfff, invalid: "invalid lid value 0x%x"},
	{name: "smlid", min: 1, max: 0xbfff, invalid: "invalid smlid value 0x%x"},
	{name: "lmc", max: 7, invalid: "invalid lmc value %d"},
	{name: "mkey", max: 1<<64 - 1},
	{name: "mkeylease", max: 0xffff, invalid: "invalid mkey lease time %d"},
	{name: "mkeyprot", max: 3, invalid: "invalid mkey protection bit setting %d"},
}

// A change is what the operations select.
type change struct {
	operation string // "": query
	values    map[string]uint64
}

func (c *change) isQuery() bool {
	return (c.operation == "" || c.operation == "query") && len(c.values) == 0
}

// has reports whether any named setting is given.
func (c *change) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := c.values[name]; return ok })
}

// parse parses the operations.
func (c *call) parse(words []string) error {
	c.change.values = map[string]uint64{}
	for i := 0; i < len(words); i++ {
		word := words[i]
		if slices.Contains(operations, word) {
			if c.change.operation != "" {
				return &failure{"main", word + " only one of: query, enable, disable, reset, down, arm, active, can be specified"}
			}
			c.change.operation = word
			continue
		}
		at := slices.IndexFunc(settings, func(s setting) bool { return s.name == word })
		if at < 0 {
			return &failure{"main", "invalid operation: " + word}
		}
		if i++; i == len(words) {
			return &failure{"main", word + " requires an additional parameter"}
		}
		v, err := c.value(&settings[at], words[i])
		if err != nil {
			return err
		}
		c.change.values[word] = v
	}
	return nil
}

// value parses a setting's value. A new M_Key that is not a number is prompted for.
func (c *call) value(s *setting, text string) (uint64, error) {
	if s.name == "mkey" {
		key, err := fabricflag.ReadClassicKey(c.ctx, c.Env, "New M_Key", text)
		return uint64(key), err
	}
	v := getopt.Strtoull(text)
	if (v < s.min || v > s.max) && (s.or == 0 || v != s.or) {
		return 0, &failure{"main", fmt.Sprintf(s.invalid, v)}
	}
	return v, nil
}

// set carries out the change.
func (c *call) set(p *reading) error {
	i := p.info
	// An agent may reject a Set with an invalid LID, which a port has before a subnet
	// manager assigns one. The C tool has this substitute.
	const substitute = 0x1234
	for _, lid := range []*ib.LID{&i.LID, &i.SMLID} {
		if *lid == 0 || *lid == ib.PermissiveLID {
			*lid = substitute
		}
	}
	before := i.PhysState
	i.State, i.PhysState = ib.PortNoChange, ib.PhysNoChange
	switch c.change.operation {
	case "on", "enable", "reset":
		if c.change.operation == "on" && before != ib.PhysDisabled {
			fmt.Fprintln(c.out, "Port is already in enable state")
			return nil
		}
		i.PhysState = ib.PhysPolling
	case "off", "disable":
		fmt.Fprintln(c.out, "Disable may be irreversible")
		i.PhysState = ib.PhysDisabled
	case "down":
		i.State = ib.PortDown
	case "arm":
		i.State = ib.PortArmed
	case "active":
		i.State = ib.PortActive
	}
	v := c.change.values
	i.LinkSpeedEnabled = mad.LinkSpeed(v["speed"]) // 0: no change
	i.LinkSpeedExtEnabled, i.LinkSpeedExt2Enabled = mad.LinkSpeedExt(v["espeed"]&31), mad.LinkSpeedExt2(v["espeed"]>>5)
	i.LinkWidthEnabled = ib.LinkWidth(v["width"])
	for name, set := range map[string]func(v uint64){
		"vls":       func(v uint64) { i.OperVLs = ib.VLCap(v) },
		"mtu":       func(v uint64) { i.NeighborMTU = ib.MTU(v) },
		"lid":       func(v uint64) { i.LID = ib.LID(v) },
		"smlid":     func(v uint64) { i.SMLID = ib.LID(v) },
		"lmc":       func(v uint64) { i.LMC = uint8(v) },
		"mkey":      func(v uint64) { i.MKey = mad.Key(v) },
		"mkeylease": func(v uint64) { i.MKeyLeasePeriod = uint16(v) },
		"mkeyprot":  func(v uint64) { i.MKeyProtect = uint8(v) },
	} {
		if value, ok := v[name]; ok {
			set(value)
		}
	}
	if c.change.has("fdr10") {
		if err := c.setExtended(p); err != nil {
			return err
		}
	}
	modifier := uint32(c.number)
	if p.extendedSpeeds() || p.extendedSpeeds2() {
		modifier |= 1 << 31
	}
	data := append([]byte(nil), p.data...)
	if err := mad.Update(&i, data); err != nil {
		return err
	}
	if p.data = c.send(p.to, &p.info, modifier, data); p.data == nil {
		return &failure{"set_port_info", "smp set portinfo failed"}
	}
	fmt.Fprint(c.out, "\nAfter PortInfo set:\n")
	return c.show(p)
}

// setExtended enables or disables FDR10.
func (c *call) setExtended(p *reading) error {
	ext := p.ext
	const fdr10 = 1
	ext.StateChangeEnable, ext.LinkSpeedEnabled = fdr10, mad.MlnxLinkSpeed(c.change.values["fdr10"])
	data := make([]byte, mad.DataSize)
	copy(data, p.extData)
	if err := mad.Update(&ext, data); err != nil {
		return err
	}
	if p.extData = c.send(p.to, &p.ext, uint32(c.number), data); p.extData == nil {
		return &failure{"set_mlnx_ext_port_info", "smp set MLNX ext portinfo failed"}
	}
	fmt.Fprint(c.out, "\nAfter MLNXExtendedPortInfo set:\n")
	return c.showExtended(p)
}

// send sends a Set to the port that was read before, decodes the reply into a, and returns its
// data, nil if it failed.
func (c *call) send(to getopt.PortID, a mad.Attribute, modifier uint32, data []byte) []byte {
	reply, err := c.Call(c.ctx, c.client, getopt.MadRPC, to, &umad.Request{Method: mad.MethodSet, Value: a, Modifier: modifier, Data: data, Expect: c.port})
	if err != nil {
		return nil
	}
	return append([]byte(nil), reply.Data()...)
}
