package ibdiagnet

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad/register"
)

// A PHY has a port's cable or module in section CABLE_INFO, and its bit error rates in section
// PHY_DB16. A part that the file lacks is nil.
//
// A module from a file has texts, type, length, firmware, and temperature with its limit,
// but no light: the unit of light in the file is not documented.
type PHY struct {
	Module *register.Module
	Bits   *register.BitErrors
}

// bitErrorColumns are the columns in PHY_DB16: PPCNT's fields in their order, each rate as
// coefficient and magnitude. Programs that read real files confirm field12 to field17; the
// order of the others is inferred.
var bitErrorColumns = []column{
	{"field0", "TimeSinceLastClear", 0}, {"field1", "PhyReceivedBits", 0}, {"field2", "PhySymbolErrors", 0}, {"field3", "PhyCorrectedBits", 0},
	{"field4", "PhyRawErrorsLane0", 0}, {"field5", "PhyRawErrorsLane1", 0}, {"field6", "PhyRawErrorsLane2", 0}, {"field7", "PhyRawErrorsLane3", 0},
	{"field8", "PhyRawErrorsLane4", 0}, {"field9", "PhyRawErrorsLane5", 0}, {"field10", "PhyRawErrorsLane6", 0}, {"field11", "PhyRawErrorsLane7", 0},
	{"field12", "RawBerCoef", 0}, {"field13", "RawBerMagnitude", 0}, {"field14", "EffectiveBerCoef", 0}, {"field15", "EffectiveBerMagnitude", 0},
	{"field16", "SymbolBerCoef", 0}, {"field17", "SymbolBerMagnitude", 0},
}

// cableColumns are the columns in CABLE_INFO with a known form (ibdiag_csv_records.h in
// NVIDIA's SDK).
var cableColumns = []struct {
	name  string
	value func(*register.Module) string // "": unknown
	set   func(*register.Module, string) error
}{
	{"Vendor", func(m *register.Module) string { return register.Clean(m.VendorName[:]) }, setText(func(m *register.Module) []uint8 { return m.VendorName[:] })},
	{"PN", func(m *register.Module) string { return register.Clean(m.PartNumber[:]) }, setText(func(m *register.Module) []uint8 { return m.PartNumber[:] })},
	{"SN", func(m *register.Module) string { return register.Clean(m.Serial[:]) }, setText(func(m *register.Module) []uint8 { return m.Serial[:] })},
	{"Rev", func(m *register.Module) string { return register.Clean(m.Revision[:]) }, setText(func(m *register.Module) []uint8 { return m.Revision[:] })},
	{"LengthCopperOrActive", lengthText, setLength},
	{"TypeDesc", func(m *register.Module) string { return m.Type.String() }, setType},
	{"Temperature", func(m *register.Module) string { return celsiusText(m, m.Temperature) }, setCelsius(func(m *register.Module) *register.Celsius256 { return &m.Temperature })},
	{"FWVersion", firmwareText, setFirmware},
	{"AlarmTemperatureHighThresh", func(m *register.Module) string { return celsiusText(m, m.TemperatureHigh) }, setCelsius(func(m *register.Module) *register.Celsius256 { return &m.TemperatureHigh })},
	{"DateCode", func(m *register.Module) string { return register.Clean(m.Date[:]) }, setText(func(m *register.Module) []uint8 { return m.Date[:] })},
}

func setText(field func(*register.Module) []uint8) func(*register.Module, string) error {
	return func(m *register.Module, text string) error {
		copy(field(m), text)
		return nil
	}
}

func lengthText(m *register.Module) string {
	if m.Length() == 0 {
		return ""
	}
	return strconv.FormatFloat(m.Length(), 'g', -1, 64)
}

// setLength parses a length such as "3", "3 m" or "0.5". Lengths are whole metres in a module
// without CMIS.
func setLength(m *register.Module, text string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "m")), 64)
	if err != nil || !(v >= 0 && v < 256) {
		return fmt.Errorf("LengthCopperOrActive: got %s, want metres", textfile.Quote(text))
	}
	m.RawLength = uint8(math.Ceil(v))
	return nil
}

// setType determines the type from a description such as "Copper cable- unequalized" or
// "850 nm VCSEL".
func setType(m *register.Module, text string) error {
	text = strings.ToLower(text)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("unidentified"):
	case has("unplugged"):
		m.Type = register.CableUnplugged
	case has("active"):
		m.Type = register.CableActive
	case has("copper", "passive"):
		m.Type = register.CablePassive
	case has("optical module"):
		m.Type = register.CableOptical
	default:
		m.Type = register.CableActive
	}
	return nil
}

func celsiusText(m *register.Module, t register.Celsius256) string {
	if !m.HasModule() || !m.IsOptical() || t == 0 {
		return ""
	}
	return strconv.Itoa(int(math.Round(t.Celsius()))) + "C"
}

// setCelsius parses a temperature such as "47C".
func setCelsius(field func(*register.Module) *register.Celsius256) func(*register.Module, string) error {
	return func(m *register.Module, text string) error {
		v, err := strconv.ParseFloat(strings.TrimSuffix(text, "C"), 64)
		if err != nil || !(v >= -128 && v < 128) {
			return fmt.Errorf("temperature: got %s, want a value such as 47C", textfile.Quote(text))
		}
		*field(m) = register.Celsius256(int16(v * 256))
		return nil
	}
}

