package sim

import (
	"math"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad/register"
)

// counterGroup returns the group of PPCNT that a request selects.
func counterGroup(f *Fabric, p *Port, request []byte) register.Register {
	switch request[3] & 0x3f {
	case 0x12:
		return f.physicalCounters(p)
	case 0x16:
		return f.bitErrors(p)
	case 0x22:
		r := register.NewRetransmission(p.local())
		r.Received, r.Sent = f.bits(p)/4000, f.bits(p)/4000
		return r
	case 0x23:
		return f.fecHistogram(p)
	case 0x24:
		return f.dieCounters(p)
	case 0x20:
		return f.shortCounters(p)
	case 0x21:
		return f.longCounters(p)
	case 0x25:
		return f.packetCounters(p)
	}
	return nil
}

// pageOf returns the page of PDDR that a request selects.
func pageOf(f *Fabric, p *Port, request []byte) register.Register {
	switch request[7] {
	case 0:
		return p.linkState()
	case 1:
		return p.trouble()
	case 3:
		m := p.module()
		if m.Unit = uint8(word(request, 4) >> 29 & 3); m.Unit == 0 {
			inDBm(m)
		}
		return m
	case 6:
		return f.linkDown(p)
	case 9:
		return p.flags()
	}
	return nil
}

// inDBm converts a module's power to whole dBm.
func inDBm(m *register.Module) {
	convert := func(v *register.Power) {
		if *v != 0 {
			*v = register.Power(int16(math.Round(10 * math.Log10(float64(*v)/1000))))
		} else if m.IsOptical() {
			*v = register.Power(0x10000 - 40)
		}
	}
	for i := range m.RxPower {
		convert(&m.RxPower[i])
		convert(&m.TxPower[i])
	}
	for _, v := range []*register.Power{&m.RxHigh, &m.RxLow, &m.TxHigh, &m.TxLow} {
		convert(v)
	}
}

// bits returns the bits that the port received, traffic or not: links send all the time.
func (f *Fabric) bits(p *Port) uint64 {
	if !p.up() {
		return 0
	}
	rate := p.activeSpeed().LaneGbps() * 1e9 * float64(p.Info.LinkWidthActive.Lanes())
	return uint64(rate * f.uptime().Seconds())
}

// activeSpeed returns the speed in use.
func (p *Port) activeSpeed() ib.Speed { return p.Info.ActiveSpeed(&p.Info, p.Ext) }

// count returns a performance counter.
func (f *Fabric) count(p *Port, name string) uint64 {
	v, err := f.Counter(p, name)
	if err != nil {
		return 0
	}
	return v
}

// physicalCounters returns group 0x12.
func (f *Fabric) physicalCounters(p *Port) *register.PhysicalCounters {
	r := register.NewPhysicalCounters(p.local())
	if !p.up() {
		return r
	}
	r.TimeSinceLastClear = uint64(f.uptime().Milliseconds())
	r.SymbolErrors = f.count(p, "SymbolErrorCounter")
	r.LinkDowns = uint32(f.count(p, "LinkDownedCounter"))
	r.UnintentionalDowns = r.LinkDowns
	r.Recoveries = uint32(f.count(p, "LinkErrorRecoveryCounter"))
	if p.fecCode() == 0 {
		return r
	}
	const blockBits = 5440
	r.CorrectedSymbols = uint64(float64(f.bits(p)) * p.rawBER())
	r.UncorrectableBlocks = f.count(p, "PortFECUncorrectableBlockCtr") + uint64(float64(f.bits(p))*p.effectiveBER()/15)
	r.CorrectedBlocks = r.CorrectedSymbols * 9 / 10
	r.CleanBlocks = f.bits(p)/blockBits - r.CorrectedBlocks
	for i := range r.LaneSymbols {
		r.LaneSymbols[i] = r.CorrectedSymbols / 4
	}
	return r
}

// effectiveBER returns the rate after correction.
func (p *Port) effectiveBER() float64 {
	if p.rawBER() > 1e-5 {
		return 3e-9
	}
	return 0
}

// bitErrors returns group 0x16.
func (f *Fabric) bitErrors(p *Port) *register.BitErrors {
	r := register.NewBitErrors(p.local())
	r.RawBER, r.EffectiveBER, r.SymbolBER = register.NewBER(0), register.NewBER(0), register.NewBER(0)
	for i := range r.LaneBER {
		r.LaneBER[i] = register.NewBER(0)
	}
	r.ReceivedBits = f.bits(p)
	if r.ReceivedBits == 0 {
		return r
	}
	r.TimeSinceLastClear = uint64(f.uptime().Milliseconds())
	raw, lanes := p.rawBER(), p.Info.LinkWidthActive.Lanes()
	r.SymbolErrors = f.count(p, "SymbolErrorCounter")
	r.EffectiveErrors = max(r.SymbolErrors, uint64(p.effectiveBER()*float64(r.ReceivedBits))) // retransmission only removes errors
	r.SymbolBER = register.NewBER(float64(r.SymbolErrors) / float64(r.ReceivedBits))
	r.EffectiveBER = register.NewBER(float64(r.EffectiveErrors) / float64(r.ReceivedBits))
	raw = max(raw, r.EffectiveBER.Value())
	r.RawBER = register.NewBER(raw)
	for i := range min(lanes, 8) {
		r.LaneBER[i] = register.NewBER(raw)
		r.RawErrors[i] = uint64(raw * float64(r.ReceivedBits) / float64(lanes))
		r.CorrectedBits += r.RawErrors[i]
	}
	return r
}

