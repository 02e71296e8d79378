package phy

import (
	"errors"
	"slices"

	"github.com/ibkit/ibkit/mad/register"
)

// readDevice submits the requests for a device and its ports.
func (r *reader) readDevice(d *Device) {
	keep := func(reg register.Register, store func()) {
		r.get(d, reg, func(g *Gap) {
			if g != nil {
				d.Gaps = append(d.Gaps, *g)
				return
			}
			store()
		})
	}
	if d.IsSwitch() {
		if r.result.Switches && !d.neighbour {
			r.readPlatform(d, keep)
		}
		r.mapPorts(d, 1, min(len(d.Port.Node.Ports), maxLocalPort))
		return
	}
	if r.result.Switches && !d.neighbour {
		r.readPCIe(d, keep)
	}
	for _, e := range d.ends {
		e.Local = register.LocalPort(e.Port.Number)
		r.readEnd(e)
	}
}

// readPlatform submits the requests for a switch's temperatures, fans and power supplies.
func (r *reader) readPlatform(d *Device, keep func(register.Register, func())) {
	system, list := &register.Product{}, &register.SensorList{}
	keep(system, func() { d.System = system })
	keep(list, func() {
		for number := range uint16(64) {
			if list.Map>>number&1 != 0 {
				sensor := &register.Sensor{Number: number}
				keep(sensor, func() { d.Sensors = append(d.Sensors, sensor) })
			}
		}
	})
	fans, supplies := &register.Fans{}, &register.PowerSupplies{}
	keep(supplies, func() { d.Supplies = supplies })
	keep(fans, func() {
		for _, number := range fans.Tachometers() {
			speed := &register.FanSpeed{Tachometer: number}
			keep(speed, func() { d.Fans = append(d.Fans, speed) })
			limits := &register.FanLimits{Tachometer: number}
			keep(limits, func() { d.Limits[number] = limits })
		}
	})
	modules := &register.ModuleCount{}
	keep(modules, func() { r.readHeat(d, int(modules.Modules), keep) })
}

// readHeat submits the requests for the temperatures of all modules.
func (r *reader) readHeat(d *Device, modules int, keep func(register.Register, func())) {
	for first := 0; first < modules; first += register.TemperatureRecords {
		count := min(modules-first, register.TemperatureRecords)
		heat := &register.Temperatures{First: uint16(register.FirstModuleSensor + first), Count: uint8(count)}
		keep(heat, func() { d.ModuleHeat = append(d.ModuleHeat, heat) })
	}
}

// readPCIe submits the requests for an adapter's PCI Express link.
func (r *reader) readPCIe(d *Device, keep func(register.Register, func())) {
	link, counters := &register.PCIeLink{}, &register.PCIeCounters{}
	keep(link, func() { d.PCIe = link })
	keep(counters, func() { d.PCIeErrors = counters })
}

// maxLocalPort is the last local port that is asked for its port number. Quantum-3 has 148.
const maxLocalPort = 1023

// mapPorts finds the switch's local ports from first to last, and then as many again while
// ports are missing. Local ports without a port, and rejected ones, are normal.
func (r *reader) mapPorts(d *Device, first, last int) {
	waiting := last - first + 1
	found := 0
	var failed *Gap
	for local := first; local <= last; local++ {
		number := &register.PortNumber{LocalPort: register.LocalPort(local)}
		r.get(d, number, func(g *Gap) {
			waiting--
			if g != nil {
				failed = g
			} else if number.Port != 0 {
				found++
				if e := d.ends[uint8(number.Port)]; e != nil && number.Port < 256 && e.Local == 0 {
					e.Local = number.LocalPort
					r.readEnd(e)
				}
			}
			if waiting == 0 {
				r.mapMore(d, last, found, failed)
			}
		})
	}
}

// mapMore continues with further local ports if a link end has none yet.
func (r *reader) mapMore(d *Device, last, found int, failed *Gap) {
	var missing []*End
	for _, e := range d.ends {
		if e.Local == 0 {
			missing = append(missing, e)
		}
	}
	switch {
	case len(missing) == 0:
	case found > 0 && last < maxLocalPort:
		r.mapPorts(d, last+1, min(last+len(d.Port.Node.Ports), maxLocalPort))
	default:
		g := Gap{register.IDPLIB.String(), errors.New("no local port has the port's number")}
		if failed != nil {
			g.Err = failed.Err
		}
		for _, e := range missing {
			e.Gaps = append(e.Gaps, g)
		}
	}
}

