package linkinfo

import (
	"context"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/cmd/internal/shared/phytext"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// registers are the link ends' registers.
type registers struct{ result *phy.Result }

// readRegisters reads the registers at both ends of the selected nodes' links.
func readRegisters(ctx context.Context, source fabric.Source, key mad.Key, names *fabric.NameMap, f *fabric.Fabric, nodes []*fabric.Node) (*registers, error) {
	wanted := map[*fabric.Node]bool{}
	for _, n := range nodes {
		wanted[n] = true
		for _, p := range n.Ports {
			if p != nil && p.Peer != nil {
				wanted[p.Peer.Node] = true
			}
		}
	}
	source.Stored, source.Progress = f, nil
	r, err := phy.Run(ctx, phy.Options{Source: source, Key: key, Names: names, Selected: func(n *fabric.Node) bool { return wanted[n] }})
	if err != nil {
		return nil, err
	}
	return &registers{r}, nil
}

// end returns the report on a port.
func (r *registers) end(p *fabric.Port) phy.ReportEnd {
	if p == nil || r.result.End(p) == nil {
		return phy.ReportEnd{}
	}
	return r.result.ReportEnd(r.result.End(p))
}

// hasErrors reports whether a link end has a finding.
func (r *registers) hasErrors(p *fabric.Port) bool {
	e := r.result.End(p)
	return e != nil && e.HasProblem()
}

// columns returns the columns of the table, with the values at both ends.
func (r *registers) columns(colour *render.Palette, withPeer bool) []render.Column[linkinfo.Link] {
	both := func(text func(phy.ReportEnd) string) func(linkinfo.Link) string {
		return func(l linkinfo.Link) string {
			near := text(r.end(l.Near.Port))
			if !withPeer || l.Near.Port.Peer == nil {
				return near
			}
			if far := text(r.end(l.Near.Port.Peer)); near != render.Absent || far != render.Absent {
				return near + " / " + far
			}
			return near
		}
	}
	column := render.TextColumn[linkinfo.Link]
	return []render.Column[linkinfo.Link]{
		column("CABLE", func(l linkinfo.Link) string { return phytext.Cable(r.end(l.Near.Port)) }),
		column("°C", both(phytext.Celsius)), column("RX dBm", both(phytext.Received)), column("TX dBm", both(phytext.Sent)),
		column("EFFECTIVE BER", both(phytext.EffectiveBER)),
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
func (r *registers) csvColumns() (all []links.CSVColumn) {
	for _, c := range []struct {
		name  string
		value func(phy.ReportEnd) string
	}{
		{"cable", phytext.Cable},
		{"serial_number", phytext.Serial},
		{"celsius", phytext.Celsius},
		{"rx_dbm_lowest", phytext.Received},
		{"tx_dbm_lowest", phytext.Sent},
		{"raw_ber", phytext.RawBER},
		{"effective_ber", phytext.EffectiveBER},
		{"symbol_ber", phytext.SymbolBER},
	} {
		value := func(p *fabric.Port) string {
			if text := c.value(r.end(p)); text != render.Absent {
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

// report returns the JSON form for a port, nil if it was not read.
func (r *registers) report(p *fabric.Port) *linkinfo.ReportPHY {
	e := r.result.End(p)
	if e == nil {
		return nil
	}
	d := r.end(p)
	doc := &linkinfo.ReportPHY{Findings: d.Findings}
	if missing := e.Device.Missing; missing != nil {
		doc.Missing = new(missing.Error())
	}
	if m := d.Module; m != nil {
		doc.Cable, doc.PartNumber, doc.SerialNumber, doc.Celsius = new(phytext.Cable(d)), &m.PartNumber, &m.SerialNumber, m.Celsius
		doc.Rx = phy.Lowest(m.Lanes, func(l phy.ReportLane) *float64 { return l.Rx })
		doc.Tx = phy.Lowest(m.Lanes, func(l phy.ReportLane) *float64 { return l.Tx })
	}
	if b := d.BitErrors; b != nil {
		doc.RawBER, doc.EffectiveBER, doc.SymbolBER = &b.Raw, &b.Effective, &b.Symbol
	}
	return doc
}

// printFailures prints the requests without a valid reply, and reports whether there are
// any, or no device has registers.
func (r *registers) printFailures(env *cmdutil.Env, names *fabric.NameMap, verbose bool) bool {
	failures := cmdutil.NewFailures(env, "warning", verbose)
	if n := len(r.result.Devices); n > 0 && r.result.Readable() == 0 {
		failures.Print(fmt.Errorf("read registers: none of %s has them: %w", plural.Count(n, "device", "devices"), r.result.Devices[0].Missing))
	}
	for p, g := range r.result.Unread() {
		failures.Print(fmt.Errorf("%s: %s: %w", names.PortName(p), g.Register, g.Err))
	}
	return failures.Close() > 0
}
