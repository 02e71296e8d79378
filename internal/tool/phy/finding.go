package phy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/report"
)

// Kinds are the finding kinds.
var Kinds = []report.Kind{
	report.DirtyFibre, report.WeakLight, report.WeakTransmitter, report.HotModule, report.ModuleFault, report.CableFirmware,
	report.BitErrors, report.Flapped, report.Invalid, report.HotDevice, report.FanFailed, report.PowerLost,
	report.PCIeSlow, report.PCIeErrors,
}

// Limits for findings. The limits of light and temperature are the module's own.
const (
	maxEffectiveBER = 1e-12
	maxSymbolBER    = 1e-14
	minErrors       = 10 // fewer errors are no rate

	lowestCelsius, highestCelsius = -40, 125 // measured by a module or an ASIC
	highestDBm                    = 13       // 20 mW
	lowestVolts, highestVolts     = 2.5, 4.5 // of 3.3 V
	highestBER                    = 0.5      // noise
	slowFan                       = 500      // rpm
	highestWatts                  = 10_000   // of a power supply
)

// add adds a link end's finding.
func (r *Result) add(e *End, kind report.Kind, format string, args ...any) {
	e.Findings = append(e.Findings, r.finding(kind, e.Port, int(e.Port.Number), format, args...))
}

// addDevice adds a device's finding.
func (r *Result) addDevice(d *Device, kind report.Kind, format string, args ...any) {
	number := int(d.Port.Number)
	if d.IsSwitch() {
		number = -1
	}
	d.Findings = append(d.Findings, r.finding(kind, d.Port, number, format, args...))
}

func (r *Result) finding(kind report.Kind, p *fabric.Port, number int, format string, args ...any) report.Finding {
	f := report.New(kind, fabric.PortName(r.Names.Label(p.Node), number), fmt.Sprintf(format, args...))
	if number < 0 {
		f.Subject = r.Names.Label(p.Node)
	}
	f = f.At(p.Node.GUID, number)
	// The standard counters of a link do not show its light: the registers show the repair.
	f.Hint = strings.ReplaceAll(kind.HintFor(f), "ibkit linkinfo --node", "ibkit phy --node")
	return f
}

// find determines the findings.
func (r *Result) find() {
	seen := map[moduleKey]bool{}
	for _, e := range r.Ends {
		first := !seen[e.moduleKey()]
		seen[e.moduleKey()] = true
		if first {
			r.findModule(e)
		}
		if e.IsUp() {
			if first || e.Lanes != nil { // otherwise the port's lanes in the module are unknown
				r.findLight(e)
			}
			r.findErrors(e)
		}
	}
	r.findFirmware()
	for _, d := range r.Devices {
		r.findDevice(d)
	}
}

// A moduleKey is a connector: several ports can share a module.
type moduleKey struct {
	device       *Device
	slot, module uint8
	serial       string // if the module's number is unknown
	port         uint8  // if the serial number is unknown, too
}

func (e *End) moduleKey() moduleKey {
	if e.Lanes == nil || e.Lanes.Width == 0 {
		if e.Module != nil && register.Clean(e.Module.Serial[:]) != "" {
			return moduleKey{device: e.Device, serial: register.Clean(e.Module.Serial[:])}
		}
		return moduleKey{device: e.Device, port: e.Port.Number}
	}
	return moduleKey{device: e.Device, slot: e.Lanes.Lanes[0].Slot, module: e.Lanes.Lanes[0].Module}
}

// findModule checks a module's temperature and state.
func (r *Result) findModule(e *End) {
	m := e.Module
	if m == nil || !m.HasModule() || !m.IsOptical() {
		return
	}
	switch t, high := m.Temperature.Celsius(), m.TemperatureHigh.Celsius(); {
	case t < lowestCelsius || t > highestCelsius:
		r.add(e, report.Invalid, "the module reports %.1f °C", t)
	case m.TemperatureHigh != 0 && t > high:
		r.add(e, report.HotModule, "%.1f °C, above the module's limit of %.0f °C", t, high)
	}
	if v := float64(m.Voltage) / 10000; v != 0 && (v < lowestVolts || v > highestVolts) {
		r.add(e, report.Invalid, "the module reports %.1f V", v)
	}
	if m.Identifier.IsCMIS() && m.State != 0 && m.State != register.ModuleReady && e.IsUp() {
		r.add(e, report.ModuleFault, "the module's state is: %v", m.State)
	}
	if a := e.Alarms; a != nil && (a.ModuleFault|a.DataPathFault|a.TxFault) != 0 {
		r.add(e, report.ModuleFault, "latched alarms: %s", strings.Join(e.AlarmTexts(), ", "))
	}
}

