package mad

// A PerfCapMask is the CapabilityMask in performance management's ClassPortInfo
// (InfiniBand Architecture, Volume 1, 16.1.3.1; IB_PM_* in iba_types.h).
type PerfCapMask uint16

// PMA capabilities.
const (
	PerfAllPortSelect       PerfCapMask = 1 << 8  // PortSelect AllPorts is supported
	PerfExtendedWidth       PerfCapMask = 1 << 9  // PortCountersExtended, all its traffic counters
	PerfExtendedWidthNoIETF PerfCapMask = 1 << 10 // PortCountersExtended without unicast and multicast counters
	PerfSamplesOnly         PerfCapMask = 1 << 11
	PerfXmitWait            PerfCapMask = 1 << 12 // PortCounters has PortXmitWait
	PerfInhibitLimitedPKey  PerfCapMask = 1 << 13 // members with a limited key cannot set
	PerfRSFECCounters       PerfCapMask = 1 << 14 // PortExtendedSpeedsCounters has RS-FEC counters
	PerfQP1Dropped          PerfCapMask = 1 << 15 // PortCounters has QP1Dropped
	perfHasExtended                     = PerfExtendedWidth | PerfExtendedWidthNoIETF
)

// Has reports whether all of bits are set.
func (m PerfCapMask) Has(bits PerfCapMask) bool { return m&bits == bits }

// HasExtended reports whether the agent has PortCountersExtended, with or without
// unicast and multicast counters.
func (m PerfCapMask) HasExtended() bool { return m&perfHasExtended != 0 }

// A PerfCapMask2 is the CapabilityMask2 in performance management's ClassPortInfo.
type PerfCapMask2 uint32

// The capabilities in the second mask.
const (
	PerfPMKey              PerfCapMask2 = 1 << 0 // requests need a key
	PerfAdditionalExtended PerfCapMask2 = 1 << 1 // PortCountersExtended has the error counters as well
)

// Has reports whether all of bits are set.
func (m PerfCapMask2) Has(bits PerfCapMask2) bool { return m&bits == bits }

// PerfCaps returns the capabilities in performance management's ClassPortInfo.
func (a *ClassPortInfo) PerfCaps() (PerfCapMask, PerfCapMask2) {
	return PerfCapMask(a.CapMask), PerfCapMask2(a.CapMask2)
}
