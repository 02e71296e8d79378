package sim

import (
	"slices"
	"sync"

	"github.com/ibkit/ibkit/mad"
)

// A counterTable is an attribute of performance management by its counters, in
// the order of package mad's declaration.
type counterTable struct {
	index        int // of the table
	empty        func() mad.Attribute
	counters     []counterField
	switchesOnly bool
	extended     bool // PortCountersExtended
}

// A counterField is one counter in an attribute.
type counterField struct {
	name  string // in the classic dump
	limit uint64 // the largest value
	bit   int    // of CounterSelect and, from 16 on, of CounterSelect2
}

// A counterPlace is where a counter's value is found.
type counterPlace struct {
	table *counterTable
	index int
}

// counterSet is what there is to count.
type counterSet struct {
	// tables are the attributes that agents have. All have their own values, which
	// is why to reset a counter in one does not reset it in another.
	tables map[mad.AttrID]*counterTable

	// places has the places of each counter by its name, the widest first.
	places map[string][]counterPlace
}

// allCounters is made when it is first asked for: a process that has no
// simulated counters does not wait for it.
var allCounters = sync.OnceValue(func() *counterSet {
	s := &counterSet{map[mad.AttrID]*counterTable{}, map[string][]counterPlace{}}
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
	s.tables[mad.AttrSwPortVLCongestion].switchesOnly = true
	s.tables[mad.AttrPortCountersExtended].extended = true
	return s
})

func (s *counterSet) add(id mad.AttrID) {
	t := &counterTable{
		index: len(s.tables),
		empty: func() mad.Attribute { return mad.ClassPM.NewAttribute(id) },
	}
	s.tables[id] = t
	mad.Visit(t.empty(), func(name string, width int, _ uint64) uint64 {
		if !isSelection(name) {
			c := counterField{name: name, limit: 1<<width - 1, bit: len(t.counters)}
			t.counters = append(t.counters, c)
			s.places[name] = append(s.places[name], counterPlace{t, c.bit})
		}
		return 0
	})
	switch id {
	case mad.AttrPortCounters:
		// It came later than the others, and so did its bit.
		t.moveLast("QP1Dropped")
	case mad.AttrPortCountersExtended:
		const casts = 8 // CounterSelect has those of traffic
		for i := range t.counters[casts:] {
			t.counters[casts+i].bit = 16 + i
		}
	}
}

// moveLast gives a counter the bit behind those of all others, which close up.
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

// selection returns the port that an attribute selects, and the counters.
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

// fill writes values into an attribute, those that an agent has.
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
