package mad

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/ib"
)

// An SMPRequest describes a subnet management packet to be built by
// [Packet.PutSMP].
type SMPRequest struct {
	TID      uint64
	Method   Method
	Attr     AttrID
	Modifier uint32
	MKey     uint64 // 0 where the port's management key is not set or not checked

	// Directed selects a directed-route packet along Route; without it the
	// packet is routed by LID and the fields below are not used.
	Directed bool
	Route    Route

	// DrSLID and DrDLID are the LIDs of the ends of the directed part of a
	// route that has LID-routed parts before or after it. 0xffff, the
	// permissive LID, where there are none.
	DrSLID, DrDLID ib.LID
}

// PutSMP clears p and writes the subnet management packet that r asks for, all
// but its attribute data (InfiniBand Architecture, Volume 1, 14.2.1). It keeps
// the first [MaxHops] hops of a longer route; [ParseRoute] returns no longer
// ones.
func (p *Packet) PutSMP(r SMPRequest) {
	h := Header{
		BaseVersion:  1,
		Class:        ClassSMPLIDRouted,
		ClassVersion: 1,
		Method:       r.Method,
		TID:          r.TID,
		Attr:         r.Attr,
		Modifier:     r.Modifier,
	}
	if r.Directed {
		h.Class = ClassSMPDirected
	}
	p.PutGMP(h)
	binary.BigEndian.PutUint64(p[offMKey:], r.MKey)
	if !r.Directed {
		return
	}
	// Entry 0 of the path is not used: the hop pointer counts from 1.
	p[offHopCount] = byte(copy(p[offInitialPath+1:offReturnPath], r.Route))
	binary.BigEndian.PutUint16(p[offDrSLID:], uint16(r.DrSLID))
	binary.BigEndian.PutUint16(p[offDrDLID:], uint16(r.DrDLID))
}

// MKey returns the management key of a subnet management packet.
func (p *Packet) MKey() uint64 { return binary.BigEndian.Uint64(p[offMKey:]) }

// DrSLID and DrDLID return the LIDs at the ends of the directed part of a
// directed-route packet's way.
func (p *Packet) DrSLID() ib.LID { return ib.LID(binary.BigEndian.Uint16(p[offDrSLID:])) }

// DrDLID is the counterpart of [Packet.DrSLID] at the destination.
func (p *Packet) DrDLID() ib.LID { return ib.LID(binary.BigEndian.Uint16(p[offDrDLID:])) }

// Returning reports whether a directed-route packet is on its way back (its
// direction bit is set).
func (p *Packet) Returning() bool {
	return p.Class() == ClassSMPDirected && Status(binary.BigEndian.Uint16(p[offStatus:]))&directionBit != 0
}

// InitialPath returns the ports by which a directed-route packet was to leave
// each node on its way out. A packet that claims more hops than there can be is
// read as one with [MaxHops].
func (p *Packet) InitialPath() Route { return p.path(offInitialPath) }

// ReturnPath returns the ports by which a directed-route packet entered each
// node on its way out, which it leaves by in reverse order on the way back.
func (p *Packet) ReturnPath() Route { return p.path(offReturnPath) }

func (p *Packet) path(off int) Route {
	hops := min(int(p[offHopCount]), MaxHops)
	return Route(p[off+1 : off+1+hops])
}
