package mad

import "github.com/ibkit/ibkit/ib"

// A Notice is an event that an agent reports by a trap (InfiniBand Architecture, Volume
// 1, 13.4.8.2 and 14.2.5.1).
type Notice struct {
	Generic      uint8      // 1: from the specification, 0: from a vendor
	Type         NoticeType // 7 bits
	ProducerType uint32     // 24 bits; in a generic notice the node type, else the vendor ID
	TrapNumber   uint16     // in a generic notice, else the device ID
	IssuerLID    ib.LID
	Toggle       uint8     // 1: the notice waits for its repression
	Count        uint16    // 15 bits
	Details      [54]uint8 // depends on the trap number
}

// A NoticeType is a notice's severity.
type NoticeType uint8

// Notice types.
const (
	NoticeFatal         NoticeType = 0
	NoticeUrgent        NoticeType = 1
	NoticeSecurity      NoticeType = 2
	NoticeSubnetManager NoticeType = 3
	NoticeInfo          NoticeType = 4
)

var noticeTypeNames = names{"Fatal", "Urgent", "Security", "SubnetManagement", "Informational"}

// String returns the type's name, for example "Urgent".
func (t NoticeType) String() string { return noticeTypeNames.text(uint64(t)) }

// Subnet management traps (14.2.5.1).
const (
	TrapGIDInService    uint16 = 64 // a port is reachable
	TrapGIDOutOfService uint16 = 65
	TrapGroupCreated    uint16 = 66 // a multicast group has its first member
	TrapGroupDeleted    uint16 = 67
	TrapLinkState       uint16 = 128 // a switch's link state has changed
	TrapLinkIntegrity   uint16 = 129 // errors on a link exceed a threshold
	TrapBufferOverrun   uint16 = 130
	TrapWatchdog        uint16 = 131 // flow control updates on a link are missing
	TrapCapabilities    uint16 = 144 // capabilities, link speeds or the node description changed
	TrapSystemImageGUID uint16 = 145
	TrapBadMKey         uint16 = 256
	TrapBadPKey         uint16 = 257
	TrapBadQKey         uint16 = 258
	TrapBadSwitchPKey   uint16 = 259
)

// Spec returns the AttrNotice spec.
func (*Notice) Spec() Spec { return smpSpec(AttrNotice) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a Notice) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *Notice) Layout(c *Codec) {
	Bits(c, &a.Generic, 0, 1, "IsGeneric", Decimal)
	Bits(c, &a.Type, 1, 7, "Type", Decimal)
	Bits(c, &a.ProducerType, 8, 24, "ProducerType", Hex)
	Bits(c, &a.TrapNumber, 32, 16, "TrapNumber", Decimal)
	Bits(c, &a.IssuerLID, 48, 16, "IssuerLID", Decimal)
	Bits(c, &a.Toggle, 64, 1, "NoticeToggle", Decimal)
	Bits(c, &a.Count, 65, 15, "NoticeCount", Decimal)
	Array(c, a.Details[:], 80, 8, "DataDetails", bars)
}

// A Report is a notice that a manager forwards to a subscriber (13.4.8.2): a notice with
// its issuer's GID, which does not fit a subnet management packet.
type Report struct {
	Notice    Notice
	IssuerGID ib.GID
}

// Spec returns the AttrNotice spec.
func (*Report) Spec() Spec { return saSpec(AttrNotice, 80) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a Report) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *Report) Layout(c *Codec) {
	nested(c, &a.Notice, 0, "Notice")
	Array(c, a.IssuerGID[:], 512, 8, "IssuerGID", asGID)
}
