package ibsendtrap

import (
	"github.com/ibkit/ibkit/internal/tool/trap"
	"github.com/ibkit/ibkit/mad"
)

// traps are the traps by name, with the details in which they differ from
// package trap's traps.
var traps = []struct {
	name   string
	number uint16
	adapt  func(mad.Attribute)
}{
	{"node_desc_change", mad.TrapCapabilities, nil},
	{"link_speed_enabled_change", mad.TrapCapabilities, func(a mad.Attribute) {
		a.(*mad.CapabilityNotice).Changes = mad.ChangedLinkSpeedEnabled
	}},
	{"local_link_integrity", mad.TrapLinkIntegrity, nil},
	{"sys_image_guid_change", mad.TrapSystemImageGUID, func(a mad.Attribute) {
		a.(*mad.SystemImageNotice).LID = 0 // the C tool does not set it
	}},
	{"mkey_lid", mad.TrapBadMKey, nil},
	{"mkey_dr", mad.TrapBadMKey, func(a mad.Attribute) {
		d := a.(*mad.MKeyNotice)
		d.Directed, d.Hops, d.ReturnPath = 1, 4, [30]uint8{5, 6, 7, 8}
	}},
	{"pkey", mad.TrapBadPKey, nil},
	{"qkey", mad.TrapBadQKey, nil},
}

// notice returns a notice from the local port. A node that does not return its type is
// taken for an adapter.
func (s *sender) notice(number uint16, adapt func(mad.Attribute)) (*mad.Notice, error) {
	node := mad.NodeInfo{NodeType: mad.NodeTypeCA}
	if !s.get(&node) {
		node.NodeType = mad.NodeTypeCA
	}
	from := trap.Source{NodeType: node.NodeType, LID: s.local.LID, Port: s.errorPort}
	if number == mad.TrapCapabilities {
		var info mad.PortInfo
		if s.get(&info) {
			from.CapMask = info.CapMask
		}
	}
	details := from.Details(number)
	if adapt != nil {
		adapt(details)
	}
	return from.Notice(number, details)
}
