package phy

import (
	"fmt"

	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/report"
)

// A ReportPCIe is an adapter's PCI Express link.
type ReportPCIe struct {
	Generation        int     `json:"generation"`
	HighestGeneration int     `json:"highest_generation"`
	Width             uint8   `json:"width"`
	HighestWidth      uint8   `json:"highest_width"`
	PayloadBytes      int     `json:"payload_bytes"`
	ReadRequestBytes  int     `json:"read_request_bytes"`
	Errors            *uint64 `json:"errors"` // nil: unknown
}

func (d *Device) reportPCIe() *ReportPCIe {
	l := d.PCIe
	if l == nil {
		return nil
	}
	doc := &ReportPCIe{
		Generation: l.SpeedActive.Generation(), HighestGeneration: l.SpeedEnabled.Generation(), Width: l.WidthActive, HighestWidth: l.WidthEnabled,
		PayloadBytes: 128 << l.PayloadSize, ReadRequestBytes: 128 << l.ReadRequestSize,
	}
	if c := d.PCIeErrors; c != nil {
		doc.Errors = new(c.Errors())
	}
	return doc
}

// findPCIe checks an adapter's PCI Express link.
func (r *Result) findPCIe(d *Device) {
	if l := d.PCIe; l != nil && l.WidthActive > 0 {
		width, speed := l.WidthActive < l.WidthEnabled, l.SpeedActive.Generation() < l.SpeedEnabled.Generation()
		if width || speed && l.SpeedActive.Generation() > 0 {
			r.addDevice(d, report.PCIeSlow, "PCI Express %s of %s", pcieText(l.SpeedActive, l.WidthActive), pcieText(l.SpeedEnabled, l.WidthEnabled))
		}
	}
	if c := d.PCIeErrors; c != nil && c.Errors() > 0 {
		r.addDevice(d, report.PCIeErrors, "%d receive and %d transmit errors, %d CRC errors of data, %d of link packets, %d blocks not corrected",
			c.RxErrors, c.TxErrors, c.CRCErrorsTLP, c.CRCErrorsDLLP, c.UncorrectableErrors)
	}
}

// pcieText returns a link as "gen 5 x16".
func pcieText(s register.PCIeSpeed, lanes uint8) string {
	return fmt.Sprintf("gen %d x%d", s.Generation(), lanes)
}
