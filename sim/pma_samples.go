package sim

import "github.com/ibkit/ibkit/mad"

// answerSamples answers requests for PortSamplesControl (InfiniBand Architecture, Volume 1,
// 16.1.3.2). Simulated ports report the PortXmitWait unit and 32-bit counters; they have no
// sampling mechanism, and reject a Set.
func (f *Fabric) answerSamples(n *Node, p *mad.Packet, set bool) mad.Status {
	if set {
		return mad.StatusBadMethodAttr
	}
	f.samples = mad.PortSamplesControl{}
	if p.Decode(&f.samples) != nil {
		return mad.StatusBadValue
	}
	if n.selectPorts(f.samples.PortSelect) == nil {
		return mad.StatusBadValue
	}
	const width32 = 4
	f.samples = mad.PortSamplesControl{PortSelect: f.samples.PortSelect, Tick: n.tick(), CounterWidth: width32}
	return encode(p, &f.samples)
}
