package sim

import (
	"io"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

var faults = Preset{
	Name:  "faults",
	About: "a small cluster with ports and agents that have each kind of fault in their counters",
	link:  LinkSpec{Speed: ib.NDR},
	build: buildSmallCluster,
	inject: func(f *Fabric) {
		f.Model.Load, f.Model.Uptime = 0.15, time.Hour
		f.degradeCable(&f.Node("leaf1").Ports[1])
		f.congest(f.Node("host2").Ports[1].Peer)
		// A link that flaps.
		f.mustGrow(f.Node("host5").Ports[1].Peer, "LinkDownedCounter", 0.8)
		f.mustGrow(f.Node("host5").Ports[1].Peer, "LinkErrorRecoveryCounter", 0.8)
		// Another user clears a port's counters again and again.
		cleared := f.Node("host6").Ports[1].Peer
		f.mustGrow(cleared, "SymbolErrorCounter", 20)
		f.clearEvery(cleared, 700*time.Millisecond)
		// A partition that excludes one host.
		f.mustGrow(f.Node("host3").Ports[1].Peer, "PortRcvConstraintErrors", 3)
		f.breakAgents()
	},
}

// degradeCable makes the errors grow on a link that cannot carry the configured rate.
func (f *Fabric) degradeCable(p *Port) {
	p.SetFEC(mad.FECRS)
	f.mustCount(p, map[string]uint64{"SymbolErrorCounter": 5210, "LinkErrorRecoveryCounter": 61, "PortFECUncorrectableBlockCtr": 407})
	for name, perSecond := range map[string]float64{
		"SymbolErrorCounter": 40, "LinkErrorRecoveryCounter": 1.5, "PortRcvErrors": 6, "PortLocalPhysicalErrors": 6,
		"PortFECCorrectableBlockCtr": 90_000, "PortFECCorrectedSymbolCtr": 110_000, "PortFECUncorrectableBlockCtr": 6,
	} {
		f.mustGrow(p, name, perSecond)
	}
	f.mustGrow(p.Peer, "SymbolErrorCounter", 2)
}

// congest makes a port wait for 12 % of the time and drop packets that waited too long.
func (f *Fabric) congest(p *Port) {
	const lost = 0.12 * 400e9 / 8 // bytes per second at 4X NDR
	f.mustGrow(p, "PortXmitWait", lost/(defaultTick+1))
	f.mustGrow(p, "PortXmitDiscards", 25)
	f.mustGrow(p, "PortSwHOQLifetimeLimitDiscards", 25)
}

// clearEvery clears a port's counters again and again.
func (f *Fabric) clearEvery(p *Port, period time.Duration) {
	c := Command{where: "preset faults", text: "clear " + p.String()}
	c.do = func(f *Fabric, _ io.Writer) error {
		f.ClearCounters(p)
		f.scheduleAfter(period, c)
		return nil
	}
	f.scheduleAfter(period, c)
}

// breakAgents gives some hosts agents from old or unusual devices.
func (f *Fabric) breakAgents() {
	f.Node("spine2").SetPerfCaps(mad.PerfExtendedWidthNoIETF|mad.PerfXmitWait, 0) // without AllPortSelect
	f.Node("host7").SetPerfCaps(0, 0)                                             // PortCounters only
	f.SetPerfRedirect(f.Node("host4"), &f.Node("host4").Ports[1], 5, 0, false)
	f.Node("host8").perf.late = 150 * time.Millisecond
	f.Node("host1").perf.fault = perfOtherPort
}

// buildSmallCluster builds two leaf switches with four hosts each, below two spine switches.
func buildSmallCluster(b *builder, _ *params) {
	spines := []*Node{b.addSwitch(16, "spine1"), b.addSwitch(16, "spine2")}
	for i := range 2 {
		leaf := b.addSwitch(16, "leaf%d", i+1)
		for _, s := range spines {
			b.connect(leaf, s)
		}
		for k := range 4 {
			b.connect(leaf, b.addHost("host%d", i*4+k+1))
		}
	}
}
