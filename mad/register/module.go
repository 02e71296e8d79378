package register

import (
	"math"
	"strings"

	"github.com/ibkit/ibkit/mad"
)

// A Module describes the cable or module in a port's connector.
type Module struct {
	PageIndex
	Unit uint8 // unit of power, in a request and in some replies: 1 for microwatts

	Technology uint8 // transmitter; upper half SFF-8636, byte 147
	PowerClass uint8
	Identifier Identifier
	RawLength  uint8 // see Length
	Vendor     uint8
	Type       CableType

	VendorName [16]uint8
	PartNumber [16]uint8
	Revision   [4]uint8
	Firmware   uint32 // major, minor, and a build in 16 bits
	Serial     [16]uint8

	Temperature Celsius256
	Voltage     uint16 // 100 µV
	RxPower     [8]Power
	TxPower     [8]Power
	Bias        [8]uint16 // 2 µA · 2^BiasScale

	// Alarm limits in the same units, 0 for none.
	TemperatureHigh, TemperatureLow Celsius256
	VoltageHigh, VoltageLow         uint16
	RxHigh, RxLow, TxHigh, TxLow    Power
	BiasHigh, BiasLow               uint16

	BiasScale  uint8
	Wavelength uint16 // nm
	SMFLength  uint16 // longest single-mode fibre
	State      ModuleState
	DataPath   [8]DataPathState
	Date       [8]uint8 // year, month, day and lot, two characters each
	OUI        uint32

	noLight bool // the memory that has been read does not have light and temperature limits
}

// NewModule returns the request for a port's module, with power in microwatts.
func NewModule(p LocalPort) *Module {
	return &Module{PageIndex: PageIndex{p, pageModule}, Unit: 1}
}

// MarshalJSON writes the fields as an object; see package mad.
func (r Module) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *Module) Layout(c *mad.Codec) {
	r.layout(c)
	bits(c, &r.Unit, 0x04, 29, 2, "ModuleInfoExt")
	bits(c, &r.Technology, 0x08, 24, 8, "CableTechnology")
	bits(c, &r.PowerClass, 0x0c, 0, 8, "CablePowerClass")
	bits(c, &r.Identifier, 0x0c, 8, 8, "CableIdentifier")
	bits(c, &r.RawLength, 0x0c, 16, 8, "CableLength")
	bits(c, &r.Vendor, 0x0c, 24, 4, "CableVendor")
	bits(c, &r.Type, 0x0c, 28, 4, "CableType")
	text(c, r.VendorName[:], 0x1c, "VendorName")
	text(c, r.PartNumber[:], 0x2c, "VendorPn")
	text(c, r.Revision[:], 0x3c, "VendorRev")
	bits(c, &r.Firmware, 0x40, 0, 32, "FwVersion")
	text(c, r.Serial[:], 0x44, "VendorSn")
	r.monitors(c)
	bits(c, &r.Wavelength, 0x9c, 0, 16, "Wavelength")
	bits(c, &r.SMFLength, 0x9c, 16, 10, "SmfLength")
	bits(c, &r.State, 0x9c, 29, 3, "ModuleSt")
	bits(c, &r.BiasScale, 0xa0, 10, 2, "TxBiasScalingFactor")
	for i := range r.DataPath {
		bits(c, &r.DataPath[i], 0xa8, 28-4*i, 4, dataPathNames[i])
	}
	text(c, r.Date[:], 0xb8, "DateCode")
	bits(c, &r.OUI, 0xc0, 0, 24, "VendorOui")
}

