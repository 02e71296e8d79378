package phy

import "github.com/ibkit/ibkit/mad/register"

// A ReportEye is a lane's eye opening, in units of the device.
type ReportEye struct {
	Lane    uint8  `json:"lane"`
	Initial uint16 `json:"initial"`
	Last    uint16 `json:"last"`
	Upper   uint16 `json:"upper"`
	Mid     uint16 `json:"mid"`
	Lower   uint16 `json:"lower"`
}

// reportEyes returns the lanes with a measurement, nil if eyes were not read.
func (e *End) reportEyes() []ReportEye {
	var list []ReportEye
	for _, eye := range e.Eyes {
		if eye.IsKnown() {
			list = append(list, ReportEye{eye.Lane, eye.Initial, eye.Last, eye.Upper, eye.Mid, eye.Lower})
		}
	}
	return list
}

// A ReportHeat is a module's temperature, by connector.
type ReportHeat struct {
	Module  int     `json:"module"` // from 1
	Celsius float64 `json:"celsius"`
	Highest float64 `json:"highest_celsius"`
}

// reportHeat returns the modules with a temperature: copper cables have none.
func (d *Device) reportHeat() []ReportHeat {
	list := []ReportHeat{}
	for _, h := range d.ModuleHeat {
		for i, t := range h.Records[:min(int(h.Count), len(h.Records))] {
			if t.Temperature != 0 {
				module := int(h.First) - register.FirstModuleSensor + i + 1
				list = append(list, ReportHeat{module, t.Temperature.Celsius(), t.Highest.Celsius()})
			}
		}
	}
	return list
}
