package mad

import "encoding/binary"

// Size is the length of every MAD in bytes (InfiniBand Architecture, Volume 1,
// 13.4.2). RMPP segments longer payloads.
const Size = 256

// Lengths in bytes of the attribute data in a packet.
const (
	DataSize     = 64  // of subnet management (14.2.1.1)
	PerfDataSize = 192 // of performance management (16.1.1)
	SADataSize   = 200 // of subnet administration (15.2.1.1)

	VendorDataSize = 216 // of vendor classes with an OUI (16.5)
)

// Offsets of the common MAD header (13.4.2) and of the two kinds of subnet
// management packets (14.2.1.1 and 14.2.1.2).
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

// A Packet is one MAD in the wire format, in network byte order.
type Packet [Size]byte

// A Header is the common header of a MAD.
type Header struct {
	BaseVersion  uint8 // 1
	Class        Class
	ClassVersion uint8 // 1 for subnet management and most others, 2 for subnet administration
	Method       Method
	Status       Status // without the direction bit of directed-route packets
	HopPointer   uint8  // directed route only, else 0
	HopCount     uint8  // directed route only, else 0
	TID          uint64 // transaction ID; the kernel's umad sets the upper half
	Attr         AttrID
	Modifier     uint32 // part of the attribute: a port, a block, ...
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

// Status returns the status. In a directed-route packet the top bit of the field
// is the direction and not a part of the status (14.2.1.2); Status clears it.
func (p *Packet) Status() Status {
	s := Status(binary.BigEndian.Uint16(p[offStatus:]))
	if p.Class() == ClassSMPDirected {
		s &^= directionBit
	}
	return s
}

// SetStatus overwrites the status. It keeps the direction bit of a directed-route
// packet.
func (p *Packet) SetStatus(s Status) {
	if p.Class() == ClassSMPDirected {
		s = s&^directionBit | Status(binary.BigEndian.Uint16(p[offStatus:]))&directionBit
	}
	binary.BigEndian.PutUint16(p[offStatus:], uint16(s))
}

// OUI returns the OUI of 24 bits in a packet of a class that has one; see
// [Class.HasOUI].
func (p *Packet) OUI() uint32 {
	return uint32(p[offOUI])<<16 | uint32(p[offOUI+1])<<8 | uint32(p[offOUI+2])
}

// SetOUI overwrites the OUI with the low 24 bits of oui.
func (p *Packet) SetOUI(oui uint32) {
	p[offOUI], p[offOUI+1], p[offOUI+2] = byte(oui>>16), byte(oui>>8), byte(oui)
}

// Data returns the attribute data, which alias p. Their offset and size depend on
// the class; see [Class.DataRange]. The data of a CongestionLog begin earlier.
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

// PutGMP clears p and writes the 24 bytes of the common header of a general
// management packet. The caller fills the rest, which depends on the class. PutGMP
// ignores the hop fields of h.
func (p *Packet) PutGMP(h Header) {
	clear(p[:])
	p[0], p[1], p[2], p[3] = h.BaseVersion, byte(h.Class), h.ClassVersion, byte(h.Method)
	binary.BigEndian.PutUint16(p[offStatus:], uint16(h.Status))
	p.SetTID(h.TID)
	binary.BigEndian.PutUint16(p[offAttr:], uint16(h.Attr))
	binary.BigEndian.PutUint32(p[offModifier:], h.Modifier)
}