// monitors declares the measured values and their limits.
func (r *Module) monitors(c *mad.Codec) {
	bits(c, &r.Temperature, 0x54, 16, 16, "Temperature")
	bits(c, &r.Voltage, 0x54, 0, 16, "Voltage")
	for i := range 8 {
		word, low := i/2*4, 16-i%2*16
		bits(c, &r.RxPower[i], 0x58+word, low, 16, rxPowerNames[i])
		bits(c, &r.TxPower[i], 0x68+word, low, 16, txPowerNames[i])
		bits(c, &r.Bias[i], 0x78+word, low, 16, biasNames[i])
	}
	bits(c, &r.TemperatureHigh, 0x88, 16, 16, "TemperatureHighTh")
	bits(c, &r.TemperatureLow, 0x88, 0, 16, "TemperatureLowTh")
	bits(c, &r.VoltageHigh, 0x8c, 16, 16, "VoltageHighTh")
	bits(c, &r.VoltageLow, 0x8c, 0, 16, "VoltageLowTh")
	bits(c, &r.RxHigh, 0x90, 16, 16, "RxPowerHighTh")
	bits(c, &r.RxLow, 0x90, 0, 16, "RxPowerLowTh")
	bits(c, &r.TxHigh, 0x94, 16, 16, "TxPowerHighTh")
	bits(c, &r.TxLow, 0x94, 0, 16, "TxPowerLowTh")
	bits(c, &r.BiasHigh, 0x98, 16, 16, "TxBiasHighTh")
	bits(c, &r.BiasLow, 0x98, 0, 16, "TxBiasLowTh")
}

// perLane returns the names of a field on lanes 0 to 7.
func perLane(name string) (names [8]string) {
	for i := range names {
		names[i] = name + string(rune('0'+i))
	}
	return names
}

var (
	rxPowerNames  = perLane("RxPowerLane")
	txPowerNames  = perLane("TxPowerLane")
	biasNames     = perLane("TxBiasLane")
	dataPathNames = perLane("DpStLane")
)

// HasModule reports whether a cable or module is in the connector.
func (r *Module) HasModule() bool { return r.Type != CableUnplugged }

// IsEmpty reports whether the firmware has not filled in the module: no module is a type of
// its own.
func (r *Module) IsEmpty() bool {
	return r.Type == 0 && r.Identifier == 0 && Clean(r.VendorName[:])+Clean(r.PartNumber[:])+Clean(r.Serial[:]) == ""
}

// IsOptical reports whether light leaves the port's connector or runs in its cable, so that
// power per lane has a meaning.
func (r *Module) IsOptical() bool {
	return !r.noLight && (r.Type == CableActive || r.Type == CableOptical || r.Type >= 6)
}

// Length returns the cable's length in metres, 0 if it is unknown: modules and old cables
// do not have it.
func (r *Module) Length() float64 {
	if !r.Identifier.IsCMIS() {
		return float64(r.RawLength)
	}
	return float64(r.RawLength&0x3f) * []float64{0.1, 1, 10, 100}[r.RawLength>>6]
}

// InMicrowatts reports the unit of power: microwatts, or dBm on firmware that ignores
// the unit in the request. The limits show it: -40 to 20 dBm would be below 21 µW or above
// 65 mW, neither of which is the highest power of a receiver or transmitter.
func (r *Module) InMicrowatts() bool {
	for _, high := range []Power{r.RxHigh, r.TxHigh} {
		if high != 0 {
			return int16(high) < -40 || int16(high) > 20
		}
	}
	return true
}

// DBm returns power in dBm. It returns false for no light, which has no logarithm.
func (r *Module) DBm(p Power) (float64, bool) {
	switch {
	case !r.InMicrowatts():
		return float64(int16(p)), true
	case p == 0:
		return 0, false
	}
	return 10 * math.Log10(float64(p)/1000), true
}

// Milliamperes returns a bias current.
func (r *Module) Milliamperes(bias uint16) float64 {
	return float64(bias) * float64(int(1)<<r.BiasScale) / 500
}

// Power is optical power in microwatts or, signed, in dBm: see [Module.InMicrowatts].
type Power uint16

// Celsius256 is a signed temperature in 1/256 °C.
type Celsius256 uint16

// Celsius returns the temperature in °C.
func (t Celsius256) Celsius() float64 { return float64(int16(t)) / 256 }

// Clean returns a module's text without padding.
func Clean(text []uint8) string {
	s := make([]byte, 0, len(text))
	for _, b := range text {
		if b == 0 {
			break
		}
		if b < ' ' || b > '~' {
			b = ' '
		}
		s = append(s, b)
	}
	return strings.TrimSpace(string(s))
}
