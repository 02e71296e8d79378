package phy

import (
	"fmt"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/registers"
	"github.com/ibkit/ibkit/internal/tool/phy"
)

// details prints all values of each link end as a block.
func (v *view) details() {
	for _, e := range v.document.Ends {
		fmt.Fprintf(v.out, "%s to %s\n", endName(e), peerName(e))
		v.field("state", "%s, FEC %s", render.Show(e.State), render.Show(e.FEC))
		v.moduleDetails(e)
		v.laneDetails(e)
		v.errorDetails(e)
		if e.LastDown != nil {
			v.field("last down", "%v", e.LastDown)
		}
		if e.Trouble != nil {
			v.field("why down", "%s", why(e))
			v.field("next", "%s", v.downStep(e))
		}
		if e.Alarms != nil {
			v.field("alarms", "%s", render.OrAbsent(strings.Join(e.Alarms, ", ")))
		}
		for _, g := range e.Unavailable {
			v.field("unavailable", "%s: %s", g.Register, g.Reason)
		}
		fmt.Fprintln(v.out)
	}
	v.summary()
}

// field prints a value with its name.
func (v *view) field(name, format string, args ...any) {
	const column = 22
	line := fmt.Sprintf("  %-*s", column-indent, name) + cmdutil.Visible(fmt.Sprintf(format, args...))
	fmt.Fprintln(v.out, render.Wrap(line, v.width, column))
}

func (v *view) moduleDetails(e phy.ReportEnd) {
	m := e.Module
	if m == nil || !m.Plugged {
		v.field("module", "%s", registers.Cable(e))
		return
	}
	v.field("module", "%s %s", m.Identifier, registers.Cable(e))
	v.field("product", "%s %s revision %s, serial number %s, date %s", m.Vendor, m.PartNumber, m.Revision, m.SerialNumber, render.OrAbsent(m.Date))
	if m.Firmware != nil || m.State != nil {
		v.field("firmware", "%s, state %s", render.Show(m.Firmware), render.Show(m.State))
	}
	if m.Celsius != nil {
		v.field("temperature", "%.1f °C, limit %s °C", *m.Celsius, render.Show(m.CelsiusHigh))
	}
	if m.Volts != nil {
		v.field("voltage, wavelength", "%.2f V, %s nm", *m.Volts, render.Show(m.Wavelength))
	}
}

// laneDetails prints the light of each lane with the module's limits, and its eye.
func (v *view) laneDetails(e phy.ReportEnd) {
	if m := e.Module; m != nil && len(m.Lanes) > 0 {
		v.field("limits", "rx %s to %s dBm, tx %s to %s dBm", render.Show(m.RxLow), render.Show(m.RxHigh), render.Show(m.TxLow), render.Show(m.TxHigh))
		for i, l := range m.Lanes {
			v.field(fmt.Sprintf("lane %d", i), "rx %s dBm, tx %s dBm, bias %g mA", phy.LightText(l.Rx), phy.LightText(l.Tx), l.Bias)
		}
	}
	for _, eye := range e.Eyes {
		v.field(fmt.Sprintf("eye of lane %d", eye.Lane), "upper %d, mid %d, lower %d; figure of merit %d, first %d", eye.Upper, eye.Mid, eye.Lower, eye.Last, eye.Initial)
	}
}

// errorDetails prints error rates and counters.
func (v *view) errorDetails(e phy.ReportEnd) {
	if b := e.BitErrors; b != nil {
		v.field("bit error rates", "raw %s, effective %s, symbol %s, in %v", registers.RawBER(e), registers.EffectiveBER(e), registers.SymbolBER(e), time.Duration(b.Seconds*float64(time.Second)).Round(time.Second))
	}
	if c := e.Counters; c != nil {
		v.field("blocks", "%d corrected, %d uncorrectable", c.CorrectedBlocks, c.UncorrectableBlocks)
		v.field("link downs", "%d, %d unintentional; %d recoveries", c.LinkDowns, c.UnintentionalDowns, c.Recoveries)
	}
	if e.Monitor != nil {
		v.field("BER monitor", "%s", *e.Monitor)
	}
	var blocks []string
	for symbols, n := range e.Histogram {
		if n > 0 {
			blocks = append(blocks, fmt.Sprintf("%d: %d", symbols, n))
		}
	}
	if blocks != nil {
		v.field("symbols per block", "%s", strings.Join(blocks, ", "))
	}
}