// readEnd submits the requests for a link end.
func (r *reader) readEnd(e *End) {
	o, p := &r.result.Options, e.Local
	keep := func(reg register.Register, store func()) {
		r.get(e.Device, reg, func(g *Gap) {
			if g != nil {
				e.Gaps = append(e.Gaps, *g)
				return
			}
			store()
		})
	}
	r.readModule(e)
	if e.Device.neighbour {
		return
	}
	state, down := register.NewLinkState(p), register.NewLinkDown(p)
	keep(state, func() { e.State = state })
	keep(down, func() { e.Down = down })
	if e.IsUp() {
		bits, counters := register.NewBitErrors(p), register.NewPhysicalCounters(p)
		r.get(e.Device, bits, func(g *Gap) {
			if g == nil && *bits == *register.NewBitErrors(p) {
				g = &Gap{bits.Part().String(), errEmpty}
			}
			if g != nil {
				e.Gaps = append(e.Gaps, *g)
				return
			}
			e.Bits = bits
		})
		keep(counters, func() { e.Counters = counters })
	} else {
		trouble := register.NewTrouble(p)
		keep(trouble, func() { e.Trouble = trouble })
	}
	if o.Alarms {
		alarms, monitor := register.NewModuleFlags(p), &register.BERMonitor{LocalPort: p}
		keep(alarms, func() { e.Alarms = alarms })
		keep(monitor, func() { e.Monitor = monitor })
	}
	if o.FEC && e.IsUp() {
		histogram := register.NewFECHistogram(p)
		keep(histogram, func() { e.Histogram = histogram })
	}
	if o.Eyes && e.IsUp() {
		for lane := range uint8(e.Port.Info.LinkWidthActive.Lanes()) {
			eye := &register.Eye{LocalPort: p, Lane: lane}
			keep(eye, func() { e.Eyes = append(e.Eyes, eye) })
		}
	}
	if o.Raw != nil {
		for _, reg := range rawRegisters(p) {
			r.get(e.Device, reg, func(*Gap) {})
		}
	}
}

// errEmpty is the reason why a reply with zeros is no value.
var errEmpty = errors.New("the reply has no values")

// readModule submits the requests for a link end's module. Without a description by the
// firmware, the module's own memory describes it.
func (r *reader) readModule(e *End) {
	lanes, module := &register.LaneMapping{LocalPort: e.Local}, register.NewModule(e.Local)
	waiting, described := 2, false
	ended := func() {
		waiting--
		if waiting == 0 && (!described || r.result.Raw != nil && !e.Device.neighbour) {
			r.readMemory(e)
		}
	}
	r.get(e.Device, lanes, func(g *Gap) {
		if g == nil {
			e.Lanes = lanes
		} else {
			e.Gaps = append(e.Gaps, *g)
		}
		ended()
	})
	r.get(e.Device, module, func(g *Gap) {
		if g == nil && module.IsEmpty() {
			g = &Gap{module.Part().String(), errEmpty}
		}
		if described = g == nil || !g.IsRejected() && !errors.Is(g.Err, errEmpty); g == nil {
			e.Module = module
		} else {
			e.Gaps = append(e.Gaps, *g)
		}
		ended()
	})
}

// rawRegisters returns the registers of a port that no finding uses.
func rawRegisters(p register.LocalPort) []register.Register {
	list := []register.Register{
		register.NewShortCounters(p), register.NewLongCounters(p), register.NewRetransmission(p), register.NewDieCounters(p), register.NewPacketCounters(p),
		&register.PortStatus{LocalPort: p}, register.NewLinkRates(p), &register.ActiveFEC{LocalPort: p},
	}
	for lane := range uint8(4) {
		list = append(list, &register.Eye{LocalPort: p, Lane: lane})
	}
	return append(list, &register.BERMonitor{LocalPort: p})
}

// ModuleLanes returns the module's lanes that the port uses, lanes 0 to 3 if the
// device does not report them.
func (e *End) ModuleLanes() []int {
	if e.Lanes == nil || e.Lanes.Width == 0 || int(e.Lanes.Width) > len(e.Lanes.Lanes) {
		return []int{0, 1, 2, 3}
	}
	var list []int
	for _, l := range e.Lanes.Lanes[:e.Lanes.Width] {
		if lane := int(l.Rx); lane < 8 && !slices.Contains(list, lane) {
			list = append(list, lane)
		}
	}
	return list
}
