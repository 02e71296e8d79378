package counters

import (
	"time"

	"github.com/ibkit/ibkit/mad"
)

// A Sample contains a port's counters, or the sums over all ports of a node, as an agent
// returned them. An attribute that was not read is nil.
type Sample struct {
	Caps  mad.PerfCapMask // of the agent
	Caps2 mad.PerfCapMask2

	Basic    *mad.PortCounters
	extended []uint64 // see SetExtended; nil: not read
	Details  *Details

	BasicAt, ExtendedAt time.Time // arrival of the replies
}

// The error and traffic counter counts.
const (
	numErrors  = int(firstTraffic)
	numTraffic = int(firstDetail - firstTraffic)
)

// SetExtended sets the counters in PortCountersExtended. Only the counters that the agent
// has according to Caps2 are stored, because they are most of the data in a large fabric:
// the traffic counters, followed by the error counters in [Counter] order.
func (s *Sample) SetExtended(x *mad.PortCountersExtended, at time.Time) {
	s.ExtendedAt = at
	count := numTraffic
	if s.Caps2.Has(mad.PerfAdditionalExtended) {
		count += numErrors
	}
	s.extended = make([]uint64, 0, count)
	mad.Visit(x, func(name string, _ int, v uint64) uint64 {
		if !isSelection(name) && len(s.extended) < count {
			s.extended = append(s.extended, v)
		}
		return v
	})
}

// Extended returns PortCountersExtended, nil if it was not read.
func (s *Sample) Extended() *mad.PortCountersExtended {
	if s.extended == nil {
		return nil
	}
	x, rest := &mad.PortCountersExtended{}, s.extended
	mad.Visit(x, func(name string, _ int, v uint64) uint64 {
		if !isSelection(name) && len(rest) > 0 {
			v, rest = rest[0], rest[1:]
		}
		return v
	})
	return x
}

// Details are the attributes that explain errors and waiting. A nil attribute was not
// read, or the agent does not have it.
type Details struct {
	RcvErrors    *mad.PortRcvErrorDetails
	XmitDiscards *mad.PortXmitDiscardDetails
	Speeds       *mad.PortExtendedSpeedsCounters // links without RS-FEC
	RSFEC        *mad.PortRSFECCounters          // links with RS-FEC

	Lanes []mad.Attribute // counters by virtual lane and service level

	At time.Time // of the last reply
}

// A Value is a counter's value in a sample.
type Value struct {
	N     uint64
	Width uint8 // field width in bits
	At    time.Time
}

// Saturated reports whether the counter is at its field's largest value. Fields narrower
// than 64 bits stay there until they are cleared (InfiniBand Architecture, Volume 1,
// 16.1.3.5).
func (v Value) Saturated() bool { return v.Width < 64 && v.N == 1<<v.Width-1 }

// At returns when the sample arrived: its last reply's time.
func (s *Sample) At() time.Time {
	if s.ExtendedAt.After(s.BasicAt) {
		return s.ExtendedAt
	}
	return s.BasicAt
}

// Value returns a counter, from the widest field that has it. It reports false if the
// counter was not read or the agent does not implement it.
func (s *Sample) Value(c Counter) (Value, bool) {
	if c.IsDetail() {
		return s.Details.value(c)
	}
	if v, ok := s.wide(c); ok {
		return Value{v, 64, s.ExtendedAt}, true
	}
	if v, width, ok := s.basic(c); ok {
		return Value{v, width, s.BasicAt}, true
	}
	return Value{}, false
}

// wide returns a counter from PortCountersExtended.
func (s *Sample) wide(c Counter) (v uint64, ok bool) {
	i := numTraffic + int(c)
	switch {
	case c >= UnicastXmitPkts:
		i, ok = int(c-firstTraffic), s.Caps.Has(mad.PerfExtendedWidth)
	case c >= firstTraffic:
		i, ok = int(c-firstTraffic), true
	case c == XmitWait:
		ok = s.Caps.Has(mad.PerfXmitWait)
	case c == QP1Dropped:
		ok = s.Caps.Has(mad.PerfQP1Dropped)
	default:
		ok = true
	}
	if i >= len(s.extended) {
		return 0, false
	}
	return s.extended[i], ok
}

