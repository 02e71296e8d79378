package exporter

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// A registerSource reads the registers after the counters.
type registerSource struct {
	key   mad.Key
	limit time.Duration
}

// read reads the registers in a swept fabric. Requests without a valid reply make the sweep
// partial.
func (s *registerSource) read(ctx context.Context, f *fabricSweep, o phy.Options) error {
	o.Source.Stored, o.Source.Progress = f.result.Fabric, nil
	o.Key, o.Limit, o.Names, o.Switches = s.key, s.limit, f.names, true
	r, err := phy.Run(ctx, o)
	if err != nil {
		return err
	}
	f.registers = r
	f.summary.partial = f.summary.partial || r.Partial()
	for p, g := range r.Unread() {
		f.summary.failures = append(f.summary.failures, fmt.Errorf("%s: %s: %w", f.names.PortName(p), g.Register, g.Err))
	}
	return nil
}

// An endValue is a link end's value in a metric; ok is false if it is unknown.
type endValue func(phy.ReportEnd) (value float64, ok bool)

// endMetrics are the metrics of a link end, with the names of mlxlink_exporter
// (github.com/yuuki/mlxlink_exporter) as far as it has them.
var endMetrics = []struct {
	name, help string
	isCounter  bool
	value      endValue
}{
	{"mlxlink_raw_physical_ber", "Bit error rate before correction.", false, bits(func(b *phy.ReportBitErrors) float64 { return b.Raw })},
	{"mlxlink_effective_physical_ber", "Bit error rate after correction.", false, bits(func(b *phy.ReportBitErrors) float64 { return b.Effective })},
	{"ibkit_port_symbol_ber", "Rate of symbol errors after correction and retransmission.", false, bits(func(b *phy.ReportBitErrors) float64 { return b.Symbol })},
	{"mlxlink_effective_physical_errors_total", "Bit errors after correction.", true, bits(func(b *phy.ReportBitErrors) float64 { return float64(b.EffectiveErrors) })},
	{"mlxlink_link_down_total", "Times that the link went down.", true, counts(func(c *phy.ReportCounters) uint32 { return c.LinkDowns })},
	{"mlxlink_link_error_recovery_total", "Recoveries of the link.", true, counts(func(c *phy.ReportCounters) uint32 { return c.Recoveries })},
	{"mlxlink_module_temperature_celsius", "Module temperature.", false, module(func(m *phy.ReportModule) *float64 { return m.Celsius })},
	{"ibkit_module_temperature_limit_celsius", "The module's own upper limit.", false, module(func(m *phy.ReportModule) *float64 { return m.CelsiusHigh })},
	{"mlxlink_module_voltage_volts", "Module voltage.", false, module(func(m *phy.ReportModule) *float64 { return m.Volts })},
	{"ibkit_module_rx_power_limit_dbm", "The module's own lower limit.", false, module(func(m *phy.ReportModule) *float64 { return m.RxLow })},
}

func bits(value func(*phy.ReportBitErrors) float64) endValue {
	return func(e phy.ReportEnd) (float64, bool) {
		if e.BitErrors == nil {
			return 0, false
		}
		return value(e.BitErrors), true
	}
}

func counts(value func(*phy.ReportCounters) uint32) endValue {
	return func(e phy.ReportEnd) (float64, bool) {
		if e.Counters == nil {
			return 0, false
		}
		return float64(value(e.Counters)), true
	}
}

func module(value func(*phy.ReportModule) *float64) endValue {
	return func(e phy.ReportEnd) (float64, bool) {
		if e.Module == nil || value(e.Module) == nil {
			return 0, false
		}
		return *value(e.Module), true
	}
}

// A readEnd is a port with its registers.
type readEnd struct {
	*port
	report phy.ReportEnd
	labels labels
}

