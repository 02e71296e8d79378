package mad

import "encoding/binary"

// Offsets in the subnet administration header, which follows the RMPP header
// (InfiniBand Architecture, Volume 1, 15.2.1.1).
const (
	offSMKey           = 36
	offAttributeOffset = 44
	offComponentMask   = 48
	offSAData          = Size - SADataSize
)

// An SAHeader is the subnet administration header, between the RMPP
// header and the records.
type SAHeader struct {
	SMKey Key // 0 for untrusted requesters

	// AttributeOffset is the distance between the records in a response, in 8-byte
	// units; 0 in requests and in responses without records.
	AttributeOffset uint16

	// ComponentMask selects the record's valid fields in a request.
	ComponentMask ComponentMask
}

// SA returns the subnet administration header.
func (p *Packet) SA() SAHeader {
	return SAHeader{
		SMKey:           Key(binary.BigEndian.Uint64(p[offSMKey:])),
		AttributeOffset: binary.BigEndian.Uint16(p[offAttributeOffset:]),
		ComponentMask:   ComponentMask(binary.BigEndian.Uint64(p[offComponentMask:])),
	}
}

// SetSA overwrites the subnet administration header.
func (p *Packet) SetSA(h SAHeader) {
	binary.BigEndian.PutUint64(p[offSMKey:], uint64(h.SMKey))
	binary.BigEndian.PutUint16(p[offAttributeOffset:], h.AttributeOffset)
	binary.BigEndian.PutUint16(p[offAttributeOffset+2:], 0)
	binary.BigEndian.PutUint64(p[offComponentMask:], uint64(h.ComponentMask))
}
