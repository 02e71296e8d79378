package sim

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Notification is a packet that a fabric agent sends without a request: a trap to the
// subnet manager, or a subnet administration report to a subscriber.
type Notification struct {
	To       *Port // destination
	From, At ib.LID
	QPN      uint32 // for both ends
	MAD      mad.Packet
}

// A notice waits until it is sent.
type notice struct {
	from *Port
	mad.Notice
}

// maxNotices limits the notices that wait and, about, the packets. Agents repeat real traps at a limited rate, too
// (InfiniBand Architecture, Volume 1, 13.4.9).
const maxNotices = 1024

// Notifications returns the packets that agents have sent since the last call. The fabric's
// own subnet manager also receives the traps to its port.
func (f *Fabric) Notifications() []Notification {
	f.notify()
	sent := f.sent
	f.sent = nil
	return sent
}

// notify sends the packets about changes. It is called after each event, so that packets do
// not depend on how many events are applied at a time.
func (f *Fabric) notify() {
	if len(f.sent) >= maxNotices {
		return
	}
	for _, n := range f.changed {
		n.changed = false
		p := &n.Ports[0]
		f.raise(p, mad.TrapLinkState, mad.NoticeUrgent, &mad.SwitchNotice{LID: p.Info.LID})
	}
	f.changed = f.changed[:0]
	for _, n := range f.notices {
		lid := n.from.Info.SMLID
		if n.from.Info.LID == 0 || lid == 0 {
			continue // no subnet manager yet
		}
		d, ok := f.routeLID(n.from, lid, true)
		if !ok || n.from.Node.Silent || d.node.Silent {
			continue
		}
		if d.Port().Management() == f.master {
			f.report(n.from, &n.Notice)
		}
		f.sent = append(f.sent, Notification{To: d.Port(), From: n.from.Info.LID, At: lid, MAD: trapOf(&n)})
	}
	f.notices = f.notices[:0]
	f.reportReachable()
	f.sent = append(f.sent, f.admin.reports...)
	f.admin.reports = nil
}

// notice records a link change. The switch sends a trap, unless a subnet manager made the
// change (InfiniBand Architecture, Volume 1, 14.2.5.4 and 14.3.4).
func (p *Port) notice() {
	n := p.Node
	f := n.fabric
	if !f.inUse {
		return
	}
	f.admin.stale = true
	if !n.IsSwitch() || f.setting == p {
		return
	}
	n.Switch.PortStateChange = 1
	if !n.changed {
		n.changed = true
		f.changed = append(f.changed, n)
	}
}

// raise makes a port's agent send a trap.
func (f *Fabric) raise(from *Port, trap uint16, kind mad.NoticeType, details mad.Attribute) {
	if !f.inUse || len(f.notices) >= maxNotices {
		return
	}
	if n, ok := newNotice(from, trap, kind, uint32(from.Node.Info.NodeType), details); ok {
		f.notices = append(f.notices, notice{from, n})
	}
}

// newNotice returns a notice from the specification. It reports false for details that do
// not fit their fields.
func newNotice(issuer *Port, trap uint16, kind mad.NoticeType, producer uint32, details mad.Attribute) (mad.Notice, bool) {
	n := mad.Notice{Generic: 1, Type: kind, ProducerType: producer, TrapNumber: trap, IssuerLID: issuer.Info.LID}
	return n, n.EncodeDetails(details) == nil
}

// trapOf returns the packet for a trap.
func trapOf(n *notice) (p mad.Packet) {
	p.PutSMP(mad.SMPRequest{TID: uint64(n.from.Info.LID), Method: mad.MethodTrap, Attr: mad.AttrNotice})
	_ = mad.Encode(&n.Notice, p.Data()) // the values fit: newNotice has encoded them
	return p
}

// receiveTrap is the fabric's own subnet manager: it turns a trap into its repression, and
// reports the notice to subscribers (13.4.9 and 14.4.12). It reports false if the manager
// does not run here.
func (f *Fabric) receiveTrap(d destination, p *mad.Packet) bool {
	var n mad.Notice
	if f.master == nil || d.node.managed(d.entry) != f.master || p.Attr() != mad.AttrNotice || p.Decode(&n) != nil {
		return false
	}
	f.report(d.from.Management(), &n)
	p.SetMethod(mad.MethodTrapRepress)
	return true
}

// setDescription changes a node's description, which the node reports by trap 144.
func (n *Node) setDescription(d mad.NodeDescription) {
	n.Desc = d
	p := n.firstPort().Management()
	n.fabric.raise(p, mad.TrapCapabilities, mad.NoticeInfo, &mad.CapabilityNotice{
		LID: p.Info.LID, CapMask: p.Info.CapMask, OtherChanges: 1, Changes: mad.ChangedNodeDescription, CapMask2: p.Info.CapMask2,
	})
}

// refused counts a packet with a wrong M_Key, which the port reports by trap 256.
func (d destination) refused(p *mad.Packet) {
	at := d.node.managed(d.entry)
	if at.Info.MKeyViolations < 1<<16-1 {
		at.Info.MKeyViolations++
	}
	n := &mad.MKeyNotice{LID: at.Info.LID, Method: p.Method(), Attr: p.Attr(), Modifier: p.Modifier(), MKey: p.Key()}
	if p.Class() == mad.ClassSMPDirected {
		path := p.ReturnPath().Ports()
		n.Directed, n.DrSLID, n.Hops = 1, p.DrSLID(), uint8(len(path))
		if copy(n.ReturnPath[:], path) < len(path) {
			n.Truncated = 1
		}
	}
	at.Node.fabric.raise(at, mad.TrapBadMKey, mad.NoticeSecurity, n)
}