// fecHistogram returns group 0x23.
func (f *Fabric) fecHistogram(p *Port) *register.FECHistogram {
	r := register.NewFECHistogram(p.local())
	physical := f.physicalCounters(p)
	r.Blocks[0] = physical.CleanBlocks
	share := physical.CorrectedBlocks
	for i := 1; i < 15 && share > 0; i++ {
		r.Blocks[i] = share * 9 / 10
		share /= 10
	}
	r.Blocks[15] += physical.UncorrectableBlocks
	return r
}

// fecCode returns the port's correction as in PDDR: 0 while the link is down.
func (p *Port) fecCode() register.FEC {
	if !p.up() {
		return 0
	}
	switch speed := p.activeSpeed(); {
	case speed >= ib.NDR:
		return 8
	case speed >= ib.HDR:
		return 5
	case speed >= ib.EDR:
		return 2
	}
	return 0
}

// linkState returns page 0.
func (p *Port) linkState() *register.LinkState {
	r := register.NewLinkState(p.local())
	switch p.Info.PhysState {
	case ib.PhysLinkUp:
		r.State = register.PhyActive
		r.Protocol, r.Negotiation = 1, 4
		r.Speed, r.Width = uint16(p.activeSpeed()), widthBits(p.Info.LinkWidthActive)
		r.FEC = p.fecCode()
		r.FECRequest = 1 << r.FEC
	case ib.PhysDisabled:
		r.State = register.PhyDisabled
	default:
		r.State = register.PhyPolling
	}
	return r
}

// widthBits converts widths to the registers' bits: 1 1X, 2 2X, 4 4X, and the widest.
func widthBits(w ib.LinkWidth) uint16 {
	var bits uint16
	for _, one := range []ib.LinkWidth{ib.Width1X, ib.Width2X, ib.Width4X} {
		if w.Has(one) {
			bits |= uint16(one.Lanes())
		}
	}
	return bits
}

// trouble returns page 1.
func (p *Port) trouble() *register.Trouble {
	r := register.NewTrouble(p.local())
	text := "No issue was observed"
	switch c, _ := p.cage(); {
	case p.Info.PhysState == ib.PhysDisabled:
		r.Opcode, text = 1, "The port is closed by command"
	case c.kind() == register.CableUnplugged:
		r.Opcode, text = 1024, "Cable is unplugged"
	case !p.up():
		r.Opcode, text = 2, "Negotiation failure"
	}
	copy(r.Message[:], text)
	return r
}

// linkDown returns page 6.
func (f *Fabric) linkDown(p *Port) *register.LinkDown {
	r := register.NewLinkDown(p.local())
	switch {
	case f.pulled[p] != nil && p.Peer == nil:
		r.Blame, r.Local = 1, 23
	case f.count(p, "LinkDownedCounter") == 0:
	case p.effectiveBER() > 0:
		r.Blame, r.Local, r.RawAlarms, r.EffectiveAlarms = 1, 2, 12, 3
	default:
		r.Blame, r.Local, r.Remote = 2, 21, 3
	}
	return r
}

// laneMapping returns PMLP.
func (p *Port) laneMapping() *register.LaneMapping {
	r := &register.LaneMapping{LocalPort: p.local(), Width: uint8(p.lanes())}
	c, first := p.cage()
	for lane := range p.lanes() {
		at := uint8(first + lane)
		r.Lanes[lane] = register.ModuleLane{Module: uint8(c.number - 1), Tx: at, Rx: at}
	}
	return r
}

// portStatus returns PAOS.
func (p *Port) portStatus() *register.PortStatus {
	r := &register.PortStatus{LocalPort: p.local(), Oper: 2, Admin: 1, Physical: uint8(p.Info.PhysState), Logical: uint8(p.Info.State)}
	if p.up() {
		r.Oper = 1
	}
	if p.Info.PhysState == ib.PhysDisabled {
		r.Admin = 2
	}
	return r
}

// linkRates returns PTYS.
func (p *Port) linkRates() *register.LinkRates {
	r := register.NewLinkRates(p.local())
	r.SpeedSupported = uint16(p.Info.SupportedSpeeds(&p.Info, p.Ext))
	r.SpeedEnabled = uint16(p.Info.EnabledSpeeds(&p.Info, p.Ext))
	r.WidthSupported, r.WidthEnabled = widthBits(p.Info.LinkWidthSupported), widthBits(p.Info.LinkWidthEnabled)
	if p.up() {
		r.SpeedActive, r.WidthActive = uint16(p.activeSpeed()), widthBits(p.Info.LinkWidthActive)
		r.Rate = uint16(p.activeSpeed().LaneGbps() * 10 * float64(p.Info.LinkWidthActive.Lanes()))
	}
	return r
}
