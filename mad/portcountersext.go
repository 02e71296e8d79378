package mad

import (
	"fmt"
	"io"
)

// PortCountersExtended are a port's counters in 64 bits, which wrap around
// (InfiniBand Architecture, Volume 1, 16.1.4.11). The agent's capabilities determine
// which counters it has: [PerfExtendedWidth] the unicast and multicast counters,
// [PerfAdditionalExtended] the counters from SymbolErrors on.
type PortCountersExtended struct {
	PortSelection
	CounterSelect2 uint32 // a bit per counter from SymbolErrors on

	XmitData          uint64 // 4-byte units, without link headers
	RcvData           uint64 // 4-byte units
	XmitPkts          uint64
	RcvPkts           uint64
	UnicastXmitPkts   uint64
	UnicastRcvPkts    uint64
	MulticastXmitPkts uint64
	MulticastRcvPkts  uint64

	SymbolErrors           uint64 // from here on as in PortCounters
	LinkErrorRecovery      uint64
	LinkDowned             uint64
	RcvErrors              uint64
	RcvRemotePhysErrors    uint64
	RcvSwitchRelayErrors   uint64
	XmitDiscards           uint64
	XmitConstraintErrors   uint64
	RcvConstraintErrors    uint64
	LocalLinkIntegrity     uint64
	ExcessiveBufferOverrun uint64
	VL15Dropped            uint64
	XmitWait               uint64
	QP1Dropped             uint64
}

// Spec returns the AttrPortCountersExtended spec.
func (*PortCountersExtended) Spec() Spec { return perfSpec(AttrPortCountersExtended) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortCountersExtended) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// DumpSupported writes the counters that an agent with the given capabilities has, as
// perfquery prints them.
func (a *PortCountersExtended) DumpSupported(w io.Writer, caps PerfCapMask, caps2 PerfCapMask2) error {
	c := Codec{mode: dumping}
	a.totals(&c)
	if caps.Has(PerfExtendedWidth) {
		a.casts(&c)
	}
	if caps2.Has(PerfAdditionalExtended) {
		a.errors(&c)
	}
	if _, err := w.Write(c.text); err != nil {
		return fmt.Errorf("dump PortCountersExtended: %w", err)
	}
	return nil
}

// Layout declares the fields.
func (a *PortCountersExtended) Layout(c *Codec) {
	a.totals(c)
	a.casts(c)
	a.errors(c)
}

func (a *PortCountersExtended) totals(c *Codec) {
	a.selection(c)
	Bits(c, &a.XmitData, 64, 64, "PortXmitData", Decimal)
	Bits(c, &a.RcvData, 128, 64, "PortRcvData", Decimal)
	Bits(c, &a.XmitPkts, 192, 64, "PortXmitPkts", Decimal)
	Bits(c, &a.RcvPkts, 256, 64, "PortRcvPkts", Decimal)
}

func (a *PortCountersExtended) casts(c *Codec) {
	Bits(c, &a.UnicastXmitPkts, 320, 64, "PortUnicastXmitPkts", Decimal)
	Bits(c, &a.UnicastRcvPkts, 384, 64, "PortUnicastRcvPkts", Decimal)
	Bits(c, &a.MulticastXmitPkts, 448, 64, "PortMulticastXmitPkts", Decimal)
	Bits(c, &a.MulticastRcvPkts, 512, 64, "PortMulticastRcvPkts", Decimal)
}

func (a *PortCountersExtended) errors(c *Codec) {
	Bits(c, &a.CounterSelect2, 32, 32, "CounterSelect2", Hex)
	Bits(c, &a.SymbolErrors, 576, 64, "SymbolErrorCounter", Decimal)
	Bits(c, &a.LinkErrorRecovery, 640, 64, "LinkErrorRecoveryCounter", Decimal)
	Bits(c, &a.LinkDowned, 704, 64, "LinkDownedCounter", Decimal)
	Bits(c, &a.RcvErrors, 768, 64, "PortRcvErrors", Decimal)
	Bits(c, &a.RcvRemotePhysErrors, 832, 64, "PortRcvRemotePhysicalErrors", Decimal)
	Bits(c, &a.RcvSwitchRelayErrors, 896, 64, "PortRcvSwitchRelayErrors", Decimal)
	Bits(c, &a.XmitDiscards, 960, 64, "PortXmitDiscards", Decimal)
	Bits(c, &a.XmitConstraintErrors, 1024, 64, "PortXmitConstraintErrors", Decimal)
	Bits(c, &a.RcvConstraintErrors, 1088, 64, "PortRcvConstraintErrors", Decimal)
	Bits(c, &a.LocalLinkIntegrity, 1152, 64, "LocalLinkIntegrityErrors", Decimal)
	Bits(c, &a.ExcessiveBufferOverrun, 1216, 64, "ExcessiveBufferOverrunErrors", Decimal)
	Bits(c, &a.VL15Dropped, 1280, 64, "VL15Dropped", Decimal)
	Bits(c, &a.XmitWait, 1344, 64, "PortXmitWait", Decimal)
	Bits(c, &a.QP1Dropped, 1408, 64, "QP1Dropped", Decimal)
}