// basic returns a counter from PortCounters and its field width.
func (s *Sample) basic(c Counter) (v uint64, width uint8, ok bool) {
	b := s.Basic
	if b == nil {
		return 0, 0, false
	}
	switch c {
	case SymbolErrors:
		return uint64(b.SymbolErrors), 16, true
	case LinkErrorRecovery:
		return uint64(b.LinkErrorRecovery), 8, true
	case LinkDowned:
		return uint64(b.LinkDowned), 8, true
	case RcvErrors:
		return uint64(b.RcvErrors), 16, true
	case RcvRemotePhysErrors:
		return uint64(b.RcvRemotePhysErrors), 16, true
	case RcvSwitchRelayErrors:
		return uint64(b.RcvSwitchRelayErrors), 16, true
	case XmitDiscards:
		return uint64(b.XmitDiscards), 16, true
	case XmitConstraintErrors:
		return uint64(b.XmitConstraintErrors), 8, true
	case RcvConstraintErrors:
		return uint64(b.RcvConstraintErrors), 8, true
	case LocalLinkIntegrity:
		return uint64(b.LocalLinkIntegrity), 4, true
	case ExcessiveBufferOverrun:
		return uint64(b.ExcessiveBufferOverrun), 4, true
	case VL15Dropped:
		return uint64(b.VL15Dropped), 16, true
	case XmitWait:
		return uint64(b.XmitWait), 32, s.Caps.Has(mad.PerfXmitWait)
	case QP1Dropped:
		return uint64(b.QP1Dropped), 16, s.Caps.Has(mad.PerfQP1Dropped)
	case XmitData:
		return uint64(b.XmitData), 32, true
	case RcvData:
		return uint64(b.RcvData), 32, true
	case XmitPkts:
		return uint64(b.XmitPkts), 32, true
	case RcvPkts:
		return uint64(b.RcvPkts), 32, true
	}
	return 0, 0, false
}

// value returns a counter from the attributes with details.
func (d *Details) value(c Counter) (Value, bool) {
	if d == nil {
		return Value{}, false
	}
	v := Value{Width: 16, At: d.At}
	switch r, x := d.RcvErrors, d.XmitDiscards; {
	case r != nil && c >= LocalPhysicalErrors && c <= LoopingErrors:
		v.N = uint64([...]uint16{
			r.LocalPhysicalErrors, r.MalformedPktErrors, r.BufferOverrunErrors,
			r.DLIDMappingErrors, r.VLMappingErrors, r.LoopingErrors,
		}[c-LocalPhysicalErrors])
		return v, true
	case x != nil && c >= InactiveDiscards && c <= SwHOQLifetimeLimitDiscards:
		v.N = uint64([...]uint16{
			x.InactiveDiscards, x.NeighborMTUDiscards, x.SwLifetimeLimitDiscards, x.SwHOQLifetimeLimitDiscards,
		}[c-InactiveDiscards])
		return v, true
	}
	v.Width = 32
	if r := d.RSFEC; r != nil {
		switch c {
		case FECUncorrectable:
			v.N = uint64(r.UncorrectableBlocks)
		case FECCorrectable:
			v.N = uint64(r.CorrectableBlocks)
		case FECSymbols:
			v.N = uint64(r.CorrectedSymbols)
		case SyncHeaderErrors:
			v.N, v.Width = uint64(r.SyncHeaderErrors), 16
		case UnknownBlocks:
			v.N, v.Width = uint64(r.UnknownBlocks), 16
		default:
			return Value{}, false
		}
		return v, true
	}
	if s := d.Speeds; s != nil {
		switch c {
		case FECUncorrectable:
			v.N, v.Width = sum(s.UncorrectableFEC[:]), 64 // of all lanes
		case FECCorrectable:
			v.N, v.Width = sum(s.CorrectableFEC[:]), 64
		case SyncHeaderErrors:
			v.N, v.Width = uint64(s.SyncHeaderErrors), 16
		case UnknownBlocks:
			v.N, v.Width = uint64(s.UnknownBlocks), 16
		default:
			return Value{}, false
		}
		return v, true
	}
	return Value{}, false
}

func sum(lanes []uint32) (n uint64) {
	for _, v := range lanes {
		n += uint64(v)
	}
	return n
}
