package phy

import (
	"errors"
	"math"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/mad/register"
)

// errNotStored is the reason for a device that a file has no registers of.
var errNotStored = errors.New("not in the file")

// HasRegisters reports whether a file has values from registers.
func HasRegisters(d *ibdiagnet.Database) bool { return len(d.PHY) > 0 || len(d.Temperatures) > 0 }

// FromDatabase returns the registers in a file. It has no light and no counters.
func FromDatabase(d *ibdiagnet.Database, o Options) *Result {
	r := &Result{Options: o, Began: d.Created, Fabric: d.Fabric, byPort: map[*fabric.Port]*End{}, stored: true}
	r.addDevices()
	for _, device := range r.Devices {
		device.Missing = errNotStored
		if t, ok := d.Temperatures[device.Port.Node]; ok {
			sensor := &register.Sensor{Temperature: register.Celsius8(t * 8)}
			copy(sensor.Label[:], "asic")
			device.Sensors, device.Missing = append(device.Sensors, sensor), nil
		}
	}
	for _, e := range r.Ends {
		if stored := d.PHY[e.Port]; stored != nil {
			e.Module, e.Bits, e.Device.Missing = stored.Module, stored.Bits, nil
		}
	}
	r.find()
	return r
}

// Store adds the registers to a database for a file, as far as its sections have them.
func (r *Result) Store(d *ibdiagnet.Database) {
	d.PHY, d.Temperatures = map[*fabric.Port]*ibdiagnet.PHY{}, map[*fabric.Node]int{}
	for _, e := range r.Ends {
		if e.Module != nil || e.Bits != nil {
			d.PHY[e.Port] = &ibdiagnet.PHY{Module: e.Module, Bits: e.Bits}
		}
	}
	for _, device := range r.Devices {
		for _, s := range device.Sensors {
			if s.Number == 0 {
				d.Temperatures[device.Port.Node] = int(math.Round(s.Temperature.Celsius()))
			}
		}
	}
}
