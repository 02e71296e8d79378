package trap

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Source is the port that a notice for tests comes from.
type Source struct {
	NodeType mad.NodeType
	LID      ib.LID
	GID      ib.GID
	CapMask  mad.PortCapMask
	Port     uint8 // at which the errors in a trap about a link happened
}

// Values in the details for test notices, equal to the values in ibsendtrap
// (infiniband-diags, ibsendtrap.c).
const (
	exampleKey      = 0x1234567812345678 // M_Key, and a system image GUID
	exampleModifier = 0x12
	exampleQPKey    = 0x12345678
	examplePrefix   = 0xf8c0000000000001
)

// Details returns example details for a trap, nil for a trap that the specification does
// not define.
func (s Source) Details(trap uint16) mad.Attribute {
	switch trap {
	case mad.TrapGIDInService, mad.TrapGIDOutOfService:
		return &mad.GIDNotice{GID: s.GID}
	case mad.TrapGroupCreated, mad.TrapGroupDeleted:
		return &mad.GIDNotice{GID: ib.GID{0: 0xff, 1: 0x12, 15: 0x01}}
	case mad.TrapLinkState:
		return &mad.SwitchNotice{LID: s.LID}
	case mad.TrapLinkIntegrity, mad.TrapBufferOverrun, mad.TrapWatchdog:
		return &mad.PortNotice{LID: s.LID, Port: s.Port}
	case mad.TrapCapabilities:
		return &mad.CapabilityNotice{LID: s.LID, OtherChanges: 1, CapMask: s.CapMask, Changes: mad.ChangedNodeDescription}
	case mad.TrapSystemImageGUID:
		return &mad.SystemImageNotice{LID: s.LID, GUID: exampleKey}
	case mad.TrapBadMKey:
		return &mad.MKeyNotice{
			LID: s.LID, DrSLID: ib.PermissiveLID, Method: mad.MethodGet, Attr: mad.AttrPortInfo, Modifier: exampleModifier, MKey: exampleKey,
		}
	case mad.TrapBadPKey, mad.TrapBadQKey:
		return &mad.KeyNotice{
			SLID: 1, DLID: 2, Key: exampleQPKey, SQP: 0x010101, DQP: 0x020202,
			SGID: ib.MakeGID(examplePrefix, 0x1111222233334444), DGID: ib.MakeGID(examplePrefix, 0x5678567812341234),
		}
	case mad.TrapBadSwitchPKey:
		return &mad.SwitchKeyNotice{SLID: 1, DLID: 2, PKey: 0x1234, LID: s.LID, Port: s.Port}
	}
	return nil
}

// HasPort reports whether a trap's details contain the source's port.
func HasPort(trap uint16) bool {
	switch (Source{}).Details(trap).(type) {
	case *mad.PortNotice, *mad.SwitchKeyNotice:
		return true
	}
	return false
}

// Notice returns the notice for a trap with the given details.
func (s Source) Notice(trap uint16, details mad.Attribute) (*mad.Notice, error) {
	kind, _ := KindOf(trap)
	n := &mad.Notice{Generic: 1, Type: kind.Type, ProducerType: uint32(s.NodeType), TrapNumber: trap, IssuerLID: s.LID}
	return n, n.EncodeDetails(details)
}
