package ibccconfig

import (
	"errors"
	"math"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Values with more bits than their field are cut, as in the C tool.

func (c *call) setKey(operands []string) error {
	if len(operands) != 4 {
		return errors.New("invalid number of parameters for CongestionKeyInfo")
	}
	key, err := parse(operands[0])
	if err != nil {
		return err
	}
	v, err := parseAll(operands[1:])
	switch {
	case err != nil:
		return err
	case v[0] > 1:
		return errors.New("invalid cc_keyprotectbit value")
	case v[1] > math.MaxUint16:
		return errors.New("invalid cc_keyleaseperiod value")
	case v[2] > math.MaxUint16:
		return errors.New("invalid cc_keyviolations value")
	}
	return c.set(&mad.CongestionKeyInfo{Key: mad.Key(key), ProtectBit: uint8(v[0]), LeasePeriod: uint16(v[1]), Violations: uint16(v[2])}, 0, "congestion key info")
}

func (c *call) switchSetting(operands []string) error {
	if len(operands) != 8 {
		return errors.New("invalid number of parameters for SwitchCongestionSetting")
	}
	var a mad.SwitchCongestionSetting
	v, err := parseAll(operands[:1])
	if err != nil {
		return err
	}
	a.ControlMap = v[0]
	for i, mask := range []*mad.PortMask{&a.VictimMask, &a.CreditMask} {
		if *mask, err = parseMask(operands[1+i]); err != nil {
			return err
		}
	}
	if v, err = parseAll(operands[3:6]); err != nil {
		return err
	}
	a.Threshold, a.PacketSize, a.CSThreshold = uint8(v[0])&0xf, uint8(v[1]), uint8(v[2])&0xf
	shift, multiplier, err := parseEntry(operands[6])
	if err != nil {
		return err
	}
	a.CSReturnDelay = uint16(multiplier | shift<<14)
	if v, err = parseAll(operands[7:]); err != nil {
		return err
	}
	a.MarkingRate = uint16(v[0])
	return c.set(&a, 0, "switch congestion setting")
}

// switchPort changes a single port's setting in a port block.
func (c *call) switchPort(operands []string) error {
	if len(operands) != 6 {
		return errors.New("invalid number of parameters for SwitchPortCongestion")
	}
	v, err := parseAll(operands)
	if err != nil {
		return err
	}
	var node mad.NodeInfo
	_, err = c.Call(c.ctx, c.client, getopt.MadRPC, c.to, &umad.Request{Value: &node})
	switch {
	case err != nil:
		return errors.New("node info config failed")
	case !node.IsSwitch():
		return errors.New("destination not a switch")
	case v[0] > uint32(node.NumPorts):
		return errors.New("invalid port number specified")
	}
	var a mad.SwitchPortCongestionSetting
	// The C tool writes the block portnum/48, which for ports from 32 on is not the block
	// that it read.
	block := v[0] / uint32(len(a.Ports))
	data := c.send(mad.MethodGet, &a, block, nil)
	if data == nil || mad.Decode(&a, data) != nil {
		return errors.New("switch port congestion setting query failed")
	}
	a.Ports[v[0]%uint32(len(a.Ports))] = mad.PortCongestionSetting{
		Valid: uint8(v[1]) & 1, ControlType: uint8(v[2]) & 1, Threshold: uint8(v[3]) & 0xf, PacketSize: uint8(v[4]), Parameter: uint16(v[5]),
	}
	return c.set(&a, block, "switch port congestion setting")
}

func (c *call) adapter(operands []string) error {
	if len(operands) != 6 {
		return errors.New("invalid number of parameters for CACongestionSetting")
	}
	v, err := parseAll(operands)
	if err != nil {
		return err
	}
	a := mad.CACongestionSetting{PortControl: uint16(v[0]), ControlMap: uint16(v[1])}
	for sl := range a.SLs {
		if v[1]>>sl&1 != 0 {
			a.SLs[sl] = mad.SLCongestionSetting{Timer: uint16(v[2]), Increase: uint8(v[3]), TriggerThreshold: uint8(v[4]), Min: uint8(v[5])}
		}
	}
	return c.set(&a, 0, "ca congestion setting")
}

func (c *call) table(operands []string) error {
	var a mad.CongestionControlTable
	if len(operands) < 2 || len(operands) > 2+len(a.Entries) {
		return errors.New("invalid number of parameters for CongestionControlTable")
	}
	v, err := parseAll(operands[:2])
	if err != nil {
		return err
	}
	limit, block, entries := v[0], v[1], operands[2:]
	if limit != 0 && limit+1 != block*uint32(len(a.Entries))+uint32(len(entries)) {
		return errors.New("invalid number of cct entries input given ccti_limit and index")
	}
	a.Limit = uint16(limit)
	for i, entry := range entries {
		shift, multiplier, err := parseEntry(entry)
		if err != nil {
			return err
		}
		a.Entries[i] = mad.CongestionControlEntry{Shift: uint8(shift) & 3, Multiplier: uint16(multiplier) & 0x3fff}
	}
	return c.set(&a, block, "congestion control table")
}