// writeRegisters writes the metrics from registers.
func writeRegisters(e *encoder, s *fabricSweep) {
	if s.registers == nil {
		return
	}
	var ends []readEnd
	s.allPorts(nil, func(p *port) {
		if end := s.registers.End(p.Port.Port); end != nil {
			ends = append(ends, readEnd{p, s.registers.ReportEnd(end), ownLabels(p)})
		}
	})
	for _, m := range endMetrics {
		write := e.gauge
		if m.isCounter {
			write = e.counter
		}
		write(m.name, m.help, func(emit func(labels, float64)) {
			for _, end := range ends {
				if v, ok := m.value(end.report); ok {
					emit(end.labels, v)
				}
			}
		})
	}
	writeLanes(e, ends)
	writeModules(e, ends)
	writePHYFindings(e, s, ends)
	writeSwitchRegisters(e, s)
}

// writeLanes writes the power of each lane. A dark lane has none: its link end has a finding.
func writeLanes(e *encoder, ends []readEnd) {
	for _, m := range []struct {
		name, help string
		of         func(phy.ReportLane) *float64
	}{
		{"mlxlink_module_rx_power_dbm", "Light that a lane receives.", func(l phy.ReportLane) *float64 { return l.Rx }},
		{"mlxlink_module_tx_power_dbm", "Light that a lane sends.", func(l phy.ReportLane) *float64 { return l.Tx }},
	} {
		e.gauge(m.name, m.help, func(emit func(labels, float64)) {
			for _, end := range ends {
				if end.report.Module == nil {
					continue
				}
				for i, lane := range end.report.Module.Lanes {
					if v := m.of(lane); v != nil {
						emit(ownLabels(end.port, "lane", strconv.Itoa(i)), *v)
					}
				}
			}
		})
	}
}

// writeModules writes the identities of modules and the modes of links.
func writeModules(e *encoder, ends []readEnd) {
	e.gauge("mlxlink_module_info", "1; the labels identify the cable or module.", func(emit func(labels, float64)) {
		for _, end := range ends {
			m := end.report.Module
			if m == nil || !m.Plugged {
				continue
			}
			firmware := ""
			if m.Firmware != nil {
				firmware = *m.Firmware
			}
			emit(ownLabels(end.port, "cable_type", m.Type, "firmware_version", firmware, "identifier", m.Identifier,
				"part_number", m.PartNumber, "revision", m.Revision, "serial_number", m.SerialNumber, "vendor", m.Vendor), 1)
		}
	})
	e.gauge("mlxlink_link_info", "1; the labels have the mode of the link.", func(emit func(labels, float64)) {
		for _, end := range ends {
			if r := end.report; r.State != nil && r.FEC != nil {
				emit(ownLabels(end.port, "state", *r.State, "speed", end.end.Speed.String(), "width", end.end.Width.String(), "fec", *r.FEC), 1)
			}
		}
	})
}

// writePHYFindings writes the findings of ibkit phy: a series for each, and their numbers.
func writePHYFindings(e *encoder, s *fabricSweep, ends []readEnd) {
	count := map[report.Kind]int{}
	e.gauge("ibkit_phy_finding", "1 for each finding of ibkit phy.", func(emit func(labels, float64)) {
		for _, end := range ends {
			for _, k := range end.report.Findings {
				count[k]++
				emit(peerLabels(end.port, "kind", string(k)), 1)
			}
		}
		for _, d := range s.registers.Devices {
			if d.Port.Node.Duplicate { // a series must be there once
				continue
			}
			for _, k := range report.KindsOf(d.Findings) {
				count[k]++
				emit(newLabels("guid", d.Port.Node.GUID.String(), "node", s.names.Name(d.Port.Node), "port", "", "peer", "", "peer_port", "", "kind", string(k)), 1)
			}
		}
	})
	e.gauge("ibkit_phy_findings", "Link ends and devices with a finding of ibkit phy, by kind.", func(emit func(labels, float64)) {
		for _, k := range phy.Kinds {
			emit(newLabels("kind", string(k)), float64(count[k]))
		}
	})
	e.value("ibkit_phy_devices", "Devices with registers in the last sweep.", float64(s.registers.Readable()))
	e.value("ibkit_phy_devices_unavailable", "Devices without registers in the last sweep.", float64(len(s.registers.Devices)-s.registers.Readable()))
}

