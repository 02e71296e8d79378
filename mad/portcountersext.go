package mad

import (
	"fmt"
	"io"
)

// PortCountersExtended are a port's counters in 64 bits, which wrap around
// (InfiniBand Architecture, Volume 1, 16.1.4.11). Which of them an agent has
// depends on its capabilities: those of unicast and multicast on
// [PerfExtendedWidth], those from SymbolErrors on upon
// [PerfAdditionalExtended].
type PortCountersExtended struct {
	PortSelection
	CounterSelect2 uint32 // one bit a counter from SymbolErrors on

	XmitData          uint64 // units of 4 bytes, without link headers
	RcvData           uint64 // units of 4 bytes
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

// ID returns AttrPortCountersExtended.
func (*PortCountersExtended) ID() AttrID { return AttrPortCountersExtended }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortCountersExtended) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// DumpSupported writes the counters that an agent of some capabilities has, as
// perfquery prints them.
func (a *PortCountersExtended) DumpSupported(w io.Writer, caps PerfCapMask, caps2 PerfCapMask2) error {
	c := codec{mode: dumping}
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

func (a *PortCountersExtended) fields(c *codec) {
	a.totals(c)
	a.casts(c)
	a.errors(c)
}

func (a *PortCountersExtended) totals(c *codec) {
	a.selection(c)
	bits(c, &a.XmitData, 64, 64, "PortXmitData", decimal)
	bits(c, &a.RcvData, 128, 64, "PortRcvData", decimal)
	bits(c, &a.XmitPkts, 192, 64, "PortXmitPkts", decimal)
	bits(c, &a.RcvPkts, 256, 64, "PortRcvPkts", decimal)
}

func (a *PortCountersExtended) casts(c *codec) {
	bits(c, &a.UnicastXmitPkts, 320, 64, "PortUnicastXmitPkts", decimal)
	bits(c, &a.UnicastRcvPkts, 384, 64, "PortUnicastRcvPkts", decimal)
	bits(c, &a.MulticastXmitPkts, 448, 64, "PortMulticastXmitPkts", decimal)
	bits(c, &a.MulticastRcvPkts, 512, 64, "PortMulticastRcvPkts", decimal)
}

func (a *PortCountersExtended) errors(c *codec) {
	bits(c, &a.CounterSelect2, 32, 32, "CounterSelect2", hexa)
	bits(c, &a.SymbolErrors, 576, 64, "SymbolErrorCounter", decimal)
	bits(c, &a.LinkErrorRecovery, 640, 64, "LinkErrorRecoveryCounter", decimal)
	bits(c, &a.LinkDowned, 704, 64, "LinkDownedCounter", decimal)
	bits(c, &a.RcvErrors, 768, 64, "PortRcvErrors", decimal)
	bits(c, &a.RcvRemotePhysErrors, 832, 64, "PortRcvRemotePhysicalErrors", decimal)
	bits(c, &a.RcvSwitchRelayErrors, 896, 64, "PortRcvSwitchRelayErrors", decimal)
	bits(c, &a.XmitDiscards, 960, 64, "PortXmitDiscards", decimal)
	bits(c, &a.XmitConstraintErrors, 1024, 64, "PortXmitConstraintErrors", decimal)
	bits(c, &a.RcvConstraintErrors, 1088, 64, "PortRcvConstraintErrors", decimal)
	bits(c, &a.LocalLinkIntegrity, 1152, 64, "LocalLinkIntegrityErrors", decimal)
	bits(c, &a.ExcessiveBufferOverrun, 1216, 64, "ExcessiveBufferOverrunErrors", decimal)
	bits(c, &a.VL15Dropped, 1280, 64, "VL15Dropped", decimal)
	bits(c, &a.XmitWait, 1344, 64, "PortXmitWait", decimal)
	bits(c, &a.QP1Dropped, 1408, 64, "QP1Dropped", decimal)
}
