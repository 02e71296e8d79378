package register

import "github.com/ibkit/ibkit/mad"

// A List has the registers that a device's firmware supports, of the port registers
// (PCAM) or of a group of 128 platform registers (MCAM).
type List struct {
	id    ID
	Group uint8
	Mask  [4]uint32 // bit set; bit 0 of the last word is the group's first register
}

// NewPortRegisters returns the request for the list of registers from 0x5000 to 0x507f.
func NewPortRegisters() *List { return &List{id: IDPCAM} }

// NewPlatformRegisters returns the request for the list of 128 registers from 0x9000 on, or
// for the group after it.
func NewPlatformRegisters(group uint8) *List { return &List{id: IDMCAM, Group: group} }

// Part returns the list's number and group.
func (r *List) Part() Part { return Part{r.id, r.Group} }

// Spec returns the register's spec.
func (r *List) Spec() mad.Spec {
	if r.id == IDPCAM {
		return spec(0x50)
	}
	return spec(0x48)
}

// MarshalJSON writes the fields as an object; see package mad.
func (r List) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *List) Layout(c *mad.Codec) {
	name := "MngAccessRegCapMask"
	if r.id == IDPCAM {
		name = "PortAccessRegCapMask"
	}
	bits(c, &r.Group, 0x00, 0, 8, "AccessRegGroup")
	mad.Array(c, r.Mask[:], 0x08*8, 32, name, mad.HexLines)
}

// Has reports whether the firmware has a register. It returns false for known if the list
// does not cover the register, or is empty.
func (r *List) Has(id ID) (has, known bool) {
	const groupSize = 128
	first := r.id&0xf000 + ID(r.Group)*groupSize
	if id < first || id >= first+groupSize || r.Mask == [4]uint32{} {
		return false, false
	}
	bit := id - first
	return r.Mask[3-bit/32]>>(bit%32)&1 != 0, true
}

// Add adds a register that the list covers.
func (r *List) Add(id ID) {
	bit := id & 0x7f
	r.Mask[3-bit/32] |= 1 << (bit % 32)
}
