package sim

import (
	"fmt"
	"io"

	"github.com/ibkit/ibkit/mad/register"
)

// An OpticsFault is a fault of a port's connector.
type OpticsFault string

// The faults.
const (
	DirtyFibre OpticsFault = "dirty" // little light arrives at the port
	HotModule  OpticsFault = "hot"   // the module is above its temperature limit
	DarkLane   OpticsFault = "dark"  // no light leaves the port's first lane
	NoFault    OpticsFault = "ok"
)

// SetOptics adds a fault to a port's connector, or removes all faults.
func (p *Port) SetOptics(fault OpticsFault) {
	switch fault {
	case DirtyFibre:
		p.optics.dirty = true
	case HotModule:
		p.optics.hot = true
	case DarkLane:
		p.optics.dark = true
	default:
		p.optics = optics{}
	}
}

// parseOptics parses "optics PORT FAULT".
func parseOptics(f *Fabric, l *eventLine) (action, error) {
	p, err := l.port(f)
	if err != nil {
		return nil, err
	}
	l.Blanks()
	for _, fault := range []OpticsFault{DirtyFibre, HotModule, DarkLane, NoFault} {
		if l.Accept(string(fault)) {
			return func(*Fabric, io.Writer) error {
				p.SetOptics(fault)
				return nil
			}, nil
		}
	}
	return nil, l.Expected("dirty, hot, dark or ok")
}

// SetModuleFirmware sets the firmware version of the module in a port's connector.
func (p *Port) SetModuleFirmware(major, minor uint8, build uint16) {
	p.optics.firmware = uint32(major)<<24 | uint32(minor)<<16 | uint32(build)
}

// parseModuleFirmware parses "module PORT MAJOR MINOR BUILD".
func parseModuleFirmware(f *Fabric, l *eventLine) (action, error) {
	p, err := l.port(f)
	if err != nil {
		return nil, err
	}
	var version [3]uint64
	for i, limit := range []uint64{1<<8 - 1, 1<<8 - 1, 1<<16 - 1} {
		if version[i], err = l.integer("a part of the version", limit); err != nil {
			return nil, err
		}
	}
	return func(*Fabric, io.Writer) error {
		p.SetModuleFirmware(uint8(version[0]), uint8(version[1]), uint16(version[2]))
		return nil
	}, nil
}

// parseFan parses "fan SWITCH NUMBER RPM".
func parseFan(f *Fabric, l *eventLine) (action, error) {
	n, err := l.switchNode(f)
	if err != nil {
		return nil, err
	}
	fan, err := l.integer("a fan", fanCount-1)
	if err != nil {
		return nil, err
	}
	rpm, err := l.integer("a speed in rpm", 1<<16-1)
	return n.withVendor(func() { n.SetFan(uint8(fan), uint16(rpm)) }), err
}

// withVendor returns an action that requires the vendor agent.
func (n *Node) withVendor(do func()) action {
	return func(*Fabric, io.Writer) error {
		if n.vendor == nil {
			return errNoVendorAgent
		}
		do()
		return nil
	}
}

// SetFan sets a fan's speed. A node without a vendor agent has no fans.
func (n *Node) SetFan(number uint8, rpm uint16) {
	if n.vendor == nil {
		return
	}
	if n.vendor.platform.rpm == nil {
		n.vendor.platform.rpm = map[uint8]uint16{}
	}
	n.vendor.platform.rpm[number] = rpm
}

// parsePowerSupply parses "psu SWITCH NUMBER [off]".
func parsePowerSupply(f *Fabric, l *eventLine) (action, error) {
	n, err := l.switchNode(f)
	if err != nil {
		return nil, err
	}
	number, err := l.integer("a power supply", 1)
	if err != nil {
		return nil, err
	}
	on, err := l.on()
	return n.withVendor(func() { n.SetPowerSupply(uint8(number), on) }), err
}

// SetPowerSupply turns a power supply on or off. A node without a vendor agent has none.
func (n *Node) SetPowerSupply(number uint8, on bool) {
	if n.vendor != nil {
		n.vendor.platform.lost[number] = !on
	}
}

// parsePCIe parses "pcie NODE narrow|ok".
func parsePCIe(f *Fabric, l *eventLine) (action, error) {
	n, err := l.node(f)
	if err != nil {
		return nil, err
	}
	l.Blanks()
	narrow := l.Accept("narrow")
	if !narrow && !l.Accept("ok") {
		return nil, l.Expected("narrow or ok")
	}
	return n.withVendor(func() { n.vendor.platform.narrow = narrow }), nil
}

// parseRegisters parses "registers NODE|all old|smp|new|ID", which takes [register.Block], the
// vendor class or a register from the firmware, or gives back all.
func parseRegisters(f *Fabric, l *eventLine) (action, error) {
	nodes, err := l.nodes(f)
	if err != nil {
		return nil, err
	}
	l.Blanks()
	change := func(v *vendorAgent) { v.refused, v.oldCarriers, v.managementOnly = nil, false, false }
	switch {
	case l.Accept("new"):
	case l.Accept("smp"):
		change = func(v *vendorAgent) { v.managementOnly = true }
	case l.Accept("old"):
		change = func(v *vendorAgent) { v.oldCarriers = true }
	default:
		id, err := l.integer("old, smp, new, or a register to reject", 1<<16-1)
		if err != nil {
			return nil, err
		}
		change = func(v *vendorAgent) {
			if v.refused == nil {
				v.refused = map[register.ID]bool{}
			}
			v.refused[register.ID(id)] = true
		}
	}
	return func(*Fabric, io.Writer) error {
		for _, n := range nodes {
			if n.vendor == nil {
				return fmt.Errorf("%s: %w", n.ID, errNoVendorAgent)
			}
			change(n.vendor)
		}
		return nil
	}, nil
}
