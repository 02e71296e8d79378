package mad

import (
	"encoding/binary"
	"fmt"
)

// Offsets of the header of subnet administration, which follows that of RMPP
// (InfiniBand Architecture, Volume 1, 15.2.1.1).
const (
	offSMKey           = 36
	offAttributeOffset = 44
	offComponentMask   = 48
	offSAData          = Size - SADataSize
)

// An SAHeader is what subnet administration's packets have between the header
// of RMPP and their records.
type SAHeader struct {
	SMKey uint64 // 0: the requester is not trusted

	// AttributeOffset is how far apart the records of an answer are, in units
	// of 8 bytes. Requests and answers without records have 0.
	AttributeOffset uint16

	// ComponentMask says which fields of the record in a request count.
	ComponentMask ComponentMask
}

// SA reads the header of subnet administration.
func (p *Packet) SA() SAHeader {
	return SAHeader{
		SMKey:           binary.BigEndian.Uint64(p[offSMKey:]),
		AttributeOffset: binary.BigEndian.Uint16(p[offAttributeOffset:]),
		ComponentMask:   ComponentMask(binary.BigEndian.Uint64(p[offComponentMask:])),
	}
}

// SetSA overwrites the header of subnet administration.
func (p *Packet) SetSA(h SAHeader) {
	binary.BigEndian.PutUint64(p[offSMKey:], h.SMKey)
	binary.BigEndian.PutUint16(p[offAttributeOffset:], h.AttributeOffset)
	binary.BigEndian.PutUint16(p[offAttributeOffset+2:], 0)
	binary.BigEndian.PutUint64(p[offComponentMask:], uint64(h.ComponentMask))
}

// SAPayload returns what follows the common header in a packet that asks for or
// sets a record: the header of RMPP, which is empty, that of the class and the
// record. A nil record leaves the data empty.
func SAPayload(h SAHeader, record Attribute) ([]byte, error) {
	var p Packet
	p.SetSA(h)
	if record != nil {
		if err := Encode(record, p[offSAData:]); err != nil {
			return nil, fmt.Errorf("build request: %w", err)
		}
	}
	return p[headerSize:], nil
}
