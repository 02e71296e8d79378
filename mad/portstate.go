package mad

import (
	"cmp"

	"github.com/ibkit/ibkit/ib"
)

// A LinkDownDefault is the physical state that a port enters when its link goes
// down (PortInfo:LinkDownDefaultState).
type LinkDownDefault uint8

// Default states while a link is down.
const (
	LinkDownNoChange LinkDownDefault = 0 // only in a Set: keep the default
	LinkDownSleep    LinkDownDefault = 1
	LinkDownPolling  LinkDownDefault = 2
)

var linkDownDefaultNames = names{"NoChange", "Sleep", "Polling"}

// String returns the name that the classic tools use, for example "Polling".
func (d LinkDownDefault) String() string { return linkDownDefaultNames.text(uint64(d)) }

// operVLsZero holds the name for OperationalVLs 0, which is defined in a Set.
var operVLsZero = map[uint64]string{0: "No change"}

var (
	asPortState       = codes[ib.PortState]()
	asPhysState       = codes[ib.PhysState]()
	asLinkDownDefault = linkDownDefaultNames.style()
	asMTU             = codes[ib.MTU]()
	asRate            = codes[ib.Rate]()
	asVLCap           = codes[ib.VLCap]()
	asOperVLs         = enum(
		func(v uint64) string { return cmp.Or(operVLsZero[v], codeName[ib.VLCap](v)) },
		func(v uint64) string { return cmp.Or(operVLsZero[v], ib.VLCap(v).String()) })
)
