package topology

import (
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Checks are the parts and properties that a comparison between two fabrics includes.
type Checks struct {
	Switches, CAs, Routers bool
	Connections            bool // port peers
	LIDs                   bool // with Connections also peers' LIDs
	Descriptions           bool // node descriptions; with Connections also peers' descriptions
}

// DefaultChecks are the checks in ibnetdiscover --diff.
var DefaultChecks = Checks{Switches: true, CAs: true, Routers: true, Connections: true}

// ParseChecks parses a list, for example "sw,ca,router,port,lid,nodedesc".
func ParseChecks(s string) (Checks, error) {
	var c Checks
	for key := range strings.SplitSeq(s, ",") {
		switch strings.ToLower(key) {
		case "sw":
			c.Switches = true
		case "ca":
			c.CAs = true
		case "router":
			c.Routers = true
		case "port":
			c.Connections = true
		case "lid":
			c.LIDs = true
		case "nodedesc":
			c.Descriptions = true
		case "":
		default:
			return Checks{}, fmt.Errorf("invalid diff check key: %s", key)
		}
	}
	return c, nil
}

// Marks for the two sides in a comparison.
const (
	markOld = "< "
	markNew = "> "
)

// WriteDiff writes the differences between two fabrics. ibnetdiscover fails at a port
// that has lost its link; the line is omitted here. It reports whether there are
// differences.
func (t *Text) WriteDiff(w io.Writer, from, to *fabric.Fabric, checks Checks) (differs bool, err error) {
	t.start(w)
	if t.OmitUnread {
		t.from, t.to = from, to
	}
	a, b := from.Replay(nil).Nodes, to.Replay(nil).Nodes
	for _, part := range []struct {
		on   bool
		kind mad.NodeType
	}{{checks.Switches, mad.NodeTypeSwitch}, {checks.CAs, mad.NodeTypeCA}, {checks.Routers, mad.NodeTypeRouter}} {
		if !part.on {
			continue
		}
		for _, n := range a {
			if n.Info.NodeType == part.kind {
				d := nodeDiff{t: t, checks: checks, from: n, to: to.NodeByGUID(n.GUID)}
				d.write()
				differs = differs || d.differs
			}
		}
		for _, n := range b {
			if n.Info.NodeType != part.kind {
				continue
			}
			// Connections and names were compared above.
			d := nodeDiff{t: t, from: n, to: from.NodeByGUID(n.GUID), onlyMissing: true}
			d.write()
			differs = differs || d.differs
		}
	}
	return differs, t.finish()
}

// A nodeDiff compares a node.
type nodeDiff struct {
	t           *Text
	checks      Checks
	from, to    *fabric.Node
	onlyMissing bool // compare nothing but the existence; from is in the new fabric
	differs     bool
	headed      bool // the header was written
}

func (d *nodeDiff) write() {
	other := d.t.to // that may lack the node
	if d.onlyMissing {
		other = d.t.from
	}
	switch {
	case d.to == nil && other != nil && other.Unfinished():
		return
	case d.to == nil:
		mark := markOld
		if d.onlyMissing {
			mark = markNew
		}
		d.differs = true
		d.t.header(d.from, "", mark, mark)
		for _, p := range linked(d.from) {
			d.t.port(p, mark)
		}
		return
	case d.onlyMissing || d.checks == (Checks{Switches: d.checks.Switches, CAs: d.checks.CAs, Routers: d.checks.Routers}):
		return
	}
	if (d.checks.LIDs && smaLID(d.from) != smaLID(d.to) || d.checks.Descriptions && d.from.Desc != d.to.Desc) && d.wereRead(d.from, d.to) {
		d.t.header(d.from, "", "", markOld)
		d.t.out.Write(append(d.t.appendDetail(nil, d.to, markNew), '\n'))
		d.differs, d.headed = true, true
	}
	if a, b := d.from.Info.NumPorts, d.to.Info.NumPorts; a != b {
		d.header()
		fmt.Fprintf(d.t.out, "%snumports = %d\n%snumports = %d\n", markOld, a, markNew, b)
		return
	}
	if d.checks.Connections || d.checks.LIDs {
		for number := 1; number <= int(d.from.Info.NumPorts); number++ {
			d.port(d.from.PortAt(uint8(number)), d.to.PortAt(uint8(number)))
		}
	}
}

// wereRead reports whether the scans have read a node's description and a switch's LID.
func (d *nodeDiff) wereRead(from, to *fabric.Node) bool {
	has := func(f *fabric.Fabric, n *fabric.Node) bool {
		return f == nil || f.HasDescription(n) && f.HasLID(n)
	}
	return has(d.t.from, from) && has(d.t.to, to)
}

func (d *nodeDiff) header() {
	if !d.headed {
		d.t.header(d.from, "", "", "")
	}
	d.differs, d.headed = true, true
}

// port compares two ports; nil stands for a port without data.
func (d *nodeDiff) port(a, b *fabric.Port) {
	if d.t.from != nil && (d.t.from.Unread(a) || d.t.to.Unread(b)) {
		return
	}
	var oldDiffers, newDiffers bool
	both := func() { oldDiffers, newDiffers = true, true }
	known, peers := a != nil && b != nil, false
	if known {
		peers = a.Peer != nil && b.Peer != nil
	}
	if d.checks.Connections {
		switch {
		case a != nil && b == nil || known && a.Peer != nil && b.Peer == nil:
			oldDiffers = true
		case a == nil && b != nil || known && a.Peer == nil && b.Peer != nil:
			newDiffers = true
		case known && (a.GUID != b.GUID || peers && a.Peer.GUID != b.Peer.GUID):
			both()
		}
	}
	if d.checks.LIDs && known && a.LID() != b.LID() && d.wereRead(a.Node, b.Node) {
		both()
	}
	if d.checks.Connections && peers && d.wereRead(a.Peer.Node, b.Peer.Node) && (d.checks.Descriptions && a.Peer.Node.Desc != b.Peer.Node.Desc ||
		d.checks.LIDs && a.Peer.LID() != b.Peer.LID()) {
		both()
	}
	if oldDiffers && a.Peer != nil {
		d.header()
		d.t.port(a, markOld)
	}
	if newDiffers && b.Peer != nil {
		d.header()
		d.t.port(b, markNew)
	}
}

// smaLID returns a switch's management port LID, 0 for other nodes.
func smaLID(n *fabric.Node) ib.LID {
	if !n.IsSwitch() {
		return 0
	}
	return n.LID()
}
