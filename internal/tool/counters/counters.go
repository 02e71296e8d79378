// Package counters reads the performance counters on a fabric's ports and converts them to
// rates. A [Collector] reads all ports' counters with many requests in flight; [Run] adds a
// rate window, a baseline and findings.
package counters

import (
	"fmt"
	"strings"
)

// A Counter is a port counter.
type Counter uint8

// The counters in PortCounters and PortCountersExtended, followed by the counters in the
// attributes with details.
const (
	SymbolErrors Counter = iota
	LinkErrorRecovery
	LinkDowned
	RcvErrors
	RcvRemotePhysErrors
	RcvSwitchRelayErrors
	XmitDiscards
	XmitConstraintErrors
	RcvConstraintErrors
	LocalLinkIntegrity
	ExcessiveBufferOverrun
	VL15Dropped
	XmitWait
	QP1Dropped

	XmitData // this and the following: traffic
	RcvData
	XmitPkts
	RcvPkts
	UnicastXmitPkts
	UnicastRcvPkts
	MulticastXmitPkts
	MulticastRcvPkts

	LocalPhysicalErrors // this and the following: parts of RcvErrors
	MalformedPktErrors
	BufferOverrunErrors
	DLIDMappingErrors
	VLMappingErrors
	LoopingErrors

	InactiveDiscards // this and the following: parts of XmitDiscards
	NeighborMTUDiscards
	SwLifetimeLimitDiscards
	SwHOQLifetimeLimitDiscards

	FECUncorrectable // blocks with errors that were not corrected
	FECCorrectable   // blocks with errors that were corrected
	FECSymbols       // symbols that were corrected
	SyncHeaderErrors
	UnknownBlocks

	numCounters
)

// firstTraffic and firstDetail begin the list's parts.
const (
	firstTraffic = XmitData
	firstDetail  = LocalPhysicalErrors
)

// names are counter names, as perfquery prints them if it has them.
var names = [numCounters]string{
	SymbolErrors:           "SymbolErrorCounter",
	LinkErrorRecovery:      "LinkErrorRecoveryCounter",
	LinkDowned:             "LinkDownedCounter",
	RcvErrors:              "PortRcvErrors",
	RcvRemotePhysErrors:    "PortRcvRemotePhysicalErrors",
	RcvSwitchRelayErrors:   "PortRcvSwitchRelayErrors",
	XmitDiscards:           "PortXmitDiscards",
	XmitConstraintErrors:   "PortXmitConstraintErrors",
	RcvConstraintErrors:    "PortRcvConstraintErrors",
	LocalLinkIntegrity:     "LocalLinkIntegrityErrors",
	ExcessiveBufferOverrun: "ExcessiveBufferOverrunErrors",
	VL15Dropped:            "VL15Dropped",
	XmitWait:               "PortXmitWait",
	QP1Dropped:             "QP1Dropped",

	XmitData:          "PortXmitData",
	RcvData:           "PortRcvData",
	XmitPkts:          "PortXmitPkts",
	RcvPkts:           "PortRcvPkts",
	UnicastXmitPkts:   "PortUnicastXmitPkts",
	UnicastRcvPkts:    "PortUnicastRcvPkts",
	MulticastXmitPkts: "PortMulticastXmitPkts",
	MulticastRcvPkts:  "PortMulticastRcvPkts",

	LocalPhysicalErrors: "PortLocalPhysicalErrors",
	MalformedPktErrors:  "PortMalformedPktErrors",
	BufferOverrunErrors: "PortBufferOverrunErrors",
	DLIDMappingErrors:   "PortDLIDMappingErrors",
	VLMappingErrors:     "PortVLMappingErrors",
	LoopingErrors:       "PortLoopingErrors",

	InactiveDiscards:           "PortInactiveDiscards",
	NeighborMTUDiscards:        "PortNeighborMTUDiscards",
	SwLifetimeLimitDiscards:    "PortSwLifetimeLimitDiscards",
	SwHOQLifetimeLimitDiscards: "PortSwHOQLifetimeLimitDiscards",

	FECUncorrectable: "PortFECUncorrectableBlockCtr",
	FECCorrectable:   "PortFECCorrectableBlockCtr",
	FECSymbols:       "PortFECCorrectedSymbolCtr",
	SyncHeaderErrors: "SyncHeaderErrorCounter",
	UnknownBlocks:    "UnknownBlockCounter",
}

// Counters returns all counters in their order.
func Counters() []Counter {
	all := make([]Counter, numCounters)
	for i := range all {
		all[i] = Counter(i)
	}
	return all
}

// String returns the counter's name, for example "SymbolErrorCounter".
func (c Counter) String() string {
	if c >= numCounters {
		return fmt.Sprintf("Counter(%d)", uint8(c))
	}
	return names[c]
}

// MarshalText returns the counter's name. The error is always nil.
func (c Counter) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// ParseCounter parses a counter name. Case does not matter, and the prefix "Port" and the
// suffix "Counter" are optional.
func ParseCounter(s string) (Counter, error) {
	for c, name := range names {
		if short := strings.TrimSuffix(strings.TrimPrefix(name, "Port"), "Counter"); strings.EqualFold(s, name) || strings.EqualFold(s, short) {
			return Counter(c), nil
		}
	}
	return 0, fmt.Errorf("unknown counter %q", s)
}

// IsTraffic reports whether the counter counts data or packets that were
// transferred without an error.
func (c Counter) IsTraffic() bool { return c >= firstTraffic && c < firstDetail }

// IsDetail reports whether the counter belongs to an attribute that is read only for
// ports that need an explanation.
func (c Counter) IsDetail() bool { return c >= firstDetail }
