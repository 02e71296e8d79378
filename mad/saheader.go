package mad

import "encoding/binary"

// Offsets of the header of subnet administration, which follows that of RMPP
// (InfiniBand Architecture, Volume 1, 15.2.1.1).
const (
	offSMKey           = 36
	offAttributeOffset = 44
	offComponentMask   = 48
	offSAData          = Size - SADataSize
)

// An SAHeader is the header of subnet administration, between the RMPP header and
// the records.
type SAHeader struct {
	SMKey Key // 0 for untrusted requesters

	// AttributeOffset is the distance between the records of a response, in
	// units of 8 bytes; 0 in requests and in responses without records.
	AttributeOffset uint16

	// ComponentMask selects the valid fields of the record in a request.
	ComponentMask ComponentMask
}

// SA returns the header of subnet administration.
func (p *Packet) SA() SAHeader {
	return SAHeader{
		SMKey:           Key(binary.BigEndian.Uint64(p[offSMKey:])),
		AttributeOffset: binary.BigEndian.Uint16(p[offAttributeOffset:]),
		ComponentMask:   ComponentMask(binary.BigEndian.Uint64(p[offComponentMask:])),
	}
}

// SetSA overwrites the header of subnet administration.
func (p *Packet) SetSA(h SAHeader) {
	binary.BigEndian.PutUint64(p[offSMKey:], uint64(h.SMKey))
	binary.BigEndian.PutUint16(p[offAttributeOffset:], h.AttributeOffset)
	binary.BigEndian.PutUint16(p[offAttributeOffset+2:], 0)
	binary.BigEndian.PutUint64(p[offComponentMask:], uint64(h.ComponentMask))
}
