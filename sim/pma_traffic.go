package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/ibkit/ibkit/ib"
)

// now is the time by the fabric's clock.
func (f *Fabric) now() time.Time {
	if f.clock != nil {
		return f.clock()
	}
	return time.Now()
}

// uptime returns for how long the fabric has been up.
func (f *Fabric) uptime() time.Duration {
	now := f.now()
	if f.firstLook.IsZero() {
		f.firstLook = now
	}
	return f.Model.Uptime + now.Sub(f.firstLook)
}

// settle brings the counters of a port up to date. It is called before they are
// looked at, and before the port's link changes.
func (f *Fabric) settle(p *Port) {
	if p.counts == nil {
		p.counts = &counts{tables: make([][]uint64, len(allCounters().tables))}
	}
	c, now := p.counts, f.uptime()
	if now <= c.settled {
		return
	}
	grow := func(name string, perSec float64) {
		// The difference of what is due at both times: what is counted does
		// not depend on how often somebody looks.
		c.add(allCounters().places[name], due(perSec, now)-due(perSec, c.settled))
	}
	for _, r := range c.rates {
		grow(r.name, r.perSec)
	}
	sent := f.flow(p)
	grow("PortXmitData", sent.words)
	grow("XmtDataSL0", sent.words)
	grow("PortXmitPkts", sent.packets)
	grow("PortUnicastXmitPkts", sent.packets-sent.multicast)
	grow("PortMulticastXmitPkts", sent.multicast)
	got := f.flow(p.Peer)
	grow("PortRcvData", got.words)
	grow("RcvDataSL0", got.words)
	grow("PortRcvPkts", got.packets)
	grow("PortUnicastRcvPkts", got.packets-got.multicast)
	grow("PortMulticastRcvPkts", got.multicast)
	c.settled = now
}

// due returns what has come together at a rate after a time.
func due(perSec float64, after time.Duration) uint64 {
	return uint64(math.Floor(perSec * after.Seconds()))
}

// A flow is what a port sends in a second.
type flow struct{ words, packets, multicast float64 }

// flow returns what a port sends: nothing where its link is not in service.
func (f *Fabric) flow(p *Port) flow {
	if f.Model.Load <= 0 || p == nil || !p.up() || p.Info.State != ib.PortActive {
		return flow{}
	}
	chance := rand.New(rand.NewPCG(f.Model.Seed, uint64(p.GUID)+uint64(p.Number)<<48))
	load := min(f.Model.Load*2*chance.Float64(), 1)
	size := 256 + chance.Float64()*3840 // bytes in a packet

	lane := p.Info.ActiveSpeed(&p.Node.managed(p.Number).Info, p.Ext).LaneGbps()
	bytes := load * lane * float64(p.Info.LinkWidthActive.Lanes()) * 1e9 / 8
	// Whole numbers in a second add up at both ends of a link.
	packets := math.Floor(bytes / size)
	return flow{words: math.Floor(bytes / 4), packets: packets, multicast: math.Floor(packets / 1000)}
}

// linkDowned notes that a port's link, if it was up, goes down.
func (p *Port) linkDowned() {
	f := p.Node.fabric
	if !f.inUse || p.Info.PhysState != ib.PhysLinkUp {
		return
	}
	p.linkChanges()
	f.settle(p)
	p.counts.add(allCounters().places["LinkDownedCounter"], 1)
}

// linkChanges brings the counters at both ends of a link up to date, before the
// link runs at something else or in another state.
func (p *Port) linkChanges() {
	f := p.Node.fabric
	if !f.inUse || f.Model.Load <= 0 || p.Peer == nil {
		return
	}
	f.settle(p)
	f.settle(p.Peer)
}