// writeSwitchRegisters writes the metrics that treydock's exporter reads with ibswinfo
// (collectors/ibswinfo.go).
func writeSwitchRegisters(e *encoder, s *fabricSweep) {
	gauge := func(name, help string, each func(d *phy.Device, r phy.ReportDevice, emit func(float64, ...string))) {
		e.gauge("infiniband_switch_"+name, help, func(emit func(labels, float64)) {
			for _, d := range s.registers.Devices {
				if d.IsSwitch() && d.Missing == nil && !d.Port.Node.Duplicate {
					each(d, s.registers.ReportDevice(d), func(v float64, pairs ...string) {
						emit(newLabels(append(pairs, "guid", d.Port.Node.GUID.String())...), v)
					})
				}
			}
		})
	}
	gauge("hardware_info", "1; the labels identify the switch.", func(d *phy.Device, r phy.ReportDevice, emit func(float64, ...string)) {
		emit(1, "firmware_version", optional.OrZero(r.Firmware), "part_number", optional.OrZero(r.PartNumber), "psid", optional.OrZero(r.PSID), "serial_number", optional.OrZero(r.SerialNumber), "switch", s.names.Name(d.Port.Node))
	})
	gauge("uptime_seconds", "Time since the switch was started.", func(_ *phy.Device, r phy.ReportDevice, emit func(float64, ...string)) {
		if r.Uptime != nil {
			emit(float64(*r.Uptime))
		}
	})
	gauge("temperature_celsius", "Temperature of the switch's ASIC.", func(d *phy.Device, _ phy.ReportDevice, emit func(float64, ...string)) {
		for _, sensor := range d.Sensors {
			if sensor.Number == 0 {
				emit(sensor.Temperature.Celsius())
			}
		}
	})
	gauge("fan_rpm", "Speed of a fan.", func(_ *phy.Device, r phy.ReportDevice, emit func(float64, ...string)) {
		for _, f := range r.Fans {
			emit(float64(f.RPM), "fan", strconv.Itoa(int(f.Number)))
		}
	})
	gauge("fan_status_info", "1; the label status has the state of all fans.", func(d *phy.Device, r phy.ReportDevice, emit func(float64, ...string)) {
		if len(r.Fans) > 0 {
			emit(1, "status", status(!slices.Contains(r.Findings, report.FanFailed)))
		}
	})
	for _, m := range supplyStates {
		gauge("power_supply_"+m.name+"_info", "1; the label status has the state of a power supply's "+m.part+".", func(_ *phy.Device, r phy.ReportDevice, emit func(float64, ...string)) {
			for i, u := range r.Supplies {
				if good := m.good(u); good != nil {
					emit(1, "psu", strconv.Itoa(i), "status", status(*good))
				}
			}
		})
	}
	gauge("power_supply_watts", "Power of a power supply.", func(_ *phy.Device, r phy.ReportDevice, emit func(float64, ...string)) {
		for i, u := range r.Supplies {
			if u.Watts != nil {
				emit(float64(*u.Watts), "psu", strconv.Itoa(i))
			}
		}
	})
}

// supplyStates are the states of a power supply; nil is unknown.
var supplyStates = []struct {
	name, part string
	good       func(phy.ReportSupply) *bool
}{
	{"status", "bay", func(u phy.ReportSupply) *bool { return &u.Present }},
	{"dc_power_status", "output", func(u phy.ReportSupply) *bool {
		if !u.Present {
			return nil
		}
		return &u.Good
	}},
	{"fan_status", "fan", func(u phy.ReportSupply) *bool { return u.FanIsGood }},
}

// status returns the word that ibswinfo has for a state.
func status(good bool) string {
	if good {
		return "OK"
	}
	return "ERROR"
}
