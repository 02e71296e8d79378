package sim

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad/register"
)

// module returns the report of the port's module, with power in microwatts.
func (p *Port) module() *register.Module {
	m := register.NewModule(p.local())
	c, _ := p.cage()
	m.Type = c.kind()
	m.Identifier, m.OUI = p.form(), 0x48b02d
	if m.Type == register.CableUnplugged {
		return m
	}
	owner := c.owner()
	m.Vendor, m.Firmware = 3, moduleFirmware
	if f := c.faults().firmware; f != 0 {
		m.Firmware = f
	}
	copy(m.VendorName[:], fmt.Sprintf("%-16s", "NVIDIA"))
	copy(m.PartNumber[:], fmt.Sprintf("%-16s", partNumber(m.Type, m.Identifier)))
	copy(m.Revision[:], "A2  ")
	copy(m.Serial[:], fmt.Sprintf("%-16s", fmt.Sprintf("MT2607%07d", owner.random(2)%10_000_000)))
	copy(m.Date[:], "260214  ")
	m.RawLength = rawLength(m, owner)
	if m.Type == register.CablePassive {
		m.Technology, m.Firmware = 0xa0, 0
		return m
	}
	m.State, m.Wavelength, m.SMFLength = register.ModuleReady, 1311, 500
	m.Technology, m.PowerClass = 0x60, 8
	p.monitor(m, c)
	return m
}

// moduleFirmware is 46.110.0000 of all modules.
const moduleFirmware = 46<<24 | 110<<16

// form returns the connector's form.
func (p *Port) form() register.Identifier {
	speeds := p.Info.SupportedSpeeds(&p.Info, nil)
	switch {
	case speeds&(ib.NDR|ib.XDR) != 0:
		return register.OSFP
	case speeds&ib.HDR != 0:
		return register.QSFPCMIS
	}
	return register.QSFP28
}

func partNumber(t register.CableType, form register.Identifier) string {
	name := map[register.CableType]string{
		register.CablePassive: "SIM-DAC", register.CableActive: "SIM-AOC", register.CableOptical: "SIM-SR8",
	}[t]
	return name + "-" + form.String()
}

// rawLength returns a cable's length as the module has it: modules without a fixed cable
// have none.
func rawLength(m *register.Module, owner cage) uint8 {
	metres := 1 + owner.random(4)%3
	switch {
	case m.Type == register.CableOptical:
		return 0
	case m.Type == register.CableActive:
		metres = 5 + owner.random(4)%25
	}
	if m.Identifier.IsCMIS() {
		return 1<<6 | uint8(metres)
	}
	return uint8(metres)
}

// monitor fills in the measured values and their limits.
func (p *Port) monitor(m *register.Module, c cage) {
	celsius := c.between(44, 56, 5)
	if c.faults().hot {
		celsius = 78.5
	}
	m.Temperature = register.Celsius256(celsius * 256)
	m.Voltage = uint16(c.between(32800, 33300, 6))
	m.TemperatureHigh, m.TemperatureLow = 75<<8, 0
	m.VoltageHigh, m.VoltageLow = 34650, 31350
	m.RxHigh, m.RxLow, m.TxHigh, m.TxLow = alarmPowerHigh, alarmPowerLow, alarmPowerHigh, alarmPowerLow
	m.BiasHigh, m.BiasLow = 6500, 1000
	for i := range c.node.Ports {
		other := &c.node.Ports[i]
		at, first := other.cage()
		if i == 0 || at != c || other.Peer == nil {
			continue
		}
		for lane := range other.lanes() {
			m.RxPower[first+lane] = register.Power(other.rxPower(lane))
			m.TxPower[first+lane] = register.Power(other.txPower(lane))
			m.DataPath[first+lane] = register.DataPathActive
			if !(other.optics.dark && lane == 0) {
				m.Bias[first+lane] = uint16(c.between(3600, 4200, uint64(30+first+lane)))
			}
		}
	}
}

// lanes returns the lanes that the port has in its module, at most 4.
func (p *Port) lanes() int { return min(p.Info.LinkWidthSupported.Max().Lanes(), 4) }

// flags returns the module's latched alarms.
func (p *Port) flags() *register.ModuleFlags {
	r := register.NewModuleFlags(p.local())
	m := p.module()
	if !m.IsOptical() {
		return r
	}
	if m.Temperature > m.TemperatureHigh {
		r.Temperature = 1
	}
	for lane := range 8 {
		if m.DataPath[lane] != register.DataPathActive {
			continue
		}
		if m.RxPower[lane] < m.RxLow {
			r.RxPowerLow |= 1 << lane
		}
		if m.RxPower[lane] == 0 {
			r.RxLOS |= 1 << lane
		}
		if m.TxPower[lane] == 0 {
			r.TxFault |= 1 << lane
		}
	}
	return r
}
