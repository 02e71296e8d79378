package phy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/registers"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

var endColumns = []render.Column[phy.ReportEnd]{
	render.TextColumn("NODE GUID", func(e phy.ReportEnd) string { return e.NodeGUID.String() }),
	render.TextColumn("NAME", func(e phy.ReportEnd) string { return e.Name }),
	render.TextColumn("PORT", func(e phy.ReportEnd) string { return fmt.Sprint(e.Port) }),
	render.TextColumn("PEER NAME", peerColumn(func(p *report.Peer) string { return render.Show(p.Name) })),
	render.TextColumn("PEER PORT", peerColumn(func(p *report.Peer) string { return fmt.Sprint(p.Port) })),
	render.TextColumn("STATE", func(e phy.ReportEnd) string { return render.Show(e.State) }),
	render.TextColumn("FEC", func(e phy.ReportEnd) string { return render.Show(e.FEC) }),
	render.TextColumn("CABLE", registers.Cable),
	render.TextColumn("PART NUMBER", moduleColumn(func(m *phy.ReportModule) string { return m.PartNumber })),
	render.TextColumn("SERIAL NUMBER", moduleColumn(func(m *phy.ReportModule) string { return m.SerialNumber })),
	render.TextColumn("CELSIUS", registers.Celsius),
	render.TextColumn("RX DBM LOWEST", registers.Received),
	render.TextColumn("TX DBM LOWEST", registers.Sent),
	render.TextColumn("RAW BER", registers.RawBER),
	render.TextColumn("EFFECTIVE BER", registers.EffectiveBER),
	render.TextColumn("SYMBOL BER", registers.SymbolBER),
	render.TextColumn("LINK DOWNS", func(e phy.ReportEnd) string {
		if e.Counters == nil {
			return ""
		}
		return fmt.Sprint(e.Counters.LinkDowns)
	}),
	render.TextColumn("WHY DOWN", why),
	render.TextColumn("LAST DOWN", func(e phy.ReportEnd) string { return render.Show(e.LastDown) }),
	render.TextColumn("FINDINGS", func(e phy.ReportEnd) string {
		var kinds []string
		for _, k := range e.Findings {
			kinds = append(kinds, string(k))
		}
		return strings.Join(kinds, " ")
	}),
}

func peerColumn(value func(*report.Peer) string) func(phy.ReportEnd) string {
	return func(e phy.ReportEnd) string {
		if e.Peer == nil {
			return ""
		}
		return value(e.Peer)
	}
}

func moduleColumn(value func(*phy.ReportModule) string) func(phy.ReportEnd) string {
	return func(e phy.ReportEnd) string {
		if e.Module == nil {
			return ""
		}
		return value(e.Module)
	}
}

// A cableRow is a cable or module with the link ends that report it.
type cableRow struct {
	module *phy.ReportModule
	ends   []string
}

// cables returns a row for each serial number, in the order of link ends. Both ends of a
// cable, and both ports of a module, report the same number.
func (v *view) cables() []cableRow {
	var rows []cableRow
	index := map[string]int{}
	for _, e := range v.document.Ends {
		if e.Module == nil || !e.Module.Plugged {
			continue
		}
		key := e.Module.PartNumber + "\x00" + e.Module.SerialNumber
		i, known := index[key]
		if !known || e.Module.SerialNumber == "" {
			i = len(rows)
			index[key] = i
			rows = append(rows, cableRow{module: e.Module})
		}
		rows[i].ends = append(rows[i].ends, fabric.PortName(e.Name, int(e.Port)))
	}
	return rows
}

var cableColumns = []render.Column[cableRow]{
	render.TextColumn("SERIAL NUMBER", func(r cableRow) string { return r.module.SerialNumber }),
	render.TextColumn("PART NUMBER", func(r cableRow) string { return r.module.PartNumber }),
	render.TextColumn("REVISION", func(r cableRow) string { return r.module.Revision }),
	render.TextColumn("VENDOR", func(r cableRow) string { return r.module.Vendor }),
	render.TextColumn("TYPE", func(r cableRow) string { return r.module.Type }),
	render.TextColumn("IDENTIFIER", func(r cableRow) string { return r.module.Identifier }),
	render.TextColumn("LENGTH METRES", func(r cableRow) string { return render.Show(r.module.Length) }),
	render.TextColumn("FIRMWARE", func(r cableRow) string { return render.Show(r.module.Firmware) }),
	render.TextColumn("DATE", func(r cableRow) string { return r.module.Date }),
	render.TextColumn("ENDS", func(r cableRow) string { return strings.Join(r.ends, " ") }),
}

// visible returns a column for a terminal.
func visible[Row any](header string, c render.Column[Row]) render.Column[Row] {
	return render.TextColumn(header, func(r Row) string { return render.OrAbsent(cmdutil.Visible(string(c.Append(nil, r)))) })
}

// cableTable prints the inventory.
func (v *view) cableTable() {
	var columns []render.Column[cableRow]
	for _, c := range cableColumns {
		columns = append(columns, visible(c.Header, c))
	}
	if rows := v.cables(); len(rows) > 0 {
		render.Columns(v.out, columns, rows)
	}
	v.summary()
}

// switches returns the switches.
func (v *view) switches() []phy.ReportDevice {
	var list []phy.ReportDevice
	for _, d := range v.document.Devices {
		if d.Type == mad.NodeTypeSwitch.String() {
			list = append(list, d)
		}
	}
	return list
}

