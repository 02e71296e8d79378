package sim

import "github.com/ibkit/ibkit/mad"

// perfCaps are PMA capabilities.
type perfCaps struct {
	caps  mad.PerfCapMask
	caps2 mad.PerfCapMask2
}

// newPerfCaps returns the capabilities for current devices. Only switches support
// AllPortSelect, like NVIDIA switches.
func newPerfCaps(isSwitch bool) perfCaps {
	c := perfCaps{mad.PerfExtendedWidth | mad.PerfXmitWait | mad.PerfQP1Dropped, mad.PerfAdditionalExtended}
	if isSwitch {
		c.caps |= mad.PerfAllPortSelect
	}
	return c
}

// SetPerfCaps sets the PMA capabilities, for example for an older device. Unsupported
// attributes are rejected, and unsupported counters are 0.
func (n *Node) SetPerfCaps(caps mad.PerfCapMask, caps2 mad.PerfCapMask2) {
	n.perf.perfCaps = perfCaps{caps, caps2}
}

// PerfCaps returns the PMA capabilities.
func (n *Node) PerfCaps() (mad.PerfCapMask, mad.PerfCapMask2) { return n.perf.caps, n.perf.caps2 }

func (c perfCaps) classPortInfo() mad.ClassPortInfo {
	return mad.ClassPortInfo{
		BaseVersion:   1,
		ClassVersion:  mad.ClassPM.Version(),
		CapMask:       uint16(c.caps),
		CapMask2:      uint32(c.caps2),
		RespTimeValue: 18,
	}
}

// has reports whether an agent supports a counter.
func (c perfCaps) has(t *counterTable, f *counterField) bool {
	switch {
	case t.extended && f.bit >= 16:
		return c.caps2.Has(mad.PerfAdditionalExtended)
	case t.extended && f.bit >= 4:
		return c.caps.Has(mad.PerfExtendedWidth)
	case f.name == "PortXmitWait":
		return c.caps.Has(mad.PerfXmitWait)
	case f.name == "QP1Dropped":
		return c.caps.Has(mad.PerfQP1Dropped)
	}
	return true
}
