package mad

import "github.com/ibkit/ibkit/ib"

// A MCMemberRecord is a port's membership in a multicast group, or the group itself
// (InfiniBand Architecture, Volume 1, 15.2.5.17).
type MCMemberRecord struct {
	MGID             ib.GID
	PortGID          ib.GID // zero in a group's record
	QKey             uint32
	MLID             ib.LID
	MTUSelector      Selector
	MTU              ib.MTU // 6 bits
	TrafficClass     uint8
	PKey             PKey
	RateSelector     Selector
	Rate             ib.Rate // 6 bits
	LifeTimeSelector Selector
	LifeTime         uint8  // 6 bits; 4.096 µs << LifeTime
	SL               uint8  // 4 bits
	FlowLabel        uint32 // 20 bits
	HopLimit         uint8
	Scope            uint8     // 4 bits
	JoinState        JoinState // 4 bits
	ProxyJoin        uint8     // 1: another port in the partition joined for this port
}

// A JoinState is the set of membership kinds that a port has in a group.
type JoinState uint8

// Membership kinds.
const (
	JoinFull           JoinState = 1 << 0
	JoinNonMember      JoinState = 1 << 1 // receives, but the group may end without it
	JoinSendOnly       JoinState = 1 << 2
	JoinSendOnlyMember JoinState = 1 << 3
)

// Spec returns the AttrMCMemberRecord spec.
func (*MCMemberRecord) Spec() Spec { return saSpec(AttrMCMemberRecord, 52) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a MCMemberRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *MCMemberRecord) Layout(c *Codec) {
	Array(c, a.MGID[:], 0, 8, "MGID", asGID)
	Array(c, a.PortGID[:], 128, 8, "PortGID", asGID)
	Bits(c, &a.QKey, 256, 32, "Qkey", Hex)
	Bits(c, &a.MLID, 288, 16, "MLID", Hex)
	Bits(c, &a.MTUSelector, 304, 2, "MtuSelector", asSelector)
	Bits(c, &a.MTU, 306, 6, "Mtu", asMTU)
	Bits(c, &a.TrafficClass, 312, 8, "Tclass", Hex)
	Bits(c, &a.PKey, 320, 16, "Pkey", Hex)
	Bits(c, &a.RateSelector, 336, 2, "RateSelector", asSelector)
	Bits(c, &a.Rate, 338, 6, "Rate", asRate)
	Bits(c, &a.LifeTimeSelector, 344, 2, "PacketLifeTimeSelector", asSelector)
	Bits(c, &a.LifeTime, 346, 6, "PacketLifeTime", Decimal)
	Bits(c, &a.SL, 352, 4, "SL", Decimal)
	Bits(c, &a.FlowLabel, 356, 20, "FlowLabel", Hex)
	Bits(c, &a.HopLimit, 376, 8, "HopLimit", Decimal)
	Bits(c, &a.Scope, 384, 4, "Scope", Decimal)
	Bits(c, &a.JoinState, 388, 4, "JoinState", Hex)
	Bits(c, &a.ProxyJoin, 392, 1, "ProxyJoin", Decimal)
}