// findLight compares the light at both ends of each lane. Little light, with a transmitter
// that sends enough, is lost in the fibre or at its connectors.
func (r *Result) findLight(e *End) {
	m := e.Module
	if m == nil || !m.IsOptical() {
		return
	}
	var weak, dim, invalid []string
	fibre := true
	peer := r.Peer(e)
	for i, lane := range e.ModuleLanes() {
		rx, tx := m.RxPower[lane], m.TxPower[lane]
		for _, p := range []register.Power{rx, tx} {
			if v, ok := m.DBm(p); ok && v > highestDBm {
				invalid = append(invalid, fmt.Sprintf("lane %d %.1f dBm", i, v))
			}
		}
		if isLow(m, tx, m.TxLow) {
			dim = append(dim, fmt.Sprintf("lane %d %s", i, dbm(m, tx)))
		}
		if isLow(m, rx, m.RxLow) {
			sent, known := peerSends(peer, i)
			fibre = fibre && known
			text := fmt.Sprintf("lane %d %s", i, dbm(m, rx))
			if sent != "" {
				text += " of " + sent
			}
			weak = append(weak, text)
		}
	}
	if len(invalid) > 0 {
		r.add(e, report.Invalid, "the module reports power of %s", strings.Join(slices.Compact(invalid), ", "))
	}
	if len(dim) > 0 {
		r.add(e, report.WeakTransmitter, "sends %s; limit %s", strings.Join(dim, ", "), dbm(m, m.TxLow))
	}
	switch {
	case len(weak) == 0:
	case fibre:
		r.add(e, report.DirtyFibre, "receives %s; limit %s", strings.Join(weak, ", "), dbm(m, m.RxLow))
	default:
		r.add(e, report.WeakLight, "receives %s; limit %s", strings.Join(weak, ", "), dbm(m, m.RxLow))
	}
}

// isLow reports whether power is below a limit. Limit 0 is none.
func isLow(m *register.Module, p, limit register.Power) bool {
	if limit == 0 {
		return false
	}
	v, ok := m.DBm(p)
	low, limited := m.DBm(limit)
	return limited && (!ok || v < low)
}

// dbm returns power as a text.
func dbm(m *register.Module, p register.Power) string {
	if v, ok := m.DBm(p); ok {
		return fmt.Sprintf("%.1f dBm", v)
	}
	return "no light"
}

// peerSends returns the power that the other end sends on a lane. It reports whether that
// is enough.
func peerSends(peer *End, lane int) (text string, enough bool) {
	if peer == nil || peer.Module == nil || !peer.Module.IsOptical() {
		return "", false
	}
	lanes := peer.ModuleLanes()
	if lane >= len(lanes) {
		return "", false
	}
	m := peer.Module
	p := m.TxPower[lanes[lane]]
	return dbm(m, p) + " sent", m.TxLow != 0 && !isLow(m, p, m.TxLow)
}

// berText returns a bit error rate as tables have it.
func berText(b register.BER) string { return RateText(b.Value()) }

// findErrors checks the error rates, and the downs of a link.
func (r *Result) findErrors(e *End) {
	if b := e.Bits; b != nil {
		switch {
		case max(b.RawBER.Value(), b.EffectiveBER.Value(), b.SymbolBER.Value()) > highestBER:
			r.add(e, report.Invalid, "the port reports raw BER %s, effective BER %s, symbol BER %s", berText(b.RawBER), berText(b.EffectiveBER), berText(b.SymbolBER))
		case b.EffectiveErrors >= minErrors && b.EffectiveBER.Value() > maxEffectiveBER:
			r.add(e, report.BitErrors, "effective BER %s, above %s; raw BER %s", berText(b.EffectiveBER), RateText(maxEffectiveBER), berText(b.RawBER))
		case b.SymbolErrors >= minErrors && b.SymbolBER.Value() > maxSymbolBER:
			r.add(e, report.BitErrors, "symbol BER %s, above %s; raw BER %s", berText(b.SymbolBER), RateText(maxSymbolBER), berText(b.RawBER))
		}
	}
	if m := e.Monitor; m != nil && m.State > register.MonitorNormal && !slices.ContainsFunc(e.Findings, func(f report.Finding) bool { return f.Kind == report.BitErrors }) {
		r.add(e, report.BitErrors, "the state of the firmware's BER monitor is: %v", m.State)
	}
	if c := e.Counters; c != nil && c.UnintentionalDowns > 0 {
		text := fmt.Sprintf("the link went down %d times since the counters were cleared", c.UnintentionalDowns)
		if d := e.LastDown(); d != nil {
			text += "; last cause: " + d.String()
		}
		r.add(e, report.Flapped, "%s", text)
		e.Findings[len(e.Findings)-1].Severity = report.Warning // it may be long ago
	}
}

// The kinds with a cause that explains errors on a cable, and the kinds for such errors.
var (
	Causes       = []report.Kind{report.DirtyFibre, report.WeakLight, report.WeakTransmitter, report.ModuleFault}
	Consequences = []report.Kind{report.BitErrors, report.Flapped, report.Unstable, report.Narrow, report.Slow}
)

// withoutRepeatedRepairs returns a link end's findings without the next steps for errors if
// another finding is their cause: only its repair helps.
func withoutRepeatedRepairs(findings []report.Finding) []report.Finding {
	if !slices.ContainsFunc(findings, func(f report.Finding) bool { return slices.Contains(Causes, f.Kind) }) {
		return findings
	}
	findings = slices.Clone(findings)
	for i := range findings {
		if slices.Contains(Consequences, findings[i].Kind) {
			findings[i].Hint = ""
		}
	}
	return findings
}

