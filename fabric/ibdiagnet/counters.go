package ibdiagnet

import "github.com/ibkit/ibkit/mad"

// Counters are a port's counters in section PM_INFO, or their increases in section
// PM_DELTA. Attributes without any value in the file are nil.
type Counters struct {
	Caps  mad.PerfCapMask // decide which counters are valid
	Caps2 mad.PerfCapMask2

	Basic        *mad.PortCounters
	Extended     *mad.PortCountersExtended
	RcvErrors    *mad.PortRcvErrorDetails
	XmitDiscards *mad.PortXmitDiscardDetails
}

// A counterGroup is adjacent columns for the same attribute.
type counterGroup struct {
	attribute func(*Counters) mad.Attribute // nil: the columns have no value
	caps      mad.PerfCapMask               // required for the group
	caps2     mad.PerfCapMask2
	columns   []column
}

// counterGroups are the PM_INFO and PM_DELTA columns in ibdiagnet's order. Columns for
// retransmission rates are from NVIDIA's vendor class.
var counterGroups = []counterGroup{
	{basic, 0, 0, []column{
		{"LinkDownedCounter", "LinkDownedCounter", 0}, {"LinkErrorRecoveryCounter", "LinkErrorRecoveryCounter", 0},
		{"SymbolErrorCounter", "SymbolErrorCounter", 0}, {"PortRcvRemotePhysicalErrors", "PortRcvRemotePhysicalErrors", 0},
		{"PortRcvErrors", "PortRcvErrors", 0}, {"PortXmitDiscards", "PortXmitDiscards", 0}, {"PortRcvSwitchRelayErrors", "PortRcvSwitchRelayErrors", 0},
		{"ExcessiveBufferOverrunErrors", "ExcessiveBufferOverrunErrors", 0}, {"LocalLinkIntegrityErrors", "LocalLinkIntegrityErrors", 0},
		{"PortRcvConstraintErrors", "PortRcvConstraintErrors", 0}, {"PortXmitConstraintErrors", "PortXmitConstraintErrors", 0},
		{"VL15Dropped", "VL15Dropped", 0}, {"PortXmitData", "PortXmitData", 0}, {"PortRcvData", "PortRcvData", 0},
		{"PortXmitPkts", "PortXmitPkts", 0}, {"PortRcvPkts", "PortRcvPkts", 0},
	}},
	{basic, mad.PerfXmitWait, 0, []column{{"PortXmitWait", "PortXmitWait", 0}}},
	{extended, 0, 0, []column{
		{"PortXmitDataExtended", "PortXmitData", 0}, {"PortRcvDataExtended", "PortRcvData", 0},
		{"PortXmitPktsExtended", "PortXmitPkts", 0}, {"PortRcvPktsExtended", "PortRcvPkts", 0},
	}},
	{extended, mad.PerfExtendedWidth, 0, []column{
		{"PortUniCastXmitPkts", "PortUnicastXmitPkts", 0}, {"PortUniCastRcvPkts", "PortUnicastRcvPkts", 0},
		{"PortMultiCastXmitPkts", "PortMulticastXmitPkts", 0}, {"PortMultiCastRcvPkts", "PortMulticastRcvPkts", 0},
	}},
	{extended, 0, mad.PerfAdditionalExtended, []column{
		{"SymbolErrorCounterExt", "SymbolErrorCounter", 0}, {"LinkErrorRecoveryCounterExt", "LinkErrorRecoveryCounter", 0},
		{"LinkDownedCounterExt", "LinkDownedCounter", 0}, {"PortRcvErrorsExt", "PortRcvErrors", 0},
		{"PortRcvRemotePhysicalErrorsExt", "PortRcvRemotePhysicalErrors", 0}, {"PortRcvSwitchRelayErrorsExt", "PortRcvSwitchRelayErrors", 0},
		{"PortXmitDiscardsExt", "PortXmitDiscards", 0}, {"PortXmitConstraintErrorsExt", "PortXmitConstraintErrors", 0},
		{"PortRcvConstraintErrorsExt", "PortRcvConstraintErrors", 0}, {"LocalLinkIntegrityErrorsExt", "LocalLinkIntegrityErrors", 0},
		{"ExcessiveBufferOverrunErrorsExt", "ExcessiveBufferOverrunErrors", 0}, {"VL15DroppedExt", "VL15Dropped", 0},
	}},
	{extended, mad.PerfXmitWait, mad.PerfAdditionalExtended, []column{{"PortXmitWaitExt", "PortXmitWait", 0}}},
	{extended, mad.PerfQP1Dropped, mad.PerfAdditionalExtended, []column{{"QP1DroppedExt", "QP1Dropped", 0}}},
	{nil, 0, 0, []column{{"retransmission_per_sec", "", 0}, {"max_retransmission_rate", "", 0}}},
	{rcvErrors, 0, 0, []column{
		{"PortLocalPhysicalErrors", "PortLocalPhysicalErrors", 0}, {"PortMalformedPacketErrors", "PortMalformedPktErrors", 0},
		{"PortBufferOverrunErrors", "PortBufferOverrunErrors", 0}, {"PortDLIDMappingErrors", "PortDLIDMappingErrors", 0},
		{"PortVLMappingErrors", "PortVLMappingErrors", 0}, {"PortLoopingErrors", "PortLoopingErrors", 0},
	}},
	{xmitDiscards, 0, 0, []column{
		{"PortInactiveDiscards", "PortInactiveDiscards", 0}, {"PortNeighborMTUDiscards", "PortNeighborMTUDiscards", 0},
		{"PortSwLifetimeLimitDiscards", "PortSwLifetimeLimitDiscards", 0}, {"PortSwHOQLifetimeLimitDiscards", "PortSwHOQLifetimeLimitDiscards", 0},
	}},
}

