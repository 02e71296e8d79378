package sim

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
)

// platform are the faults of a switch's fans and power supplies.
type platform struct {
	rpm    map[uint8]uint16 // by tachometer, other than fanRPM
	lost   [2]bool          // power supplies without power
	narrow bool             // half of the PCI Express lanes, with errors
}

const (
	fanCount = 7
	fanRPM   = 9200

	supplyWatts = 210 // of each power supply, if both work
	asicHigh    = 105 // °C
)

// portNumber answers PLIB, which has a port number 0 for local ports without a port.
func portNumber(_ *Fabric, n *Node, request []byte) (mad.Attribute, register.AccessStatus) {
	var r register.PortNumber
	if mad.Decode(&r, request) != nil || int(r.LocalPort) > 2*len(n.Ports) {
		return nil, register.StatusBadParameter
	}
	r = register.PortNumber{LocalPort: r.LocalPort}
	if p := n.localPort(r.LocalPort); p != nil {
		r.Port = uint16(p.Number)
	}
	return &r, 0
}

// moduleStatus answers PMAOS.
func moduleStatus(_ *Fabric, n *Node, request []byte) (mad.Attribute, register.AccessStatus) {
	var r register.ModuleStatus
	if mad.Decode(&r, request) != nil {
		return nil, register.StatusBadParameter
	}
	r = register.ModuleStatus{Module: r.Module, Oper: 2, Admin: 1}
	if (cage{n, int(r.Module) + 1}).port() != nil {
		r.Oper = 1
	}
	return &r, 0
}

// sensorList answers MTCAP: the ASIC, and an ambient sensor on a switch.
func sensorList(_ *Fabric, n *Node, _ []byte) (mad.Attribute, register.AccessStatus) {
	if n.IsSwitch() {
		return &register.SensorList{Count: 2, Internal: 2, Map: 3}, 0
	}
	return &register.SensorList{Count: 1, Internal: 1, Map: 1}, 0
}

// sensor answers MTMP.
func sensor(_ *Fabric, n *Node, request []byte) (mad.Attribute, register.AccessStatus) {
	var r register.Sensor
	if mad.Decode(&r, request) != nil || r.Number > 1 || r.Number == 1 && !n.IsSwitch() {
		return nil, register.StatusBadParameter
	}
	c := cage{n, int(r.Number)}
	low, high, label := 50.0, 65.0, "asic"
	if r.Number == 1 {
		low, high, label = 24, 32, "ambient"
	}
	r.Temperature = register.Celsius8(c.between(low, high, 7) * 8)
	r.Highest = r.Temperature + 5*8
	r.High, r.Low = asicHigh*8, 0
	copy(r.Label[:], label)
	return &r, 0
}

// fans answers MFCR.
func fans(_ *Fabric, _ *Node, _ []byte) (mad.Attribute, register.AccessStatus) {
	return &register.Fans{Duty: 1, Low: 1<<fanCount - 1}, 0
}

// fanSpeed answers MFSM.
func fanSpeed(_ *Fabric, n *Node, request []byte) (mad.Attribute, register.AccessStatus) {
	var r register.FanSpeed
	if mad.Decode(&r, request) != nil || r.Tachometer >= fanCount {
		return nil, register.StatusBadParameter
	}
	r.RPM = fanRPM - uint16(r.Tachometer)*15
	if rpm, ok := n.vendor.platform.rpm[r.Tachometer]; ok {
		r.RPM = rpm
	}
	return &r, 0
}

// powerSupplies answers MSPS.
func powerSupplies(_ *Fabric, n *Node, _ []byte) (mad.Attribute, register.AccessStatus) {
	var r register.PowerSupplies
	for i := range r.Units {
		serial := fmt.Sprintf("MT26%08d", cage{n, 0}.random(uint64(40+i))%100_000_000)
		watts := uint32(supplyWatts)
		if n.vendor.platform.lost[i] {
			watts = 0
		} else if n.vendor.platform.lost[1-i] {
			watts *= 2
		}
		r.Units[i] = register.NewPowerSupply(watts, serial)
	}
	return &r, 0
}

// device answers MGIR.
func device(f *Fabric, n *Node, _ []byte) (mad.Attribute, register.AccessStatus) {
	general := f.generalInfo(n)
	r := &register.Device{
		DeviceID: n.Info.DeviceID, Revision: general.HWRevision, HardwareID: n.hardwareID(), Uptime: general.Uptime,
		PSID: general.PSID, Major: uint32(general.FWMajor), Minor: 1992 + uint32(general.FWMinor), SubMinor: 1024 + uint32(general.FWSubMinor),
	}
	return r, 0
}

// system answers MSGI.
func system(_ *Fabric, n *Node, _ []byte) (mad.Attribute, register.AccessStatus) {
	r := new(register.Product)
	copy(r.Serial[:], fmt.Sprintf("MT2601X%05d", cage{n, 0}.random(8)%100_000))
	copy(r.PartNumber[:], fmt.Sprintf("SIM-%d", n.Info.DeviceID))
	copy(r.Revision[:], "A1")
	copy(r.Product[:], fmt.Sprintf("Simulated device %d", n.Info.DeviceID))
	return r, 0
}

// registerList answers PCAM and MCAM with the registers that the firmware has.
func registerList(n *Node, id register.ID, request []byte) (mad.Attribute, register.AccessStatus) {
	r := register.NewPortRegisters()
	if id == register.IDMCAM {
		r = register.NewPlatformRegisters(0)
	}
	if mad.Decode(r, request) != nil {
		return nil, register.StatusBadParameter
	}
	all := *r
	all.Mask, r.Mask = [4]uint32{1, 1, 1, 1}, [4]uint32{}
	add := func(id register.ID) {
		if _, covered := all.Has(id); covered && n.hasRegister(id) {
			r.Add(id)
		}
	}
	add(id)
	for id := range registerAgents {
		add(id)
	}
	return r, 0
}
