package registers

import (
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/phy"
)

// Cable returns type and length of a cable or module.
func Cable(e phy.ReportEnd) string {
	if e.Module == nil {
		return render.Absent
	}
	return e.Module.Cable()
}

// Serial returns a module's serial number.
func Serial(e phy.ReportEnd) string {
	if e.Module == nil {
		return render.Absent
	}
	return render.OrAbsent(cmdutil.Visible(e.Module.SerialNumber))
}

// Celsius returns a module's temperature.
func Celsius(e phy.ReportEnd) string {
	if e.Module == nil || e.Module.Celsius == nil {
		return render.Absent
	}
	return fmt.Sprintf("%.0f", *e.Module.Celsius)
}

// Received returns the lowest power that a lane receives, in dBm.
func Received(e phy.ReportEnd) string {
	return lowest(e, func(l phy.ReportLane) *float64 { return l.Rx })
}

// Sent returns the lowest power that a lane sends, in dBm.
func Sent(e phy.ReportEnd) string {
	return lowest(e, func(l phy.ReportLane) *float64 { return l.Tx })
}

// lowest returns the lowest power of a port's lanes.
func lowest(e phy.ReportEnd, of func(phy.ReportLane) *float64) string {
	if e.Module == nil || len(e.Module.Lanes) == 0 {
		return render.Absent
	}
	return phy.LightText(phy.Lowest(e.Module.Lanes, of))
}

// RawBER returns the bit error rate before correction.
func RawBER(e phy.ReportEnd) string {
	return rate(e, func(b *phy.ReportBitErrors) float64 { return b.Raw })
}

// EffectiveBER returns the bit error rate after correction.
func EffectiveBER(e phy.ReportEnd) string {
	return rate(e, func(b *phy.ReportBitErrors) float64 { return b.Effective })
}

// SymbolBER returns the rate of symbol errors.
func SymbolBER(e phy.ReportEnd) string {
	return rate(e, func(b *phy.ReportBitErrors) float64 { return b.Symbol })
}

func rate(e phy.ReportEnd, of func(*phy.ReportBitErrors) float64) string {
	if e.BitErrors == nil {
		return render.Absent
	}
	return phy.RateText(of(e.BitErrors))
}