var deviceColumns = []render.Column[phy.ReportDevice]{
	render.TextColumn("NODE GUID", func(d phy.ReportDevice) string { return d.NodeGUID.String() }),
	render.TextColumn("NAME", func(d phy.ReportDevice) string { return d.Name }),
	render.TextColumn("LID", func(d phy.ReportDevice) string { return fmt.Sprint(d.LID) }),
	render.TextColumn("PART NUMBER", func(d phy.ReportDevice) string { return render.Show(d.PartNumber) }),
	render.TextColumn("SERIAL NUMBER", func(d phy.ReportDevice) string { return render.Show(d.SerialNumber) }),
	render.TextColumn("PSID", func(d phy.ReportDevice) string { return render.Show(d.PSID) }),
	render.TextColumn("FIRMWARE", func(d phy.ReportDevice) string { return render.Show(d.Firmware) }),
	render.TextColumn("UPTIME SECONDS", func(d phy.ReportDevice) string { return render.Show(d.Uptime) }),
	render.TextColumn("CELSIUS", func(d phy.ReportDevice) string {
		var list []string
		for _, s := range d.Sensors {
			list = append(list, fmt.Sprintf("%s %.1f", s.Name, s.Celsius))
		}
		return strings.Join(list, ", ")
	}),
	render.TextColumn("FANS RPM", func(d phy.ReportDevice) string {
		var list []string
		for _, f := range d.Fans { // the numbers of MFSM, as in ibswinfo.sh
			list = append(list, fmt.Sprintf("%d:%d", f.Number, f.RPM))
		}
		return strings.Join(list, " ")
	}),
	render.TextColumn("POWER SUPPLIES", func(d phy.ReportDevice) string { return eachSupply(d, supplyState) }),
	render.TextColumn("WATTS", func(d phy.ReportDevice) string {
		return eachSupply(d, func(s phy.ReportSupply) string { return render.Show(s.Watts) })
	}),
	render.TextColumn("MODULES CELSIUS", func(d phy.ReportDevice) string {
		var list []string
		for _, m := range d.Modules {
			list = append(list, fmt.Sprintf("%d %.1f", m.Module, m.Celsius))
		}
		return strings.Join(list, ", ")
	}),
	render.TextColumn("MISSING", func(d phy.ReportDevice) string { return render.Show(d.Missing) }),
}

// eachSupply returns the texts of the power supplies, with the numbers of MSPS.
func eachSupply(d phy.ReportDevice, text func(phy.ReportSupply) string) string {
	var list []string
	for i, s := range d.Supplies {
		list = append(list, fmt.Sprintf("%d:%s", i, text(s)))
	}
	return strings.Join(list, " ")
}

func supplyState(s phy.ReportSupply) string {
	switch {
	case !s.Present:
		return "empty"
	case s.Good:
		return "good"
	}
	return "bad"
}

// power returns a power supply's watts, or its state if they are unknown.
func power(s phy.ReportSupply) string {
	if s.Watts == nil {
		return supplyState(s)
	}
	return fmt.Sprintf("%dW", *s.Watts)
}

// hottest returns the hottest module with its connector.
func hottest(d phy.ReportDevice) string {
	if len(d.Modules) == 0 {
		return render.Absent
	}
	m := slices.MaxFunc(d.Modules, func(a, b phy.ReportHeat) int { return cmp.Compare(a.Celsius, b.Celsius) })
	return fmt.Sprintf("%.1f (%d)", m.Celsius, m.Module)
}

// switchTable prints the switches.
func (v *view) switchTable() {
	column := func(i int, header string) render.Column[phy.ReportDevice] { return visible(header, deviceColumns[i]) }
	columns := []render.Column[phy.ReportDevice]{
		column(1, "SWITCH"), column(2, "LID"), column(3, "PART"), column(4, "SERIAL"), column(5, "PSID"), column(6, "FIRMWARE"), column(7, "UPTIME s"),
		column(8, "°C"), render.TextColumn("HOTTEST MODULE", hottest), column(9, "FANS rpm"), render.TextColumn("POWER", func(d phy.ReportDevice) string { return render.OrAbsent(eachSupply(d, power)) }),
		render.TextColumn("FINDING", func(d phy.ReportDevice) string { return v.kinds(d.Findings) }),
	}
	if rows := v.switches(); len(rows) > 0 && v.result.Readable() > 0 {
		render.Columns(v.out, columns, rows)
	}
	v.adapterTable()
	v.summary()
}

// adapterTable prints the adapters with a PCI Express link.
func (v *view) adapterTable() {
	var rows []phy.ReportDevice
	for _, d := range v.document.Devices {
		if d.PCIe != nil {
			rows = append(rows, d)
		}
	}
	if len(rows) == 0 {
		return
	}
	if len(v.switches()) > 0 {
		fmt.Fprintln(v.out)
	}
	column := render.TextColumn[phy.ReportDevice]
	render.Columns(v.out, []render.Column[phy.ReportDevice]{
		column("ADAPTER", func(d phy.ReportDevice) string { return cmdutil.Visible(fabric.PortName(d.Name, int(d.Port))) }),
		column("LID", func(d phy.ReportDevice) string { return fmt.Sprint(d.LID) }),
		column("FIRMWARE", func(d phy.ReportDevice) string { return render.Show(d.Firmware) }),
		column("PCIE", pcie), column("PCIE ERRORS", func(d phy.ReportDevice) string { return render.Show(d.PCIe.Errors) }),
		column("FINDING", func(d phy.ReportDevice) string { return v.kinds(d.Findings) }),
	}, rows)
}

// pcie returns an adapter's link as "gen 5 x16", with its capability if that is more.
func pcie(d phy.ReportDevice) string {
	p := d.PCIe
	text := fmt.Sprintf("gen %d x%d", p.Generation, p.Width)
	if p.Generation < p.HighestGeneration || p.Width < p.HighestWidth {
		text += fmt.Sprintf(" of gen %d x%d", p.HighestGeneration, p.HighestWidth)
	}
	return text
}
