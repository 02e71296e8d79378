package phy

import (
	"fmt"
	"math"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the JSON form for a [Report]; schema/phy.json describes it.
const ReportSchema = "ibkit/phy/2"

// A Report is the document that "ibkit phy --json" prints.
type Report struct {
	report.Head
	Devices []ReportDevice `json:"devices"`
	Ends    []ReportEnd    `json:"ends"`
	Changes *Changes       `json:"changes"` // nil: not compared with an earlier reading
}

// Changes are the differences from an earlier reading.
type Changes struct {
	Since time.Time `json:"since"`
	List  []Change  `json:"list"`
}

// A ReportDevice is a switch, or another node's port.
type ReportDevice struct {
	NodeGUID ib.GUID `json:"node_guid"`
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Port     uint8   `json:"port"`
	LID      ib.LID  `json:"lid"`
	Missing  *string `json:"missing"` // the reason why there are no registers, or nil

	PSID         *string        `json:"psid"`
	Firmware     *string        `json:"firmware"`
	Uptime       *uint32        `json:"uptime_seconds"`
	Product      *string        `json:"product"`
	PartNumber   *string        `json:"part_number"`
	SerialNumber *string        `json:"serial_number"`
	Sensors      []ReportSensor `json:"sensors"`
	Fans         []ReportFan    `json:"fans"`
	Supplies     []ReportSupply `json:"power_supplies"`
	Modules      []ReportHeat   `json:"modules"`
	PCIe         *ReportPCIe    `json:"pcie"` // nil: unknown, or no adapter
	Unavailable  []ReportGap    `json:"unavailable"`
	Findings     []report.Kind  `json:"findings"`
}

// A ReportSensor is a temperature sensor.
type ReportSensor struct {
	Name    string   `json:"name"`
	Celsius float64  `json:"celsius"`
	Highest float64  `json:"highest_celsius"`
	Limit   *float64 `json:"limit_celsius"`
}

// A ReportFan is a fan's tachometer.
type ReportFan struct {
	Number uint8   `json:"number"`
	RPM    uint16  `json:"rpm"`
	Lowest *uint16 `json:"lowest_rpm"` // limit, nil: unknown
}

// A ReportSupply is a power supply.
type ReportSupply struct {
	Present   bool    `json:"present"`
	Good      bool    `json:"good"`
	FanIsGood *bool   `json:"fan_good"` // nil: unknown
	Watts     *uint32 `json:"watts"`    // nil: unknown
	Serial    string  `json:"serial_number"`
}

// A ReportGap is a register that was not read.
type ReportGap struct {
	Register string `json:"register"`
	Reason   string `json:"reason"`
}

// A ReportEnd is a link end.
type ReportEnd struct {
	NodeGUID  ib.GUID      `json:"node_guid"`
	Name      string       `json:"name"`
	Port      uint8        `json:"port"`
	LID       ib.LID       `json:"lid"`
	LocalPort *uint16      `json:"local_port"` // number in registers
	Peer      *report.Peer `json:"peer"`

	State     *string          `json:"state"`
	FEC       *string          `json:"fec"`
	Module    *ReportModule    `json:"module"` // nil: unknown
	BitErrors *ReportBitErrors `json:"bit_errors"`
	Counters  *ReportCounters  `json:"counters"`
	LastDown  *ReportDown      `json:"last_down"` // nil: unknown, or never
	Trouble   *ReportTrouble   `json:"trouble"`   // nil: unknown, or the link is up
	Alarms    []string         `json:"alarms"`    // nil: not read
	Histogram []uint64         `json:"fec_histogram"`
	Monitor   *string          `json:"ber_monitor"` // nil: not read
	Eyes      []ReportEye      `json:"eyes"`        // nil: not read

	Unavailable []ReportGap   `json:"unavailable"`
	Findings    []report.Kind `json:"findings"`
}

// A ReportModule is a cable or module.
type ReportModule struct {
	Plugged      bool         `json:"plugged"`
	Type         string       `json:"type"`
	Identifier   string       `json:"identifier"`
	Vendor       string       `json:"vendor"`
	PartNumber   string       `json:"part_number"`
	Revision     string       `json:"revision"`
	SerialNumber string       `json:"serial_number"`
	Date         string       `json:"date"`
	Firmware     *string      `json:"firmware"`
	Length       *float64     `json:"length_metres"`
	Wavelength   *uint16      `json:"wavelength_nm"`
	State        *string      `json:"state"`
	Celsius      *float64     `json:"celsius"`
	CelsiusHigh  *float64     `json:"celsius_high"`
	Volts        *float64     `json:"volts"`
	RxLow        *float64     `json:"rx_low_dbm"`
	RxHigh       *float64     `json:"rx_high_dbm"`
	TxLow        *float64     `json:"tx_low_dbm"`
	TxHigh       *float64     `json:"tx_high_dbm"`
	Lanes        []ReportLane `json:"lanes"`
}

// Cable returns type and length.
func (m *ReportModule) Cable() string {
	if m.Length != nil {
		return fmt.Sprintf("%s %g m", m.Type, *m.Length)
	}
	return m.Type
}

// A ReportLane is a lane's light. Power is nil for no light.
type ReportLane struct {
	Rx   *float64 `json:"rx_dbm"`
	Tx   *float64 `json:"tx_dbm"`
	Bias float64  `json:"bias_ma"`
}

// Lowest returns the lowest power of lanes, nil if a lane lacks it.
func Lowest(lanes []ReportLane, of func(ReportLane) *float64) (low *float64) {
	for _, l := range lanes {
		p := of(l)
		if p == nil {
			return nil
		}
		if low == nil || *p < *low {
			low = p
		}
	}
	return low
}

// A ReportBitErrors has a link end's error rates. Zero is no error.
type ReportBitErrors struct {
	Seconds         float64 `json:"seconds"` // since cleared
	ReceivedBits    uint64  `json:"received_bits"`
	Raw             float64 `json:"raw_ber"`
	Effective       float64 `json:"effective_ber"`
	Symbol          float64 `json:"symbol_ber"`
	EffectiveErrors uint64  `json:"effective_errors"`
	SymbolErrors    uint64  `json:"symbol_errors"`
}

// A ReportCounters has a link end's counters.
type ReportCounters struct {
	CorrectedBlocks     uint64 `json:"corrected_blocks"`
	UncorrectableBlocks uint64 `json:"uncorrectable_blocks"`
	LinkDowns           uint32 `json:"link_downs"`
	UnintentionalDowns  uint32 `json:"unintentional_downs"`
	Recoveries          uint32 `json:"recoveries"`
}

// A ReportDown is the last cause of a link that went down.
type ReportDown struct {
	Blame  string `json:"blame"`
	Local  string `json:"local"`
	Remote string `json:"remote"`
}

// String returns the cause, with the blamed end if it is known.
func (d ReportDown) String() string {
	text := d.Local
	switch none := register.NoDown.String(); {
	case d.Local == none:
		text = "at the peer: " + d.Remote
	case d.Remote != none && d.Remote != d.Local:
		text += " (peer: " + d.Remote + ")"
	}
	if d.Blame != register.NoBlame.String() {
		text += ", blamed on the " + d.Blame + " end"
	}
	return text
}

// A ReportTrouble is the reason why a link is down.
type ReportTrouble struct {
	Code    uint16 `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Next    string `json:"next"` // step
}

// Report returns the document.
func (r *Result) Report() *Report {
	doc := &Report{Head: report.NewHead(ReportSchema, r.Began), Devices: []ReportDevice{}, Ends: []ReportEnd{}}
	names := r.Names.UniqueNames(r.Fabric)
	doc.Fail(r.Fabric.ReportFailures(r.Names)...)
	for _, d := range r.Devices {
		doc.Devices = append(doc.Devices, r.ReportDevice(d))
		doc.Add(d.Findings...)
	}
	for _, e := range r.Ends {
		end := r.ReportEnd(e)
		if t := end.Trouble; t != nil {
			t.Next = report.Finding{Hint: t.Next}.NamedHint(names)
		}
		doc.Ends = append(doc.Ends, end)
		doc.Add(withoutRepeatedRepairs(e.Findings)...)
	}
	doc.NameHints(names)
	doc.Fail(r.ReportFailures()...)
	doc.Partial = doc.Partial || r.Partial()
	return doc
}

// ReportFailures returns the requests without a valid reply.
func (r *Result) ReportFailures() (failures []report.Failure) {
	for p, g := range r.Unread() {
		f := fabric.ReportFailure(r.Names.PortName(p), g.Err)
		f.NodeGUID, f.Port, f.Attribute, f.LID = &p.Node.GUID, new(int(p.Number)), g.Register, new(p.LID())
		failures = append(failures, f)
	}
	return failures
}

func reportGaps(gaps []Gap) []ReportGap {
	list := []ReportGap{}
	for _, g := range gaps {
		list = append(list, ReportGap{g.Register, g.Err.Error()})
	}
	return list
}

// ReportDevice returns the document on a device.
func (r *Result) ReportDevice(d *Device) ReportDevice {
	doc := ReportDevice{
		NodeGUID: d.Port.Node.GUID, Name: r.Names.Name(d.Port.Node), Type: d.Port.Node.Info.NodeType.String(), Port: d.Port.Number, LID: d.Port.LID(),
		Unavailable: reportGaps(d.Gaps), Findings: report.KindsOf(d.Findings), Sensors: []ReportSensor{}, Fans: []ReportFan{}, Supplies: []ReportSupply{},
		Modules: d.reportHeat(), PCIe: d.reportPCIe(),
	}
	if d.Missing != nil {
		doc.Missing = new(d.Missing.Error())
	}
	if i := d.Info; i != nil {
		doc.PSID, doc.Uptime, doc.Firmware = new(register.Clean(i.PSID[:])), &i.Uptime, new(d.Firmware())
	}
	if s := d.System; s != nil {
		doc.Product, doc.PartNumber, doc.SerialNumber = new(register.Clean(s.Product[:])), new(register.Clean(s.PartNumber[:])), new(register.Clean(s.Serial[:]))
	}
	for _, s := range d.Sensors {
		one := ReportSensor{Name: sensorName(s), Celsius: s.Temperature.Celsius(), Highest: s.Highest.Celsius()}
		if s.High != 0 {
			one.Limit = new(s.High.Celsius())
		}
		doc.Sensors = append(doc.Sensors, one)
	}
	for _, f := range d.Fans {
		fan := ReportFan{Number: f.Tachometer, RPM: f.RPM}
		if l := d.Limits[f.Tachometer]; l != nil {
			fan.Lowest = &l.Low
		}
		doc.Fans = append(doc.Fans, fan)
	}
	if d.Supplies != nil {
		for i := range d.Supplies.Units {
			doc.Supplies = append(doc.Supplies, reportSupply(&d.Supplies.Units[i]))
		}
	}
	return doc
}

func reportSupply(u *register.PowerSupply) ReportSupply {
	doc := ReportSupply{Present: u.IsPresent(), Good: u.IsGood(), Serial: u.Serial()}
	if good, known := u.FanIsGood(); known && doc.Present {
		doc.FanIsGood = &good
	}
	if w := u.Watts(); w > 0 && w <= highestWatts {
		doc.Watts = &w
	}
	return doc
}

// ReportEnd returns the document on a link end.
func (r *Result) ReportEnd(e *End) ReportEnd {
	doc := ReportEnd{
		NodeGUID: e.Port.Node.GUID, Name: r.Names.Name(e.Port.Node), Port: e.Port.Number, LID: e.Port.LID(),
		Peer:        linkinfo.NewReportPeer(e.Port, r.Names),
		Unavailable: reportGaps(e.Gaps), Findings: report.KindsOf(e.Findings),
	}
	if e.Local != 0 {
		doc.LocalPort = new(uint16(e.Local))
	}
	if s := e.State; s != nil {
		doc.State, doc.FEC = new(s.State.String()), new(s.FEC.String())
	}
	doc.Module = r.reportModule(e)
	if b := e.Bits; b != nil {
		doc.BitErrors = &ReportBitErrors{
			float64(b.TimeSinceLastClear) / 1000, b.ReceivedBits, b.RawBER.Value(), b.EffectiveBER.Value(), b.SymbolBER.Value(), b.EffectiveErrors, b.SymbolErrors,
		}
	}
	if c := e.Counters; c != nil {
		doc.Counters = &ReportCounters{c.CorrectedBlocks, c.UncorrectableBlocks, c.LinkDowns, c.UnintentionalDowns, c.Recoveries}
	}
	doc.LastDown = e.LastDown()
	doc.Trouble = e.reportTrouble()
	if e.Alarms != nil {
		doc.Alarms = append([]string{}, e.AlarmTexts()...)
	}
	if e.Monitor != nil {
		doc.Monitor = new(e.Monitor.State.String())
	}
	doc.Eyes = e.reportEyes()
	if e.Histogram != nil {
		doc.Histogram = e.Histogram.Blocks[:]
	}
	return doc
}

// ReportLink returns a link end's main values, for documents on links.
func (r *Result) ReportLink(e *End) *linkinfo.ReportPHY {
	d := r.ReportEnd(e)
	doc := &linkinfo.ReportPHY{Findings: d.Findings}
	if missing := e.Device.Missing; missing != nil {
		doc.Missing = new(missing.Error())
	}
	if m := d.Module; m != nil {
		doc.Cable, doc.PartNumber, doc.SerialNumber, doc.Celsius = new(m.Cable()), &m.PartNumber, &m.SerialNumber, m.Celsius
		doc.Rx = Lowest(m.Lanes, func(l ReportLane) *float64 { return l.Rx })
		doc.Tx = Lowest(m.Lanes, func(l ReportLane) *float64 { return l.Tx })
	}
	if b := d.BitErrors; b != nil {
		doc.RawBER, doc.EffectiveBER, doc.SymbolBER = &b.Raw, &b.Effective, &b.Symbol
	}
	return doc
}

func (r *Result) reportModule(e *End) *ReportModule {
	m := e.Module
	if m == nil {
		return nil
	}
	doc := &ReportModule{Plugged: m.HasModule(), Type: m.Type.String(), Identifier: m.Identifier.String(), Lanes: []ReportLane{}}
	if r.stored {
		doc.Identifier = ""
	}
	if !m.HasModule() {
		return doc
	}
	doc.Vendor, doc.PartNumber = register.Clean(m.VendorName[:]), register.Clean(m.PartNumber[:])
	doc.Revision, doc.SerialNumber, doc.Date = register.Clean(m.Revision[:]), register.Clean(m.Serial[:]), register.Clean(m.Date[:])
	if m.Firmware != 0 {
		doc.Firmware = new(FirmwareText(m.Firmware))
	}
	if length := m.Length(); length > 0 {
		doc.Length = &length
	}
	if !m.IsOptical() {
		return doc
	}
	if r.stored {
		known := func(t register.Celsius256) *float64 {
			if t == 0 {
				return nil
			}
			return new(t.Celsius())
		}
		doc.Celsius, doc.CelsiusHigh = known(m.Temperature), known(m.TemperatureHigh)
		return doc
	}
	doc.Wavelength, doc.State = &m.Wavelength, new(m.State.String())
	doc.Celsius, doc.CelsiusHigh, doc.Volts = new(m.Temperature.Celsius()), new(m.TemperatureHigh.Celsius()), new(float64(m.Voltage)/10000)
	doc.RxLow, doc.RxHigh, doc.TxLow, doc.TxHigh = power(m, m.RxLow), power(m, m.RxHigh), power(m, m.TxLow), power(m, m.TxHigh)
	for _, lane := range e.ModuleLanes() {
		doc.Lanes = append(doc.Lanes, ReportLane{power(m, m.RxPower[lane]), power(m, m.TxPower[lane]), round(m.Milliamperes(m.Bias[lane]))})
	}
	return doc
}

// power returns power in dBm, nil for no light.
func power(m *register.Module, p register.Power) *float64 {
	v, ok := m.DBm(p)
	if !ok {
		return nil
	}
	return new(round(v))
}

// round rounds to hundredths, the precision of the measurement.
func round(v float64) float64 { return math.Round(v*100) / 100 }

// Firmware returns the device's firmware version, "" if it is unknown.
func (d *Device) Firmware() string {
	if d.Info == nil {
		return ""
	}
	return d.Info.Version()
}
