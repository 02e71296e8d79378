package counters

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// wordBytes is the unit for XmitData and RcvData.
const wordBytes = 4

// DataRate returns a port's link rate in bits per second, without the line code overhead:
// 8b/10b up to QDR, 64b/66b above (InfiniBand Architecture, Volume 2, 5.5 and 5.6). It is 0
// if the link is down or unknown.
func DataRate(p *fabric.Port) float64 {
	if p.Info == nil || p.Info.State == ib.PortDown {
		return 0
	}
	return rateOf(p.ActiveSpeed(), p.Info.LinkWidthActive)
}

func rateOf(speed ib.Speed, width ib.LinkWidth) float64 {
	lane := speed.NominalGbps()
	switch speed {
	case ib.SDR, ib.DDR, ib.QDR:
		lane *= 0.8
	case ib.FDR:
		lane = speed.LaneGbps() * 64 / 66
	}
	return lane * float64(width.Lanes()) * 1e9
}

// BytesPerSecond returns the XmitData or RcvData rate in bytes.
func (d *Delta) BytesPerSecond(c Counter) (float64, bool) {
	words, ok := d.PerSecond(c)
	return words * wordBytes, ok
}

// Utilization returns the part of a link's rate that the traffic in XmitData or RcvData
// uses, from 0 to 1.
func (p *Port) Utilization(d *Delta, c Counter) (float64, bool) {
	rate := DataRate(p.Port)
	bytes, ok := d.BytesPerSecond(c)
	if !ok || rate == 0 {
		return 0, false
	}
	return bytes * 8 / rate, true
}

// quantumTick is PortSamplesControl.Tick on Quantum switches: their ticks count bytes on
// the link rather than on a lane.
const quantumTick = 7

// TickBytes returns how many bytes the link could have sent in an XmitWait tick: the tick
// lasts for Tick+1 bytes on a lane (InfiniBand Architecture, Volume 1, 16.1.3.2), or on the
// link if Tick is 7, as on Quantum switches (NVIDIA, ibdiagnet user manual, "Congestion
// Assessment on InfiniBand Links"). It reports false if the tick or the width is unknown.
func (p *Port) TickBytes() (float64, bool) {
	if p.Tick == nil || p.Info == nil {
		return 0, false
	}
	bytes := float64(*p.Tick) + 1
	if *p.Tick == quantumTick {
		return bytes, true
	}
	lanes := p.Info.LinkWidthActive.Lanes()
	return bytes * float64(lanes), lanes > 0
}

// LostBandwidth returns the part of a link's rate that was lost because packets waited for
// credits from the peer, from 0 to 1.
func (p *Port) LostBandwidth(d *Delta) (float64, bool) {
	ticks, ok := d.PerSecond(XmitWait)
	bytes, known := p.TickBytes()
	rate := DataRate(p.Port)
	if !ok || rate == 0 || !known && ticks > 0 {
		return 0, false
	}
	return min(ticks*bytes*8/rate, 1), true
}

// Waited returns the part of the demand for a link that waited since the counters were
// cleared: the bytes that could have been sent instead of waiting, divided by the sum of
// these and the bytes sent. lost is the former in bytes.
func (p *Port) Waited() (part, lost float64, ok bool) {
	wait, hasWait := p.Now.Value(XmitWait)
	data, hasData := p.Now.Value(XmitData)
	bytes, known := p.TickBytes()
	if !hasWait || !hasData || !known {
		return 0, 0, false
	}
	lost = float64(wait.N) * bytes
	if lost == 0 {
		return 0, 0, true
	}
	return lost / (lost + float64(data.N)*wordBytes), lost, true
}
