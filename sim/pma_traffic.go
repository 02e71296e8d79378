package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/ibkit/ibkit/ib"
)

// now returns the fabric's clock time: during an event, the event time.
func (f *Fabric) now() time.Time {
	if f.events != nil && !f.events.applying.IsZero() {
		return f.events.applying
	}
	if f.clock != nil {
		return f.clock()
	}
	return time.Now()
}

// Began returns the time from which the fabric's counters increase: the first access to
// counters. It is zero before.
func (f *Fabric) Began() time.Time { return f.firstLook }

// Continue makes the counters continue from a fabric that began at a time, for example in
// another process. It must be called before the first access to counters. Events, and
// values that commands have set, are not continued.
func (f *Fabric) Continue(began time.Time) { f.firstLook = began }

// uptime returns the time since the fabric came up.
func (f *Fabric) uptime() time.Duration {
	now := f.now()
	if f.firstLook.IsZero() {
		f.firstLook = now
	}
	return f.Model.Uptime + now.Sub(f.firstLook)
}

// updateCounters brings a port's counters up to date. It must be called before the counters
// are read and before the port's link changes.
func (f *Fabric) updateCounters(p *Port) {
	if p.counts == nil {
		p.counts = &counts{tables: make([][]uint64, allCounters().count())}
	}
	c, now := p.counts, f.uptime()
	if now <= c.updated {
		return
	}
	grow := func(name string, perSec float64) {
		// The difference between the counts at both times, so that the result does not
		// depend on the number of updates.
		c.add(allCounters().places[name], countAt(perSec, now)-countAt(perSec, c.updated))
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
	c.updated = now
}

// countAt returns the count after a time at a constant rate.
func countAt(perSec float64, after time.Duration) uint64 {
	return uint64(math.Floor(perSec * after.Seconds()))
}

// A flow is the traffic that a port sends per second.
type flow struct{ words, packets, multicast float64 }

// flow returns a port's traffic, which is 0 if the link is not active.
func (f *Fabric) flow(p *Port) flow {
	if f.Model.Load <= 0 || p == nil || !p.up() || p.Info.State != ib.PortActive {
		return flow{}
	}
	rng := rand.New(rand.NewPCG(f.Model.Seed, uint64(p.GUID)+uint64(p.Number)<<48))
	load := min(f.Model.Load*2*rng.Float64(), 1)
	size := 256 + rng.Float64()*3840 // bytes per packet

	lane := p.Info.ActiveSpeed(&p.Node.managed(p.Number).Info, p.Ext).LaneGbps()
	bytes := load * lane * float64(p.Info.LinkWidthActive.Lanes()) * 1e9 / 8
	// Whole numbers per second give the same sums at both link ends.
	packets := math.Floor(bytes / size)
	return flow{words: math.Floor(bytes / 4), packets: packets, multicast: math.Floor(packets / 1000)}
}

// countLinkDowned counts that a port's link goes down if it was up.
func (p *Port) countLinkDowned() {
	f := p.Node.fabric
	if !f.inUse || p.Info.PhysState != ib.PhysLinkUp {
		return
	}
	p.linkChanges()
	f.updateCounters(p)
	p.counts.add(allCounters().places["LinkDownedCounter"], 1)
}

// linkChanges updates the counters at both link ends. It must be called before the link
// width, speed or state changes.
func (p *Port) linkChanges() {
	f := p.Node.fabric
	if !f.inUse || f.Model.Load <= 0 || p.Peer == nil {
		return
	}
	f.updateCounters(p)
	f.updateCounters(p.Peer)
}
