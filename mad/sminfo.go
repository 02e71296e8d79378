package mad

import (
	"strconv"

	"github.com/ibkit/ibkit/ib"
)

// A SMState is a subnet manager's state.
type SMState uint8

// Subnet manager states.
const (
	SMNotActive   SMState = 0
	SMDiscovering SMState = 1
	SMStandby     SMState = 2
	SMMaster      SMState = 3
)

var smStateNames = names{"NotActive", "Discovering", "Standby", "Master"}

// String returns the state's name, for example "Master".
func (s SMState) String() string { return smStateNames.text(uint64(s)) }

// The classic dump prints the number; sminfo has its own names.
var asSMState = enum(smStateNames.of, func(v uint64) string { return strconv.FormatUint(v, 10) })

// A SMInfo describes a subnet manager (InfiniBand Architecture, Volume 1,
// 14.2.5.13).
type SMInfo struct {
	GUID     ib.GUID // GUID of the port that it runs on
	SMKey    Key
	ActCount uint32 // incremented while the manager runs
	Priority uint8  // 4 bits; the highest becomes master
	State    SMState
}

// Spec returns the AttrSMInfo spec.
func (*SMInfo) Spec() Spec { return smpSpec(AttrSMInfo) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SMInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *SMInfo) Layout(c *Codec) {
	Bits(c, &a.GUID, 0, 64, "SmInfoGuid", HexString)
	Bits(c, &a.SMKey, 64, 64, "SmInfoKey", Secret)
	Bits(c, &a.ActCount, 128, 32, "SmActivity", Decimal)
	Bits(c, &a.Priority, 160, 4, "SmPriority", Decimal)
	Bits(c, &a.State, 164, 4, "SmState", asSMState)
}