// The attributes; nil if the counters do not have them.
func basic(c *Counters) mad.Attribute        { return orNil(c.Basic) }
func extended(c *Counters) mad.Attribute     { return orNil(c.Extended) }
func rcvErrors(c *Counters) mad.Attribute    { return orNil(c.RcvErrors) }
func xmitDiscards(c *Counters) mad.Attribute { return orNil(c.XmitDiscards) }

// orNil returns a as an interface, which is nil for a nil pointer.
func orNil[T any, A interface {
	*T
	mad.Attribute
}](a A) mad.Attribute {
	if a == nil {
		return nil
	}
	return a
}

// counterColumns returns all columns.
func counterColumns() []column {
	var all []column
	for _, g := range counterGroups {
		all = append(all, g.columns...)
	}
	return all
}

// counterRow appends all columns' values to the line.
func (x *dbWriter) counterRow(c *Counters) {
	for i := range counterGroups {
		g := &counterGroups[i]
		clear(x.fields)
		if g.attribute != nil && c.Caps.Has(g.caps) && c.Caps2.Has(g.caps2) {
			if a := g.attribute(c); a != nil {
				values(a, x.fields)
			}
		}
		for k := range g.columns {
			x.line = g.columns[k].append(append(x.line, ','), x.fields)
		}
	}
}

// counters reads counter columns.
func (r *row) counters() (*Counters, error) {
	c := &Counters{
		Basic: new(mad.PortCounters), Extended: new(mad.PortCountersExtended),
		RcvErrors: new(mad.PortRcvErrorDetails), XmitDiscards: new(mad.PortXmitDiscardDetails),
	}
	used := map[mad.Attribute]bool{}
	for i := range counterGroups {
		g := &counterGroups[i]
		if g.attribute == nil {
			continue
		}
		a := g.attribute(c)
		known, err := r.store(a, g.columns)
		if err != nil {
			return nil, err
		}
		if known {
			used[a] = true
			c.Caps, c.Caps2 = c.Caps|g.caps, c.Caps2|g.caps2
		}
	}
	if used[c.Extended] && !c.Caps.Has(mad.PerfExtendedWidth) {
		c.Caps |= mad.PerfExtendedWidthNoIETF
	}
	dropUnused(used, &c.Basic)
	dropUnused(used, &c.Extended)
	dropUnused(used, &c.RcvErrors)
	dropUnused(used, &c.XmitDiscards)
	return c, nil
}

// dropUnused sets an attribute without values to nil.
func dropUnused[T any, A interface {
	*T
	mad.Attribute
}](used map[mad.Attribute]bool, a *A) {
	if !used[*a] {
		*a = nil
	}
}
