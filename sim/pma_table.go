package sim

import (
	"slices"
	"sync"

	"github.com/ibkit/ibkit/mad"
)

// A counterTable is a performance management attribute with counters in the same order as
// in package mad.
type counterTable struct {
	index        int
	empty        func() mad.Attribute
	counters     []counterField
	switchesOnly bool
	extended     bool // PortCountersExtended
}

// A counterField is a counter in an attribute.
type counterField struct {
	name  string // as in the classic dump
	limit uint64 // largest value
	bit   int    // in CounterSelect, or from 16 on in CounterSelect2
}

// A counterPlace locates a counter's value.
type counterPlace struct {
	table *counterTable
	index int
}

// A counterSet holds all counters.
type counterSet struct {
	// tables are the supported attributes. Each has separate values: a reset in one
	// attribute does not affect the others.
	tables map[mad.AttrID]*counterTable

	// rsfec is PortExtendedSpeedsCounters in the RS-FEC link layout.
	rsfec *counterTable

	// places has the places for each counter by name, the widest first.
	places map[string][]counterPlace
}

// allCounters is initialised at first use, so that other programs do not pay for it.
var allCounters = sync.OnceValue(func() *counterSet {
	s := &counterSet{tables: map[mad.AttrID]*counterTable{}, places: map[string][]counterPlace{}}
	for _, id := range []mad.AttrID{
		mad.AttrPortCountersExtended, mad.AttrPortCounters,
		mad.AttrPortRcvErrorDetails, mad.AttrPortXmitDiscardDetails,
		mad.AttrPortXmitDataSL, mad.AttrPortRcvDataSL,
		mad.AttrPortOpRcvCounters, mad.AttrPortFlowCtlCounters, mad.AttrPortVLOpPackets, mad.AttrPortVLOpData,
		mad.AttrPortVLXmitFlowCtlUpdateErrors, mad.AttrPortVLXmitWaitCounters, mad.AttrPortExtendedSpeedsCounters,
		mad.AttrSwPortVLCongestion, mad.AttrPortRcvConCtrl, mad.AttrPortSLRcvFECN, mad.AttrPortSLRcvBECN,
		mad.AttrPortXmitConCtrl, mad.AttrPortVLXmitTimeCong,
	} {
		s.add(id)
	}
	s.rsfec = s.newTable(func() mad.Attribute { return new(mad.PortRSFECCounters) })
	s.tables[mad.AttrSwPortVLCongestion].switchesOnly = true
	s.tables[mad.AttrPortCountersExtended].extended = true
	return s
})

// count returns the number of tables.
func (s *counterSet) count() int { return len(s.tables) + 1 }

// newTable returns the next table, and adds its counters by name.
func (s *counterSet) newTable(empty func() mad.Attribute) *counterTable {
	t := &counterTable{index: len(s.tables), empty: empty}
	mad.Visit(t.empty(), func(name string, width int, _ uint64) uint64 {
		if !isSelection(name) {
			c := counterField{name: name, limit: 1<<width - 1, bit: len(t.counters)}
			t.counters = append(t.counters, c)
			s.places[name] = append(s.places[name], counterPlace{t, c.bit})
		}
		return 0
	})
	return t
}

func (s *counterSet) add(id mad.AttrID) {
	t := s.newTable(func() mad.Attribute { return mad.ClassPM.NewAttribute(id) })
	s.tables[id] = t
	switch id {
	case mad.AttrPortCounters:
		// This counter was added last, and so was its bit.
		t.moveLast("QP1Dropped")
	case mad.AttrPortCountersExtended:
		const casts = 8 // the traffic counters use CounterSelect
		for i := range t.counters[casts:] {
			t.counters[casts+i].bit = 16 + i
		}
	}
}

// moveLast moves a counter's bit after all others.
func (t *counterTable) moveLast(name string) {
	i := slices.IndexFunc(t.counters, func(c counterField) bool { return c.name == name })
	for k := range t.counters[i:] {
		t.counters[i+k].bit--
	}
	t.counters[i].bit = len(t.counters) - 1
}

const (
	portSelect     = "PortSelect"
	counterSelect  = "CounterSelect"
	counterSelect2 = "CounterSelect2"
)

func isSelection(name string) bool {
	return name == portSelect || name == counterSelect || name == counterSelect2
}

// selection returns an attribute's selected port and counters.
func (t *counterTable) selection(a mad.Attribute) (port uint8, mask uint64) {
	mad.Visit(a, func(name string, _ int, v uint64) uint64 {
		switch name {
		case portSelect:
			port = uint8(v)
		case counterSelect:
			mask |= v
		case counterSelect2:
			mask |= v << 16
		}
		return v
	})
	return port, mask
}

// fill writes the counters that an agent supports into an attribute.
func (t *counterTable) fill(a mad.Attribute, values []uint64, caps perfCaps) {
	i := 0
	mad.Visit(a, func(name string, _ int, v uint64) uint64 {
		if isSelection(name) {
			return v
		}
		c, value := &t.counters[i], values[i]
		i++
		if !caps.has(t, c) {
			return 0
		}
		return value
	})
}
