package sim

import "github.com/ibkit/ibkit/mad"

// answerPerf is a node's performance management agent (InfiniBand Architecture, Volume 1,
// 16.1). It turns a request into its reply and reports whether the agent replies. It
// supports all attributes that perfquery reads.
func (f *Fabric) answerPerf(d destination, p *mad.Packet) bool {
	method := p.Method()
	n, elsewhere := f.redirected(d)
	if method != mad.MethodGet && method != mad.MethodSet || n.perf.fault == perfSilent {
		return false
	}
	p.SetMethod(mad.MethodGetResp)
	set := method == mad.MethodSet
	switch attr := p.Attr(); {
	case elsewhere != nil && attr == mad.AttrClassPortInfo && !set:
		p.SetStatus(encode(p, elsewhere))
	case elsewhere != nil:
		_ = encode(p, elsewhere) // fits
		p.SetStatus(mad.StatusRedirect)
	case attr == mad.AttrPortSamplesControl:
		p.SetStatus(f.answerSamples(n, p, set))
	case attr != mad.AttrClassPortInfo:
		f.countersRead()
		p.SetStatus(f.answerCounters(n, p, set))
	case !set:
		f.perfInfo = n.perf.classPortInfo()
		p.SetStatus(encode(p, &f.perfInfo))
	default:
		p.SetStatus(mad.StatusBadMethodAttr)
	}
	return true
}

// answerCounters writes the selected ports' counters into a reply. A Set resets the
// selected counters first.
func (f *Fabric) answerCounters(n *Node, p *mad.Packet, set bool) mad.Status {
	t := allCounters().tables[p.Attr()]
	if t == nil || t.switchesOnly && !n.IsSwitch() || t.extended && !n.perf.caps.HasExtended() {
		return mad.StatusBadMethodAttr
	}
	a := t.empty()
	if p.Decode(a) != nil {
		return mad.StatusBadValue
	}
	selected, mask := t.selection(a)
	ports := n.selectPorts(selected)
	if ports == nil || n.perf.fault == perfRejected {
		return mad.StatusBadValue
	}
	if p.Attr() == mad.AttrPortExtendedSpeedsCounters && n.perf.caps.Has(mad.PerfRSFECCounters) && ports[0].fecInfo().HasRSFEC() {
		t, a = allCounters().rsfec, &mad.PortRSFECCounters{PortSelect: selected}
	}
	sums := make([]uint64, len(t.counters))
	for i := range ports {
		f.updateCounters(&ports[i])
		if set {
			ports[i].counts.reset(t, mask)
		}
		ports[i].counts.addTo(t, sums)
	}
	t.fill(a, sums, n.perf.perfCaps)
	status := encode(p, a)
	if n.perf.fault == perfOtherPort {
		p.Data()[1]++ // PortSelect
	}
	return status
}

// selectPorts returns the ports that a PortSelect stands for, nil for an invalid PortSelect.
func (n *Node) selectPorts(selected uint8) []Port {
	first := 1
	if n.IsSwitch() {
		first = 0
	}
	switch {
	case selected == mad.AllPorts && n.perf.caps.Has(mad.PerfAllPortSelect):
		return n.Ports[first:]
	case int(selected) < first || int(selected) >= len(n.Ports):
		return nil
	}
	return n.Ports[selected : selected+1]
}
