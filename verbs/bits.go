package verbs

import (
	"math/bits"
	"strconv"
)

// A bit is a single bit in a set, with its name.
type bit[T ~uint16 | ~uint32 | ~uint64] struct {
	mask T
	name string
}

// names returns the bit names for v in table order, and the bits
// without a name.
func names[T ~uint16 | ~uint32 | ~uint64](v T, table []bit[T]) (known []string, rest T) {
	rest = v
	for _, b := range table {
		if v&b.mask != 0 {
			known = append(known, b.name)
			rest &^= b.mask
		}
	}
	return known, rest
}

// A QPTypes is a set of queue pair types, with a bit for each value in enum
// ib_qp_type.
type QPTypes uint32

// QPType is a queue pair type (enum ib_uverbs_qp_type).
type QPType uint8

// The queue pair types.
const (
	QPTypeRC        QPType = 2
	QPTypeUC        QPType = 3
	QPTypeUD        QPType = 4
	QPTypeRawPacket QPType = 8
	QPTypeXRCInit   QPType = 9
	QPTypeXRCTarget QPType = 10

	// QPTypeSRD is AWS's Scalable Reliable Datagram, the only type that the efa driver
	// defines itself (IB_UVERBS_QPT_DRIVER).
	QPTypeSRD QPType = 255
)

// String returns the usual abbreviation.
func (t QPType) String() string {
	switch t {
	case QPTypeRC:
		return "RC"
	case QPTypeUC:
		return "UC"
	case QPTypeUD:
		return "UD"
	case QPTypeRawPacket:
		return "raw packet"
	case QPTypeXRCInit:
		return "XRC initiator"
	case QPTypeXRCTarget:
		return "XRC target"
	case QPTypeSRD:
		return "SRD"
	}
	return "type " + strconv.Itoa(int(t))
}

// Has reports whether the set contains a type.
func (s QPTypes) Has(t QPType) bool { return t < bits.UintSize && s&(1<<t) != 0 }

var qpTypeBits = []bit[QPTypes]{
	{1 << QPTypeRawPacket, "SUPPORT_RAW_PACKET"},
	{1 << QPTypeUD, "SUPPORT_UD"},
	{1 << QPTypeRC, "SUPPORT_RC"},
}

// Names returns the names for raw packet, UD and RC as ibv_devinfo spells and orders
// them, and the other types.
func (s QPTypes) Names() (known []string, rest QPTypes) { return names(s, qpTypeBits) }
