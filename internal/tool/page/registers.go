package page

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/phy"
)

// addRegisters adds the registers' findings to their links, and the failed requests.
func (t *state) addRegisters(r *phy.Result) {
	for _, e := range r.Ends {
		t.sample.AddFindings(e.Port, e.Findings)
	}
	t.report.Fail(r.ReportFailures()...)
	t.report.Partial = t.report.Partial || r.Partial()
}

// registers returns a port's registers, nil if they were not read.
func (t *state) registers(p *fabric.Port) *phy.End {
	if t.sweep.PHY == nil {
		return nil
	}
	return t.sweep.PHY.End(p)
}

// A registerRow is a row with values from registers.
type registerRow struct {
	title string
	value func(*phy.ReportEnd) string // "": unknown
}

// moduleRow is a row with a value from a module.
func moduleRow(title string, value func(*phy.ReportModule) string) registerRow {
	return registerRow{title, func(e *phy.ReportEnd) string {
		if e.Module == nil {
			return ""
		}
		return value(e.Module)
	}}
}

// rateRow is a row with an error rate.
func rateRow(title string, rate func(*phy.ReportBitErrors) float64) registerRow {
	return registerRow{title, func(e *phy.ReportEnd) string {
		if e.BitErrors == nil {
			return ""
		}
		return phy.RateText(rate(e.BitErrors))
	}}
}

// registerRows are the rows on a link's page.
var registerRows = []registerRow{
	moduleRow("Module", (*phy.ReportModule).Cable),
	moduleRow("Vendor, part", func(m *phy.ReportModule) string { return strings.TrimSpace(m.Vendor + " " + m.PartNumber) }),
	moduleRow("Serial number", func(m *phy.ReportModule) string { return m.SerialNumber }),
	moduleRow("Temperature", func(m *phy.ReportModule) string { return limited(m.Celsius, m.CelsiusHigh, "°C", "at most") }),
	moduleRow("Receives, by lane", func(m *phy.ReportModule) string {
		return light(m, func(l phy.ReportLane) *float64 { return l.Rx }, m.RxLow)
	}),
	moduleRow("Sends, by lane", func(m *phy.ReportModule) string {
		return light(m, func(l phy.ReportLane) *float64 { return l.Tx }, m.TxLow)
	}),
	{"Error correction", func(e *phy.ReportEnd) string {
		if e.FEC == nil {
			return ""
		}
		return *e.FEC
	}},
	rateRow("BER before correction", func(b *phy.ReportBitErrors) float64 { return b.Raw }),
	rateRow("BER after correction", func(b *phy.ReportBitErrors) float64 { return b.Effective }),
	rateRow("Symbol BER", func(b *phy.ReportBitErrors) float64 { return b.Symbol }),
	{"Last down", func(e *phy.ReportEnd) string {
		if e.LastDown == nil {
			return ""
		}
		return e.LastDown.String()
	}},
}

// limited returns a value with its limit.
func limited(v, limit *float64, unit, relation string) string {
	if v == nil {
		return ""
	}
	text := fmt.Sprintf("%.1f %s", *v, unit)
	if limit != nil && *limit != 0 {
		text += fmt.Sprintf(" (%s %.0f)", relation, *limit)
	}
	return text
}

// light returns the power in each lane, with the module's limit.
func light(m *phy.ReportModule, power func(phy.ReportLane) *float64, least *float64) string {
	if len(m.Lanes) == 0 {
		return ""
	}
	var lanes []string
	for _, l := range m.Lanes {
		lanes = append(lanes, phy.LightText(power(l)))
	}
	text := strings.Join(lanes, ", ") + " dBm"
	if least != nil {
		text += fmt.Sprintf(" (at least %.1f)", *least)
	}
	return text
}

// registerTable writes the registers at a link's ends, a column for each, without rows that are
// unknown at both.
func (t *state) registerTable(m *markup, ends []*fabric.Port) {
	docs := make([]phy.ReportEnd, len(ends))
	titles, known := []string{"Value"}, false
	for i, p := range ends {
		titles = append(titles, t.sample.Names.PortName(p))
		if e := t.registers(p); e != nil {
			docs[i], known = t.sweep.PHY.ReportEnd(e), true
		}
	}
	if !known {
		return
	}
	m.begin("section", "aria-labelledby", "phy")
	m.put("h2", "Modules and light", "id", "phy")
	m.table("small", titles...)
	for _, row := range registerRows {
		var cells []string
		for i := range docs {
			cells = append(cells, row.value(&docs[i]))
		}
		if strings.Join(cells, "") == "" {
			continue
		}
		m.begin("tr")
		m.put("th", row.title, "scope", "row")
		for _, text := range cells {
			m.put("td", cmp.Or(text, absent))
		}
		m.end("tr")
	}
	m.end("tbody", "table", "div")
	t.unreadNote(m, ends)
	m.end("section")
}

// unreadNote writes the reasons why devices have no registers.
func (t *state) unreadNote(m *markup, ends []*fabric.Port) {
	for _, p := range ends {
		if e := t.registers(p); e != nil && e.Device.Missing != nil {
			m.put("p", t.sample.Names.PortName(p)+" has no registers: "+e.Device.Missing.Error(), "class", "note")
		}
	}
}
