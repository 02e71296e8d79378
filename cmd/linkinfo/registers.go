package linkinfo

import (
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/cmd/internal/shared/registers"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/linkinfo"
)

// registerView has the columns of link ends with registers.
type registerView struct{ *registers.Reader }

// hasErrors reports whether a link end has a finding.
func (r registerView) hasErrors(p *fabric.Port) bool {
	e := r.Result.End(p)
	return e != nil && e.HasProblem()
}

// columns returns the columns of the table, with the values at both ends.
func (r registerView) columns(colour *render.Palette, withPeer bool) []render.Column[linkinfo.Link] {
	both := func(text func(phy.ReportEnd) string) func(linkinfo.Link) string {
		return func(l linkinfo.Link) string {
			near := text(r.End(l.Near.Port))
			if !withPeer || l.Near.Port.Peer == nil {
				return near
			}
			if far := text(r.End(l.Near.Port.Peer)); near != render.Absent || far != render.Absent {
				return near + " / " + far
			}
			return near
		}
	}
	column := render.TextColumn[linkinfo.Link]
	return []render.Column[linkinfo.Link]{
		column("CABLE", func(l linkinfo.Link) string { return registers.Cable(r.End(l.Near.Port)) }),
		column("°C", both(registers.Celsius)), column("RX dBm", both(registers.Received)), column("TX dBm", both(registers.Sent)),
		column("EFFECTIVE BER", both(registers.EffectiveBER)),
		column("PHY", both(func(e phy.ReportEnd) string {
			var kinds []string
			for _, k := range e.Findings {
				kinds = append(kinds, colour.Bad(string(k)))
			}
			return render.OrAbsent(strings.Join(kinds, " "))
		})),
	}
}

// csvColumns returns the columns for both ends.
func (r registerView) csvColumns() (all []links.CSVColumn) {
	for _, c := range []struct {
		name  string
		value func(phy.ReportEnd) string
	}{
		{"cable", registers.Cable},
		{"serial_number", registers.Serial},
		{"celsius", registers.Celsius},
		{"rx_dbm_lowest", registers.Received},
		{"tx_dbm_lowest", registers.Sent},
		{"raw_ber", registers.RawBER},
		{"effective_ber", registers.EffectiveBER},
		{"symbol_ber", registers.SymbolBER},
	} {
		value := func(p *fabric.Port) string {
			if text := c.value(r.End(p)); text != render.Absent {
				return text
			}
			return ""
		}
		all = append(all,
			links.CSVColumn{Name: c.name, Value: func(l linkinfo.Link) string { return value(l.Near.Port) }},
			links.CSVColumn{Name: "peer_" + c.name, Value: func(l linkinfo.Link) string { return value(l.Near.Port.Peer) }})
	}
	return all
}
