package register

import (
	"strconv"

	"github.com/ibkit/ibkit/mad"
)

// A ModuleCount is the number of module connectors of a device.
type ModuleCount struct {
	Devices uint8
	Modules uint8
	Slots   uint8
}

// Part returns the register's number.
func (*ModuleCount) Part() Part { return Part{ID: IDMGPIR} }

// Spec returns the register's spec.
func (*ModuleCount) Spec() mad.Spec { return spec(0xa0) }

// MarshalJSON writes the fields as an object; see package mad.
func (r ModuleCount) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *ModuleCount) Layout(c *mad.Codec) {
	bits(c, &r.Devices, 0x00, 0, 8, "NumOfDevices")
	bits(c, &r.Modules, 0x04, 0, 8, "NumOfModules")
	bits(c, &r.Slots, 0x04, 8, 8, "NumOfSlots")
}

// FirstModuleSensor is the sensor number of the first module.
const FirstModuleSensor = 64

// TemperatureRecords is the number of sensors in [Temperatures].
const TemperatureRecords = 64

// Temperatures are the values of consecutive sensors.
type Temperatures struct {
	First   uint16 // sensor, 12 bits
	Count   uint8  // at most TemperatureRecords
	Records [TemperatureRecords]TemperatureRecord
}

// A TemperatureRecord is a sensor's value, and its highest value if the device keeps it.
type TemperatureRecord struct {
	Temperature, Highest Celsius8
}

// Part returns the register's number and index.
func (r *Temperatures) Part() Part { return Part{IDMTBR, [2]uint16{r.First, uint16(r.Count)}} }

// Spec returns the register's spec, without further records.
func (*Temperatures) Spec() mad.Spec { return spec(0x10 + 4*TemperatureRecords) }

// MarshalJSON writes the fields as an object; see package mad.
func (r Temperatures) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *Temperatures) Layout(c *mad.Codec) {
	bits(c, &r.First, 0x00, 0, 12, "BaseSensorIndex")
	bits(c, &r.Count, 0x04, 0, 8, "NumRec")
	for i := range r.Records {
		bits(c, &r.Records[i].Temperature, 0x10+4*i, 0, 16, recordNames[i].temperature)
		bits(c, &r.Records[i].Highest, 0x10+4*i, 16, 16, recordNames[i].highest)
	}
}

var recordNames = func() (names [TemperatureRecords]struct{ temperature, highest string }) {
	for i := range names {
		names[i].temperature, names[i].highest = "Temperature"+strconv.Itoa(i), "MaxTemperature"+strconv.Itoa(i)
	}
	return names
}()

// FanLimits are the limits of a tachometer's speed.
type FanLimits struct {
	Tachometer uint8 // 4 bits
	Low, High  uint16
}

// Part returns the register's number and index.
func (r *FanLimits) Part() Part { return Part{IDMFSL, r.Tachometer} }

// Spec returns the register's spec.
func (*FanLimits) Spec() mad.Spec { return spec(0x0c) }

// MarshalJSON writes the fields as an object; see package mad.
func (r FanLimits) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *FanLimits) Layout(c *mad.Codec) {
	bits(c, &r.Tachometer, 0x00, 24, 4, "Tacho")
	bits(c, &r.Low, 0x04, 0, 16, "TachMin")
	bits(c, &r.High, 0x08, 0, 16, "TachMax")
}