func firmwareText(m *register.Module) string {
	if m.Firmware == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", m.Firmware>>24, m.Firmware>>16&0xff, m.Firmware&0xffff)
}

// setFirmware parses a version such as "46.110.0". Others are unknown.
func setFirmware(m *register.Module, text string) error {
	var v uint32
	parts := strings.Split(text, ".")
	for i, width := range []int{8, 8, 16} {
		if len(parts) != 3 {
			return nil
		}
		n, err := strconv.ParseUint(parts[i], 10, width)
		if err != nil {
			return nil
		}
		v = v<<width | uint32(n)
	}
	m.Firmware = v
	return nil
}

// writePHY writes the sections from registers that have rows.
func (x *dbWriter) writePHY(d *Database) {
	names := "NodeGuid,PortGuid,PortNum"
	for _, c := range cableColumns {
		names += "," + c.name
	}
	x.phySection(d, "CABLE_INFO", names, func(r *PHY) bool { return r.Module != nil }, func(p *fabric.Port, r *PHY) { x.cable(p, r.Module) })
	x.phySection(d, "PHY_DB16", header("NodeGuid,PortGuid,PortNum", bitErrorColumns), func(r *PHY) bool { return r.Bits != nil }, func(p *fabric.Port, r *PHY) {
		x.key(p)
		x.row(r.Bits, bitErrorColumns)
	})
	if len(d.Temperatures) == 0 {
		return
	}
	x.section("TEMP_SENSING", "NodeGUID,CurrentTemperature", func() {
		for _, n := range d.Fabric.Nodes {
			if t, ok := d.Temperatures[n]; ok {
				fmt.Fprintf(x.out, "%v,%d\n", n.GUID, t)
			}
		}
	})
}

// phySection writes a section with a row for each port that has a part.
func (x *dbWriter) phySection(d *Database, name, header string, has func(*PHY) bool, row func(*fabric.Port, *PHY)) {
	any := false
	for _, r := range d.PHY {
		any = any || has(r)
	}
	if !any {
		return
	}
	x.section(name, header, func() {
		eachPort(d.Fabric, func(p *fabric.Port) {
			if r := d.PHY[p]; r != nil && has(r) {
				row(p, r)
			}
		})
	})
}

// cable writes a row of CABLE_INFO.
func (x *dbWriter) cable(p *fabric.Port, m *register.Module) {
	x.key(p)
	for _, c := range cableColumns {
		x.line = append(x.line, ',')
		if text := c.value(m); text != "" {
			x.line = append(x.line, appendQuoted(nil, text)...)
		} else {
			x.line = append(x.line, absent...)
		}
	}
	x.out.Write(append(x.line, '\n'))
}

// phyOf returns the registers of a row's port.
func (d *dbReader) phyOf(r *row) (*PHY, error) {
	p, err := d.portOf(r, "NodeGuid", "PortNum")
	if err != nil {
		return nil, err
	}
	if d.database.PHY == nil {
		d.database.PHY = map[*fabric.Port]*PHY{}
	}
	if d.database.PHY[p] == nil {
		d.database.PHY[p] = &PHY{}
	}
	return d.database.PHY[p], nil
}

// unknownIdentifier is the form of a connector that the file does not have.
const unknownIdentifier = register.Identifier(0xff)

func (d *dbReader) cable(r *row) error {
	phy, err := d.phyOf(r)
	if err != nil {
		return err
	}
	m := &register.Module{Identifier: unknownIdentifier}
	for _, c := range cableColumns {
		if text, ok := r.text(r.index(c.name)); ok {
			if err := c.set(m, text); err != nil {
				return err
			}
		}
	}
	if m.Type == register.CableUnidentified && m.Temperature != 0 {
		m.Type = register.CableActive // copper has no temperature
	}
	phy.Module = m
	return nil
}

func (d *dbReader) bitErrors(r *row) error {
	phy, err := d.phyOf(r)
	if err != nil {
		return err
	}
	bits := register.NewBitErrors(0)
	if any, err := r.store(bits, bitErrorColumns); err != nil || !any {
		return err
	}
	bits.EffectiveErrors = uint64(bits.EffectiveBER.Value() * float64(bits.ReceivedBits)) // the file has another order behind the rates
	phy.Bits = bits
	return nil
}

func (d *dbReader) temperature(r *row) error {
	guid, err := r.guid("NodeGUID")
	if err != nil {
		return err
	}
	n := d.nodes[guid]
	if n == nil {
		return fmt.Errorf("node %v is not in section NODES", guid)
	}
	text, ok := r.text(r.index("CurrentTemperature"))
	if !ok {
		return nil
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < -128 || v > 1000 {
		return fmt.Errorf("CurrentTemperature: got %s, want °C", textfile.Quote(text))
	}
	if d.database.Temperatures == nil {
		d.database.Temperatures = map[*fabric.Node]int{}
	}
	d.database.Temperatures[n] = v
	return nil
}
