package mad

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/ib"
)

// An SMPRequest contains subnet management packet header fields for [Packet.PutSMP].
type SMPRequest struct {
	TID      uint64
	Method   Method
	Attr     AttrID
	Modifier uint32
	MKey     Key // management key; 0 if the port does not check it

	// Directed selects a directed-route packet along Route; without it the
	// packet is routed by LID and the fields below are not used.
	Directed bool
	Route    Route

	// DrSLID and DrDLID are the LIDs at the ends of the directed part in a route
	// with a LID-routed part before or after it. They are [ib.PermissiveLID] if
	// there is no such part.
	DrSLID, DrDLID ib.LID
}

// PutSMP clears p and writes a subnet management packet's header (InfiniBand
// Architecture, Volume 1, 14.2.1). The attribute data stay 0. It truncates a route to
// [MaxHops] hops.
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
	binary.BigEndian.PutUint64(p[offMKey:], uint64(r.MKey))
	if !r.Directed {
		return
	}
	p[offHopCount] = byte(max(copy(p[offInitialPath:offReturnPath], r.Route.path)-1, 0))
	binary.BigEndian.PutUint16(p[offDrSLID:], uint16(r.DrSLID))
	binary.BigEndian.PutUint16(p[offDrDLID:], uint16(r.DrDLID))
}

// Key returns the M_Key in a subnet management packet, the CC_Key in congestion control
// (A10.4.1), or the key in [ClassMlnx]; see [Packet.SA] for SM_Keys.
func (p *Packet) Key() Key { return Key(binary.BigEndian.Uint64(p[offMKey:])) }

// SetKey overwrites the key that [Packet.Key] returns.
func (p *Packet) SetKey(k Key) { binary.BigEndian.PutUint64(p[offMKey:], uint64(k)) }

// DrSLID returns the LID at the source of the directed part in a directed-route
// packet's route.
func (p *Packet) DrSLID() ib.LID { return ib.LID(binary.BigEndian.Uint16(p[offDrSLID:])) }

// DrDLID is the counterpart of [Packet.DrSLID] at the destination.
func (p *Packet) DrDLID() ib.LID { return ib.LID(binary.BigEndian.Uint16(p[offDrDLID:])) }

// Returning reports whether a directed-route packet is a response (its direction
// bit is set).
func (p *Packet) Returning() bool {
	return p.Class() == ClassSMPDirected && Status(binary.BigEndian.Uint16(p[offStatus:]))&directionBit != 0
}

// SetReturning makes a directed-route packet a response.
func (p *Packet) SetReturning() { p[offStatus] |= byte(directionBit >> 8) }

// InitialPath returns each hop's output port in a directed-route packet. The result has
// at most [MaxHops] hops.
func (p *Packet) InitialPath() Route { return p.path(offInitialPath) }

// ReturnPath returns each hop's input port in a directed-route packet. The response
// leaves through these ports in reverse order.
func (p *Packet) ReturnPath() Route { return p.path(offReturnPath) }

func (p *Packet) path(off int) Route {
	hops := min(int(p[offHopCount]), MaxHops)
	return RouteOf(p[off+1 : off+1+hops]...) // entry 0 is not used: the hop pointer counts from 1
}
