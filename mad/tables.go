package mad

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
)

// A GUIDInfo is a block of a port's GUID table (InfiniBand Architecture, Volume 1,
// 14.2.5.5). The modifier is the block's number.
type GUIDInfo struct {
	GUIDs [8]ib.GUID
}

// Spec returns the AttrGUIDInfo spec.
func (*GUIDInfo) Spec() Spec { return smpSpec(AttrGUIDInfo) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a GUIDInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *GUIDInfo) Layout(c *Codec) { Array(c, a.GUIDs[:], 0, 64, "Guids", guidRows) }

// A PKey is a partition key: 15 key bits below the full membership bit.
type PKey uint16

const pkeyFull PKey = 1 << 15

// Full reports whether the key belongs to a full member.
func (k PKey) Full() bool { return k&pkeyFull != 0 }

// Limited reports whether the key belongs to a limited member, which cannot communicate
// with other limited members. An empty table entry is not a key.
func (k PKey) Limited() bool { return !k.Full() && k != 0 }

// Base returns the key without the membership bit. Two keys belong to the same
// partition if their bases are equal.
func (k PKey) Base() uint16 { return uint16(k &^ pkeyFull) }

// String returns the key as "0xffff".
func (k PKey) String() string { return string(appendHex(nil, uint64(k), 16)) }

// A PKeyTable is a block of a port's partition table (14.2.5.7). The modifier is the
// block's number, and on a switch the port in the upper half.
type PKeyTable struct {
	PKeys [32]PKey
}

// Spec returns the AttrPKeyTable spec.
func (*PKeyTable) Spec() Spec { return smpSpec(AttrPKeyTable) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PKeyTable) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PKeyTable) Layout(c *Codec) { Array(c, a.PKeys[:], 0, 16, "Pkeys", pkeyRows) }

// A LinearForwardingTable is a block of a switch's output ports by LID (14.2.5.10). The
// modifier is the block's number; 255 means that there is no route.
type LinearForwardingTable struct {
	Ports [64]uint8
}

// Spec returns the AttrLinearForwardingTable spec.
func (*LinearForwardingTable) Spec() Spec { return smpSpec(AttrLinearForwardingTable) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a LinearForwardingTable) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *LinearForwardingTable) Layout(c *Codec) {
	Array(c, a.Ports[:], 0, 8, "LinearForwTbl", Bytes)
}

// A MulticastForwardingTable is a block of a switch's output port masks by multicast
// LID (14.2.5.12). The modifier has the block's number in its low bits and the 16-port
// group in its top 4 bits.
type MulticastForwardingTable struct {
	Masks [32]uint16
}

// Spec returns the AttrMulticastForwardingTable spec.
func (*MulticastForwardingTable) Spec() Spec { return smpSpec(AttrMulticastForwardingTable) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a MulticastForwardingTable) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *MulticastForwardingTable) Layout(c *Codec) {
	Array(c, a.Masks[:], 0, 16, "MulticastForwTbl", Bytes)
}

// A SLtoVLMapping is the virtual lane for each service level (14.2.5.8), 15 for
// packets to be dropped. On a switch the modifier has the input port in bits 8
// to 15 and the output port in the lowest 8.
type SLtoVLMapping struct {
	VL [16]uint8
}

// Spec returns the AttrSLtoVLMapping spec.
func (*SLtoVLMapping) Spec() Spec { return smpSpec(AttrSLtoVLMapping) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SLtoVLMapping) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *SLtoVLMapping) Layout(c *Codec) { Array(c, a.VL[:], 0, 4, "VL", bars) }

// A VLArbitration is a block of a port's arbitration between virtual lanes (14.2.5.9).
// The modifier has the block in its upper half (1 and 2 low priority, 3 and 4 high) and
// the port in its lower.
type VLArbitration struct {
	Entries [32]VLArbEntry
}

// A VLArbEntry is a lane's turn.
type VLArbEntry struct {
	VL     uint8 `json:"vl"`     // 4 bits
	Weight uint8 `json:"weight"` // 64-byte units that may be sent; 0 skips the entry
}

// Spec returns the AttrVLArbitration spec.
func (*VLArbitration) Spec() Spec { return smpSpec(AttrVLArbitration) }

// MarshalJSON writes {"entries": [{"vl": 0, "weight": 4}, ...]}.
func (a VLArbitration) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *VLArbitration) marshal(c *Codec) {
	c.value(struct {
		Entries []VLArbEntry `json:"entries"`
	}{a.Entries[:]})
}

// Layout declares the fields.
func (a *VLArbitration) Layout(c *Codec) {
	for i := range a.Entries {
		Bits(c, &a.Entries[i].VL, i*16+4, 4, "VL", Decimal)
		Bits(c, &a.Entries[i].Weight, i*16+8, 8, "Weight", Decimal)
	}
}

// dump writes all lanes and then all weights, like smpquery.
func (a *VLArbitration) dump(c *Codec) { c.rows(a.AppendRows(nil, len(a.Entries))) }

// AppendRows appends the first n entries' lanes and weights to b, in the
// classic dump's two lines.
func (a *VLArbitration) AppendRows(b []byte, n int) []byte {
	b = append(b, "\nVL    : |"...)
	for _, e := range a.Entries[:n] {
		b = fmt.Appendf(b, "0x%-2X|", e.VL)
	}
	b = append(b, "\nWEIGHT: |"...)
	for _, e := range a.Entries[:n] {
		b = fmt.Appendf(b, "0x%-2X|", e.Weight)
	}
	return append(b, '\n')
}
