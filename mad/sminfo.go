package mad

import (
	"strconv"

	"github.com/ibkit/ibkit/ib"
)

// A SMState is the state of a subnet manager.
type SMState uint8

// The states of a subnet manager.
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
	GUID     ib.GUID // of the port that it runs on
	SMKey    uint64
	ActCount uint32 // incremented while the manager runs
	Priority uint8  // 4 bits; the highest becomes master
	State    SMState
}

// ID returns AttrSMInfo.
func (*SMInfo) ID() AttrID { return AttrSMInfo }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SMInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *SMInfo) fields(c *codec) {
	bits(c, &a.GUID, 0, 64, "SmInfoGuid", key)
	bits(c, &a.SMKey, 64, 64, "SmInfoKey", key)
	bits(c, &a.ActCount, 128, 32, "SmActivity", decimal)
	bits(c, &a.Priority, 160, 4, "SmPriority", decimal)
	bits(c, &a.State, 164, 4, "SmState", asSMState)
}
