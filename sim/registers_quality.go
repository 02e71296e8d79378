package sim

import (
	"strings"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
)

// eye answers SLRG: a lane with much noise has a small eye.
func eye(_ *Fabric, p *Port, request []byte) register.Register {
	r := &register.Eye{LocalPort: p.local(), Lane: request[2] & 0xf, Version: 4}
	if int(r.Lane) >= p.lanes() || !p.up() {
		return r
	}
	c, first := p.cage()
	r.Valid, r.Initial = 1, 90
	r.Upper, r.Mid, r.Lower = 62, 60, 58
	if p.effectiveBER() > 0 {
		r.Upper, r.Mid, r.Lower = 31, 29, 26
	}
	r.Last = uint16(c.between(90, 98, uint64(50+first+int(r.Lane))))
	return r
}

// berMonitor answers PPBMC.
func berMonitor(f *Fabric, p *Port, _ []byte) register.Register {
	r := &register.BERMonitor{LocalPort: p.local(), Type: 1, State: register.MonitorNormal}
	if f.bitErrors(p).EffectiveErrors > 0 {
		r.State = register.MonitorAlarm
	}
	return r
}

// longCounters returns group 0x21 of PPCNT.
func (f *Fabric) longCounters(p *Port) *register.LongCounters {
	r := register.NewLongCounters(p.local())
	for i, name := range register.LongCounterNames {
		r.Values[i] = f.count(p, strings.ReplaceAll(strings.Replace(name, "Qp1", "QP1", 1), "Vl_", "VL"))
	}
	return r
}

// shortCounters returns group 0x20.
func (f *Fabric) shortCounters(p *Port) *register.ShortCounters {
	r := register.NewShortCounters(p.local())
	r.LinkDowned = uint8(min(f.count(p, "LinkDownedCounter"), 1<<8-1))
	r.LinkErrorRecovery = uint8(min(f.count(p, "LinkErrorRecoveryCounter"), 1<<8-1))
	r.SymbolErrors = uint16(min(f.count(p, "SymbolErrorCounter"), 1<<16-1))
	r.RcvErrors = uint16(min(f.count(p, "PortRcvErrors"), 1<<16-1))
	r.XmitDiscards = uint16(min(f.count(p, "PortXmitDiscards"), 1<<16-1))
	r.XmitWait = uint32(min(f.count(p, "PortXmitWait"), 1<<32-1))
	r.XmitData, r.RcvData = uint32(min(f.count(p, "PortXmitData"), 1<<32-1)), uint32(min(f.count(p, "PortRcvData"), 1<<32-1))
	r.XmitPkts, r.RcvPkts = uint32(min(f.count(p, "PortXmitPkts"), 1<<32-1)), uint32(min(f.count(p, "PortRcvPkts"), 1<<32-1))
	return r
}

// dieCounters returns group 0x24: each lane between the dies has few corrected blocks.
func (f *Fabric) dieCounters(p *Port) *register.DieCounters {
	r := register.NewDieCounters(p.local())
	if p.up() {
		r.TimeSinceLastClear = uint64(f.uptime().Milliseconds())
		for i := range r.CorrectedBlocks {
			r.CorrectedBlocks[i] = uint64(i + 1)
		}
	}
	return r
}

// packetCounters returns group 0x25.
func (f *Fabric) packetCounters(p *Port) *register.PacketCounters {
	r := register.NewPacketCounters(p.local())
	if p.up() {
		r.Values[0] = uint64(f.uptime().Milliseconds())
	}
	r.Values[1], r.Values[2] = f.count(p, "PortXmitPkts"), f.count(p, "PortRcvPkts")
	return r
}

// temperatures answers MTBR: the modules of the connectors, 0 for an empty connector.
func temperatures(_ *Fabric, n *Node, request []byte) (mad.Attribute, register.AccessStatus) {
	r := new(register.Temperatures)
	data := make([]byte, r.Spec().Size)
	copy(data, request)
	if mad.Decode(r, data) != nil || r.First < register.FirstModuleSensor || r.Count == 0 || r.Count > register.TemperatureRecords {
		return nil, register.StatusBadParameter
	}
	r.Records = [register.TemperatureRecords]register.TemperatureRecord{}
	for i := range int(r.Count) {
		p := (cage{n, int(r.First) - register.FirstModuleSensor + i + 1}).port()
		if p == nil {
			continue
		}
		celsius := register.Celsius8(p.module().Temperature.Celsius() * 8)
		r.Records[i] = register.TemperatureRecord{Temperature: celsius, Highest: celsius}
	}
	return r, 0
}

// moduleCount answers MGPIR.
func moduleCount(_ *Fabric, n *Node, _ []byte) (mad.Attribute, register.AccessStatus) {
	last, _ := n.Ports[len(n.Ports)-1].cage()
	return &register.ModuleCount{Devices: 1, Modules: uint8(last.number)}, 0
}

// fanLimits answers MFSL.
func fanLimits(_ *Fabric, _ *Node, request []byte) (mad.Attribute, register.AccessStatus) {
	r := new(register.FanLimits)
	data := make([]byte, r.Spec().Size)
	copy(data, request)
	if mad.Decode(r, data) != nil || r.Tachometer >= fanCount {
		return nil, register.StatusBadParameter
	}
	r.Low, r.High = 5000, 14000
	return r, 0
}

// pcieLink answers MPEIN, and pcieCounters MPCNT.
func pcieLink(_ *Fabric, n *Node, _ []byte) (mad.Attribute, register.AccessStatus) {
	const generations5 = 0x37
	r := &register.PCIeLink{
		SpeedEnabled: generations5, SpeedActive: 0x20, WidthEnabled: 16, WidthActive: 16, PayloadSize: 2, ReadRequestSize: 5,
	}
	if n.vendor.platform.narrow {
		r.WidthActive, r.Status = 8, 1
	}
	return r, 0
}

func pcieCounters(_ *Fabric, n *Node, _ []byte) (mad.Attribute, register.AccessStatus) {
	r := &register.PCIeCounters{StalledReads: 1, StalledWrites: 2, CorrectableErrors: 40}
	if n.vendor.platform.narrow {
		r.RxErrors, r.CRCErrorsTLP = 3, 17
	}
	return r, 0
}
