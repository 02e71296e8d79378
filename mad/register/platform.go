package register

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// A SensorList has the temperature sensors of a device.
type SensorList struct {
	Count    uint8 // 7 bits
	Internal uint8
	Map      uint64 // bit set of sensor numbers
}

// Part returns the register's number.
func (*SensorList) Part() Part { return Part{ID: IDMTCAP} }

// Spec returns the register's spec.
func (*SensorList) Spec() mad.Spec { return spec(0x10) }

// MarshalJSON writes the fields as an object; see package mad.
func (r SensorList) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *SensorList) Layout(c *mad.Codec) {
	bits(c, &r.Count, 0x00, 0, 7, "SensorCount")
	bits(c, &r.Internal, 0x04, 0, 8, "InternalSensorCount")
	count(c, &r.Map, 0x08, "SensorMap")
}

// A Sensor is a temperature sensor: 0 is the ASIC, 64 and above are modules, 256 and above
// are gearboxes.
type Sensor struct {
	Number      uint16 // 12 bits
	Temperature Celsius8
	Highest     Celsius8 // since the device started, if it counts it
	High, Low   Celsius8 // limits, 0 for none
	Label       [8]uint8
}

// Part returns the register's number and index.
func (r *Sensor) Part() Part { return Part{IDMTMP, r.Number} }

// Spec returns the register's spec.
func (*Sensor) Spec() mad.Spec { return spec(0x20) }

// MarshalJSON writes the fields as an object; see package mad.
func (r Sensor) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *Sensor) Layout(c *mad.Codec) {
	bits(c, &r.Number, 0x00, 0, 12, "SensorIndex")
	bits(c, &r.Temperature, 0x04, 0, 16, "Temperature")
	bits(c, &r.Highest, 0x08, 0, 16, "MaxTemperature")
	bits(c, &r.High, 0x0c, 0, 16, "TemperatureThresholdHi")
	bits(c, &r.Low, 0x10, 0, 16, "TemperatureThresholdLo")
	text(c, r.Label[:], 0x18, "SensorName")
}

// Celsius8 is a signed temperature in 1/8 °C.
type Celsius8 uint16

// Celsius returns the temperature in °C.
func (t Celsius8) Celsius() float64 { return float64(int16(t)) / 8 }

// Fans are the fans of a switch, as a bit set of tachometers.
type Fans struct {
	Duty uint8  // bit set of controlled fans
	Low  uint16 // tachometers 0 to 9
	High uint8  // tachometers 10 to 15
}

// Part returns the register's number.
func (*Fans) Part() Part { return Part{ID: IDMFCR} }

// Spec returns the register's spec.
func (*Fans) Spec() mad.Spec { return spec(0x08) }

// MarshalJSON writes the fields as an object; see package mad.
func (r Fans) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *Fans) Layout(c *mad.Codec) {
	bits(c, &r.Duty, 0x04, 0, 5, "PwmActive")
	bits(c, &r.Low, 0x04, 16, 10, "TachoActive")
	bits(c, &r.High, 0x04, 26, 6, "TachoActiveMsb")
}

// Tachometers returns the numbers of the tachometers.
func (r *Fans) Tachometers() []uint8 {
	var list []uint8
	for i := range uint8(16) {
		if (uint32(r.High)<<10|uint32(r.Low))>>i&1 != 0 {
			list = append(list, i)
		}
	}
	return list
}

// A FanSpeed is a tachometer's value.
type FanSpeed struct {
	Tachometer uint8 // 4 bits
	RPM        uint16
}

// Part returns the register's number and index.
func (r *FanSpeed) Part() Part { return Part{IDMFSM, r.Tachometer} }

// Spec returns the register's spec.
func (*FanSpeed) Spec() mad.Spec { return spec(0x08) }

// MarshalJSON writes the fields as an object; see package mad.
func (r FanSpeed) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *FanSpeed) Layout(c *mad.Codec) {
	bits(c, &r.Tachometer, 0x00, 24, 4, "Tacho")
	bits(c, &r.RPM, 0x04, 0, 16, "Rpm")
}

// PowerSupplies are the two power supplies of a switch. NVIDIA does not document the words:
// see [PowerSupply].
type PowerSupplies struct {
	Units [2]PowerSupply
}

// Part returns the register's number.
func (*PowerSupplies) Part() Part { return Part{ID: IDMSPS} }

// Spec returns the register's spec.
func (*PowerSupplies) Spec() mad.Spec { return spec(0xa0) }

