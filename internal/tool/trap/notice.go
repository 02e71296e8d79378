package trap

import (
	"fmt"
	"strings"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Notice is a notice that subnet administration forwarded.
type Notice struct {
	Time time.Time // arrival time
	mad.Report

	// Details are decoded from the report; nil: details from a vendor or in a trap that the
	// specification does not define.
	Details mad.Attribute

	Issuer  Place // of the trap
	Subject Place // which the notice is about
}

// A Place is a port. Values that are not known are zero.
type Place struct {
	LID  ib.LID
	GID  ib.GID // GID of the port or multicast group
	Port uint8  // a node's physical port; 0: unknown
	Node *Node  // nil: unknown
}

// A Node is a node with its name.
type Node struct {
	GUID        ib.GUID
	Description mad.NodeDescription
}

// newNotice returns a report's notice, without nodes.
func newNotice(r mad.Report, at time.Time) *Notice {
	n := &Notice{Time: at, Report: r, Details: r.Notice.DecodeDetails()}
	n.Issuer = Place{LID: r.Notice.IssuerLID, GID: r.IssuerGID}
	switch d := n.Details.(type) {
	case *mad.GIDNotice:
		n.Subject.GID = d.GID
	case *mad.SwitchNotice:
		n.Subject.LID = d.LID
	case *mad.PortNotice:
		n.Subject.LID, n.Subject.Port = d.LID, d.Port
	case *mad.CapabilityNotice:
		n.Subject.LID = d.LID
	case *mad.SystemImageNotice:
		n.Subject.LID = d.LID
	case *mad.MKeyNotice:
		n.Subject.LID = d.LID
	case *mad.KeyNotice:
		n.Subject.LID = d.SLID
	case *mad.SwitchKeyNotice:
		n.Subject.LID, n.Subject.Port = d.LID, d.Port
	}
	if n.Subject == (Place{}) {
		n.Subject = n.Issuer
	}
	return n
}

// Kind returns the kind of a notice in the specification, false for other notices.
func (n *Notice) Kind() (Kind, bool) {
	if n.Notice.Generic == 0 {
		return Kind{}, false
	}
	return KindOf(n.Notice.TrapNumber)
}

// Text describes the details in words, without the subject. M_Keys are secret and not part
// of it.
func (n *Notice) Text() string {
	kind, known := n.Kind()
	switch d := n.Details.(type) {
	case *mad.CapabilityNotice:
		if names := d.Changes.Names(); d.OtherChanges != 0 && len(names) > 0 {
			return "changed: " + strings.Join(names, ", ")
		}
		return fmt.Sprintf("capability mask 0x%08x", uint32(d.CapMask))
	case *mad.SystemImageNotice:
		return fmt.Sprintf("new system image GUID %v", d.GUID)
	case *mad.MKeyNotice:
		text := fmt.Sprintf("%v %v, modifier 0x%x", d.Method, d.Attr, d.Modifier)
		if d.Directed != 0 {
			path := d.ReturnPath[:min(int(d.Hops), len(d.ReturnPath))]
			text += fmt.Sprintf(", from LID %d, return path %v", d.DrSLID, mad.RouteOf(path...))
		}
		return text
	case *mad.KeyNotice:
		return fmt.Sprintf("key 0x%x, LID %d QP 0x%x to LID %d QP 0x%x, SL %d", d.Key, d.SLID, d.SQP, d.DLID, d.DQP, d.SL)
	case *mad.SwitchKeyNotice:
		return fmt.Sprintf("P_Key 0x%04x, LID %d to LID %d, SL %d", uint16(d.PKey), d.SLID, d.DLID, d.SL)
	}
	switch {
	case n.Notice.Generic == 0:
		return fmt.Sprintf("vendor 0x%06x, device %d", n.Notice.ProducerType, n.Notice.TrapNumber)
	case known:
		return kind.About
	}
	return fmt.Sprintf("trap %d", n.Notice.TrapNumber)
}
