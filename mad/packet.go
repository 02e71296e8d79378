package mad

import (
	"encoding/binary"
	"fmt"
)

// Size is every MAD's length in bytes (InfiniBand Architecture, Volume 1, 13.4.2). RMPP
// segments longer payloads.
const Size = 256

// Attribute data lengths in a packet, in bytes.
const (
	DataSize     = 64  // subnet management (14.2.1.1)
	PerfDataSize = 192 // performance management (16.1.1)
	SADataSize   = 200 // subnet administration (15.2.1.1)

	VendorDataSize = 216 // vendor classes with an OUI (16.5)
)

// Offsets in the common MAD header (13.4.2) and in both subnet management packet kinds
// (14.2.1.1 and 14.2.1.2).
const (
	offStatus      = 4
	offHopPointer  = 6
	offHopCount    = 7
	offTID         = 8
	offAttr        = 16
	offModifier    = 20
	headerSize     = 24
	offMKey        = 24
	offDrSLID      = 32
	offDrDLID      = 34
	offOUI         = 37
	offData        = 64
	offInitialPath = 128
	offReturnPath  = 192
)

// A Packet is a MAD in wire format, in network byte order.
type Packet [Size]byte

// A Header is a MAD's common header.
type Header struct {
	BaseVersion  uint8 // 1
	Class        Class
	ClassVersion uint8 // 1 for subnet management and most others, 2 for subnet administration
	Method       Method
	Status       Status // without directed-route packets' direction bit
	HopPointer   uint8  // directed route only, else 0
	HopCount     uint8  // directed route only, else 0
	TID          uint64 // transaction ID; the kernel's umad sets the upper half
	Attr         AttrID
	Modifier     uint32 // attribute part: a port, a block, ...
}

// Header returns the common header.
func (p *Packet) Header() Header {
	h := Header{
		BaseVersion:  p[0],
		Class:        p.Class(),
		ClassVersion: p[2],
		Method:       p.Method(),
		Status:       p.Status(),
		TID:          p.TID(),
		Attr:         p.Attr(),
		Modifier:     p.Modifier(),
	}
	if h.Class == ClassSMPDirected {
		h.HopPointer, h.HopCount = p[offHopPointer], p[offHopCount]
	}
	return h
}

// Class returns the management class.
func (p *Packet) Class() Class { return Class(p[1]) }

// Method returns the method with the response bit.
func (p *Packet) Method() Method { return Method(p[3]) }

// SetMethod overwrites the method.
func (p *Packet) SetMethod(m Method) { p[3] = byte(m) }

// TID returns the transaction ID.
func (p *Packet) TID() uint64 { return binary.BigEndian.Uint64(p[offTID:]) }

// SetTID overwrites the transaction ID.
func (p *Packet) SetTID(tid uint64) { binary.BigEndian.PutUint64(p[offTID:], tid) }

// Attr returns the attribute ID.
func (p *Packet) Attr() AttrID { return AttrID(binary.BigEndian.Uint16(p[offAttr:])) }

// Modifier returns the attribute modifier.
func (p *Packet) Modifier() uint32 { return binary.BigEndian.Uint32(p[offModifier:]) }

// Status returns the status. In a directed-route packet the field's top bit is the
// direction and not a part of the status (14.2.1.2); Status clears it.
func (p *Packet) Status() Status {
	s := Status(binary.BigEndian.Uint16(p[offStatus:]))
	if p.Class() == ClassSMPDirected {
		s &^= directionBit
	}
	return s
}

// SetStatus overwrites the status. It keeps a directed-route packet's direction bit.
func (p *Packet) SetStatus(s Status) {
	if p.Class() == ClassSMPDirected {
		s = s&^directionBit | Status(binary.BigEndian.Uint16(p[offStatus:]))&directionBit
	}
	binary.BigEndian.PutUint16(p[offStatus:], uint16(s))
}

// OUI returns the 24-bit OUI in a packet, for a class with an OUI; see [Class.HasOUI].
func (p *Packet) OUI() uint32 {
	return uint32(p[offOUI])<<16 | uint32(p[offOUI+1])<<8 | uint32(p[offOUI+2])
}

// SetOUI overwrites the OUI with the low 24 bits of oui.
func (p *Packet) SetOUI(oui uint32) {
	p[offOUI], p[offOUI+1], p[offOUI+2] = byte(oui>>16), byte(oui>>8), byte(oui)
}

// Decode decodes the packet's attribute into a. It returns an error if the packet has another
// attribute, of which [Decode] would make wrong values.
func (p *Packet) Decode(a Attribute) error {
	spec, class := a.Spec(), p.Class()
	if class == ClassSMPDirected {
		class = ClassSMPLIDRouted
	}
	if p.Attr() != spec.ID || class != spec.Class && !spec.ID.isCommon() {
		return fmt.Errorf("decode packet: got %s, want %s", p.Class().AttrName(p.Attr()), AttributeName(a))
	}
	return Decode(a, p.Data())
}

// isCommon reports whether all classes have the attribute, with one layout (InfiniBand
// Architecture, Volume 1, 13.4.8).
func (a AttrID) isCommon() bool { return a < AttrNodeDescription }

// Data returns the attribute data, which alias p. Their offset and size depend on
// the class; see [Class.DataRange]. A CongestionLog's data begin earlier.
func (p *Packet) Data() []byte {
	if p.Class().IsSMP() {
		return p[offData : offData+DataSize : offData+DataSize]
	}
	offset, size := p.Class().DataRange()
	if p.Class() == ClassCC && p.Attr() == AttrCongestionLog {
		offset, size = Size-congestionLogSize, congestionLogSize // the log precedes other data (A10.4.1)
	}
	return p[offset : offset+size : offset+size]
}

// PutGMP clears p and writes a general management packet's 24-byte common
// header. The caller fills the rest, which depends on the class. PutGMP ignores
// the hop fields in h.
func (p *Packet) PutGMP(h Header) {
	clear(p[:])
	p[0], p[1], p[2], p[3] = h.BaseVersion, byte(h.Class), h.ClassVersion, byte(h.Method)
	binary.BigEndian.PutUint16(p[offStatus:], uint16(h.Status))
	p.SetTID(h.TID)
	binary.BigEndian.PutUint16(p[offAttr:], uint16(h.Attr))
	binary.BigEndian.PutUint32(p[offModifier:], h.Modifier)
}