// LastDown returns the last cause of a link that went down, nil if it has not, or if that is
// unknown.
func (e *End) LastDown() *ReportDown {
	d := e.Down
	if d == nil || d.Local == register.NoDown && d.Remote == register.NoDown {
		return nil
	}
	return &ReportDown{d.Blame.String(), d.Local.String(), d.Remote.String()}
}

// AlarmTexts returns the module's latched alarms.
func (e *End) AlarmTexts() []string {
	a := e.Alarms
	if a == nil {
		return nil
	}
	var texts []string
	add := func(mask uint8, text string) {
		if mask != 0 {
			texts = append(texts, text)
		}
	}
	lanes := func(mask uint8, text string) {
		var list []string
		for i, lane := range e.ModuleLanes() {
			if mask>>lane&1 != 0 {
				list = append(list, fmt.Sprint(i))
			}
		}
		if len(list) > 0 {
			texts = append(texts, text+" on lane "+strings.Join(list, "+"))
		}
	}
	add(a.ModuleFault, "module firmware fault")
	add(a.DataPathFault, "data path firmware fault")
	add(a.Temperature, "temperature")
	add(a.Voltage, "voltage")
	lanes(a.TxFault, "transmitter fault")
	lanes(a.TxLOS, "no signal from the host")
	lanes(a.TxLOL, "no lock on the host's signal")
	lanes(a.TxEQFault, "equalizer fault")
	lanes(a.RxLOS, "no light")
	lanes(a.RxLOL, "no lock on the light")
	lanes(a.RxPowerLow, "rx power low")
	lanes(a.RxPowerHigh, "rx power high")
	lanes(a.TxPowerLow, "tx power low")
	lanes(a.TxPowerHigh, "tx power high")
	lanes(a.BiasLow, "bias low")
	lanes(a.BiasHigh, "bias high")
	return texts
}

// findFirmware reports modules with another firmware than most with their part number.
func (r *Result) findFirmware() {
	versions := map[string]map[uint32]int{}
	each := func(do func(e *End, part string)) {
		seen := map[moduleKey]bool{}
		for _, e := range r.Ends {
			if seen[e.moduleKey()] {
				continue
			}
			seen[e.moduleKey()] = true
			if e.Module != nil && e.Module.HasModule() && e.Module.Firmware != 0 {
				do(e, register.Clean(e.Module.PartNumber[:]))
			}
		}
	}
	each(func(e *End, part string) {
		if versions[part] == nil {
			versions[part] = map[uint32]int{}
		}
		versions[part][e.Module.Firmware]++
	})
	each(func(e *End, part string) {
		most, all := uint32(0), 0
		for version, n := range versions[part] {
			all += n
			if best := versions[part][most]; n > best || n == best && version > most {
				most = version
			}
		}
		if v := e.Module.Firmware; v != most {
			r.add(e, report.CableFirmware, "firmware %s, but %d of %d modules %s have %s", FirmwareText(v), versions[part][most], all, part, FirmwareText(most))
		}
	})
}

// FirmwareText returns a module's firmware version, "" for none.
func FirmwareText(v uint32) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", v>>24, v>>16&0xff, v&0xffff)
}

// findDevice checks temperatures, fans and power supplies.
func (r *Result) findDevice(d *Device) {
	for _, s := range d.Sensors {
		switch t := s.Temperature.Celsius(); {
		case t < lowestCelsius || t > highestCelsius:
			r.addDevice(d, report.Invalid, "sensor %s reports %.1f °C", sensorName(s), t)
		case s.High != 0 && t > s.High.Celsius():
			r.addDevice(d, report.HotDevice, "sensor %s: %.1f °C, above its limit of %.0f °C", sensorName(s), t, s.High.Celsius())
		}
	}
	for _, f := range d.Fans {
		lowest, limit := uint16(slowFan), ""
		if l := d.Limits[f.Tachometer]; l != nil && l.Low > 0 {
			lowest, limit = l.Low, fmt.Sprintf(", limit %d rpm", l.Low)
		}
		if f.RPM < lowest {
			r.addDevice(d, report.FanFailed, "fan %d turns at %d rpm%s", f.Tachometer, f.RPM, limit)
		}
	}
	r.findPCIe(d)
	if d.Supplies == nil {
		return
	}
	for i := range d.Supplies.Units {
		switch u := &d.Supplies.Units[i]; {
		case !u.IsPresent():
		case !u.IsGood():
			r.addDevice(d, report.PowerLost, "power supply %d of 0 and 1 gives no power", i)
		case u.Watts() > highestWatts:
			r.addDevice(d, report.Invalid, "power supply %d reports %d W", i, u.Watts())
		}
	}
}

// sensorName returns a sensor's label, or its number.
func sensorName(s *register.Sensor) string {
	if label := register.Clean(s.Label[:]); label != "" {
		return label
	}
	return fmt.Sprint(s.Number)
}