// MarshalJSON writes the fields as an object; see package mad.
func (r PowerSupplies) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *PowerSupplies) Layout(c *mad.Codec) {
	mad.Array(c, r.Units[0][:], 0, 32, "Psu0", mad.HexLines)
	mad.Array(c, r.Units[1][:], 0x50*8, 32, "Psu1", mad.HexLines)
}

// A PowerSupply is a supply's words. The meaning of the words is a guess by ibswinfo
// (Stanford Research Computing), from unmanaged switches.
type PowerSupply [20]uint32

const (
	supplyPresent = 5 // top 4 bits of word 0
	supplyDCGood  = 1 // bits 4 to 7 of word 0
	supplyFanGood = 2 // bits 0 to 3 of word 1
	supplyNoFan   = 3
	supplyPower   = 1 << 31 // in word 2: the other bits are watts
	supplySerial  = 4       // words
)

// IsPresent reports whether a supply is in its bay.
func (p *PowerSupply) IsPresent() bool { return p[0]>>28 == supplyPresent }

// IsGood reports whether its output is good.
func (p *PowerSupply) IsGood() bool { return p[0]>>4&0xf == supplyDCGood }

// FanIsGood reports whether its fan is good. It is unknown on managed switches.
func (p *PowerSupply) FanIsGood() (good, known bool) {
	state := p[1] & 0xf
	return state == supplyFanGood, state != supplyNoFan
}

// Watts returns the power, 0 if it is unknown.
func (p *PowerSupply) Watts() uint32 { return p[2] &^ supplyPower }

// Serial returns the serial number.
func (p *PowerSupply) Serial() string { return words(p[supplySerial : supplySerial+3]) }

// SetSerial stores up to 12 characters.
func (p *PowerSupply) SetSerial(s string) {
	for i, c := range []byte(s[:min(len(s), 12)]) {
		p[supplySerial+i/4] |= uint32(c) << (24 - i%4*8)
	}
}

// NewPowerSupply returns the words of a supply, which is good if it has power.
func NewPowerSupply(watts uint32, serial string) PowerSupply {
	p := PowerSupply{supplyPresent << 28}
	if watts > 0 {
		p[0], p[1], p[2] = p[0]|supplyDCGood<<4, supplyFanGood, supplyPower|watts
	}
	p.SetSerial(serial)
	return p
}

// words returns the text in words.
func words(list []uint32) string {
	var b []uint8
	for _, w := range list {
		b = append(b, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
	}
	return Clean(b)
}

// A Device identifies a device's hardware and firmware.
type Device struct {
	DeviceID               uint16
	Revision               uint16
	HardwareID             uint16
	Uptime                 uint32    // seconds
	PSID                   [16]uint8 // identifies the board
	Major, Minor, SubMinor uint32    // firmware
}

// Part returns the register's number.
func (*Device) Part() Part { return Part{ID: IDMGIR} }

// Spec returns the register's spec.
func (*Device) Spec() mad.Spec { return spec(0xa0) }

// MarshalJSON writes the fields as an object; see package mad.
func (r Device) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *Device) Layout(c *mad.Codec) {
	bits(c, &r.DeviceID, 0x00, 0, 16, "DeviceId")
	bits(c, &r.Revision, 0x00, 16, 16, "DeviceHwRevision")
	bits(c, &r.HardwareID, 0x08, 0, 16, "HwDevId")
	bits(c, &r.Uptime, 0x1c, 0, 32, "Uptime")
	text(c, r.PSID[:], 0x30, "Psid")
	bits(c, &r.Major, 0x44, 0, 32, "ExtendedMajor")
	bits(c, &r.Minor, 0x48, 0, 32, "ExtendedMinor")
	bits(c, &r.SubMinor, 0x4c, 0, 32, "ExtendedSubMinor")
}

// A Product identifies the product that contains a device.
type Product struct {
	Serial     [24]uint8
	PartNumber [20]uint8
	Revision   [4]uint8
	Product    [64]uint8
}

// Part returns the register's number.
func (*Product) Part() Part { return Part{ID: IDMSGI} }

// Spec returns the register's spec.
func (*Product) Spec() mad.Spec { return spec(0x80) }

// MarshalJSON writes the fields as an object; see package mad.
func (r Product) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *Product) Layout(c *mad.Codec) {
	text(c, r.Serial[:], 0x00, "SerialNumber")
	text(c, r.PartNumber[:], 0x20, "PartNumber")
	text(c, r.Revision[:], 0x38, "Revision")
	text(c, r.Product[:], 0x40, "ProductName")
}

// Version returns the firmware version as NVIDIA writes it.
func (r *Device) Version() string { return fmt.Sprintf("%d.%d.%d", r.Major, r.Minor, r.SubMinor) }
