package topology

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Text writes a fabric in ibnetdiscover's formats, byte for byte (rdma-core,
// infiniband-diags/ibnetdiscover.c). The nodes are in [fabric.Fabric.Replay] order.
type Text struct {
	Names   *fabric.NameMap
	Time    time.Time // scan time, for the header
	Group   bool      // group nodes by chassis
	Full    bool      // add ports' speed, width and VLs as numbers
	MaxHops bool      // add the longest route's length and the request count

	// OmitUnread omits differences between nodes and ports that an unfinished scan has not
	// read.
	OmitUnread bool

	from, to *fabric.Fabric // in a comparison with OmitUnread, one of them unfinished

	out     *bufio.Writer
	chassis map[*fabric.System]int // chassis numbers, only with Group
	buf     []byte
}

// start begins an output. finish must follow.
func (t *Text) start(w io.Writer) { t.out = bufio.NewWriterSize(w, 64<<10) }

func (t *Text) finish() error {
	if err := t.out.Flush(); err != nil {
		return fmt.Errorf("write topology: %w", err)
	}
	return nil
}

// WriteTopology writes the nodes and links as a topology file, which opensm, ibsim
// and many scripts read.
func (t *Text) WriteTopology(w io.Writer, f *fabric.Fabric) error {
	t.start(w)
	t.topology(f)
	return t.finish()
}

func (t *Text) topology(f *fabric.Fabric) {
	r := f.Replay(nil)
	fmt.Fprintf(t.out, "#\n# Topology file: generated on %s\n#\n", t.Time.Local().Format(time.ANSIC))
	if t.MaxHops {
		fmt.Fprintf(t.out, "# Reported max hops discovered: %d\n# Total MADs used: %d\n", r.MaxHops, r.Requests)
	}
	if f.Start != nil {
		fmt.Fprintf(t.out, "# Initiated from node %016x port %016x\n", uint64(f.Start.GUID), uint64(f.Start.Info.PortGUID))
	}
	if t.Group {
		t.allChassis(r.Nodes)
	}
	for _, kind := range []mad.NodeType{mad.NodeTypeSwitch, mad.NodeTypeCA, mad.NodeTypeRouter} {
		for _, n := range r.Nodes {
			if n.Info.NodeType == kind && (!t.Group || t.chassis[n.System] == 0) {
				t.node(n, "")
			}
		}
	}
}

// node writes a node's lines. host is the host name for its chassis, "" if unknown.
func (t *Text) node(n *fabric.Node, host string) {
	t.header(n, host, "", "")
	for _, p := range linked(n) {
		t.port(p, "")
	}
}

// linked returns a node's ports with a link, without ports that the node cannot have.
func linked(n *fabric.Node) []*fabric.Port {
	var ports []*fabric.Port
	for number := 1; number <= int(n.Info.NumPorts) && number < len(n.Ports); number++ {
		if p := n.Ports[number]; p != nil && p.Peer != nil {
			ports = append(ports, p)
		}
	}
	return ports
}

// words are the format's words for node types.
type words struct{ line, guid, letter, list, report string }

func wordsOf(t mad.NodeType) words {
	switch t {
	case mad.NodeTypeSwitch:
		return words{"Switch", "switch", "S", "Switch", "SW"}
	case mad.NodeTypeCA:
		return words{"Ca", "ca", "H", "Ca", "CA"}
	case mad.NodeTypeRouter:
		return words{"Rt", "rt", "R", "Router", "RT"}
	}
	return words{"???", "???", "?", "???", "??"}
}

// appendID appends a node's ID in quotation marks: its type and its GUID without 0x.
func appendID(b []byte, n *fabric.Node) []byte {
	b = append(append(append(b, '"'), wordsOf(n.Info.NodeType).letter...), '-')
	start := len(b)
	b = n.GUID.AppendTo(b)
	return append(append(b[:start], b[start+len("0x"):]...), '"')
}

// header writes the lines before a node's ports. ids is written in front of the IDs,
// detail in front of the last line.
func (t *Text) header(n *fabric.Node, host, ids, detail string) {
	number := t.chassis[n.System]
	b := fmt.Appendf(t.buf[:0], "\n%svendid=0x%x\n%sdevid=0x%x\n", ids, n.Info.VendorID, ids, n.Info.DeviceID)
	if n.Info.SystemGUID != 0 {
		b = strconv.AppendUint(append(append(b, ids...), "sysimgguid=0x"...), uint64(n.Info.SystemGUID), 16)
	}
	if number != 0 {
		b = appendChassis(b, n, number, host)
	}
	if n.Info.SystemGUID != 0 || number != 0 {
		b = append(b, '\n')
	}
	b = append(append(append(b, ids...), wordsOf(n.Info.NodeType).guid...), "guid=0x"...)
	b = strconv.AppendUint(b, uint64(n.GUID), 16)
	if n.IsSwitch() {
		b = append(strconv.AppendUint(append(b, '('), uint64(n.Info.PortGUID), 16), ')')
		if t.Group {
			b = append(append(b, "\t# "...), slotText(n)...)
		}
	}
	b = t.appendDetail(append(b, '\n'), n, detail)
	if t.Group && !n.IsSwitch() && isXsigo(n.GUID, xsigoHCA) {
		b = append(b, " (scp)"...)
	}
	t.buf = append(b, '\n')
	t.out.Write(t.buf)
}

// appendDetail appends the last line before the ports, without its end. ibnetdiscover
// uses the name map for switches only.
func (t *Text) appendDetail(b []byte, n *fabric.Node, prefix string) []byte {
	b = append(append(append(b, prefix...), wordsOf(n.Info.NodeType).line...), '\t')
	b = strconv.AppendUint(b, uint64(n.Info.NumPorts), 10)
	b = append(appendID(append(b, ' '), n), "\t\t# \""...)
	if !n.IsSwitch() {
		return append(n.Desc.AppendClean(b), '"')
	}
	b = append(t.Names.AppendName(b, n), '"')
	kind, lid, lmc := "base", ib.LID(0), uint8(0)
	if n.Switch != nil && n.Switch.EnhancedPort0 != 0 {
		kind = "enhanced"
	}
	if p := n.Ports[0]; p != nil && p.Info != nil {
		lid, lmc = p.Info.LID, p.Info.LMC
	}
	return fmt.Appendf(b, " %s port 0 lid %d lmc %d", kind, lid, lmc)
}

// port writes the line for a port with a link.
func (t *Text) port(p *fabric.Port, prefix string) {
	info, speed, width, speedName := linkOf(p)
	peer := p.Peer
	b := appendPortNumber(append(t.buf[:0], prefix...), p)
	if p.Node.IsSwitch() {
		b = t.appendExternal(b, p)
	} else {
		b = appendPortGUID(b, p)
	}
	b = appendPortNumber(appendID(append(b, '\t'), peer.Node), peer)
	b = t.appendExternal(b, peer)
	if !peer.Node.IsSwitch() {
		if !p.Node.IsSwitch() {
			b = append(b, ' ')
		}
		b = appendPortGUID(b, peer)
	}
	b = append(b, "\t\t# "...)
	if !p.Node.IsSwitch() {
		b = strconv.AppendUint(append(b, "lid "...), uint64(p.LID()), 10)
		b = strconv.AppendUint(append(b, " lmc "...), uint64(info.LMC), 10)
		b = append(b, ' ')
	}
	b = t.Names.AppendName(append(b, '"'), peer.Node)
	b = strconv.AppendUint(append(b, "\" lid "...), uint64(peer.LID()), 10)
	b = append(append(append(b, ' '), width...), speedName...)
	if t.Full {
		b = fmt.Appendf(b, " s=%d w=%d v=%d", speed, info.LinkWidthActive, info.VLCap)
	}
	if p.Node.IsSwitch() {
		switch {
		case isXsigo(peer.GUID, xsigoTCA):
			b = fmt.Appendf(b, " slot %d", p.Number)
		case isXsigo(peer.GUID, xsigoHCA):
			b = append(b, " (scp)"...)
		}
	}
	t.buf = append(b, '\n')
	t.out.Write(t.buf)
}

// appendPortNumber appends a port's number in brackets.
func appendPortNumber(b []byte, p *fabric.Port) []byte {
	return append(strconv.AppendUint(append(b, '['), uint64(p.Number), 10), ']')
}

// appendPortGUID appends a port's GUID in parentheses and a blank.
func appendPortGUID(b []byte, p *fabric.Port) []byte {
	return append(strconv.AppendUint(append(b, '('), uint64(p.GUID), 16), ") "...)
}

// appendExternal appends a port's number as printed on its chassis.
func (t *Text) appendExternal(b []byte, p *fabric.Port) []byte {
	if !t.Group || p.External == 0 {
		return b
	}
	return fmt.Appendf(b, "[ext %d]", p.External)
}

// linkOf returns a port's attributes, zero if it did not respond, and its active speed
// and width.
func linkOf(p *fabric.Port) (info *mad.PortInfo, speed int, width, speedName string) {
	info = p.Info
	if info == nil {
		info = new(mad.PortInfo)
	}
	speed = int(info.LinkSpeedActive)
	caps := p.Caps()
	if caps == nil {
		speed = 0 // the switch did not return its port 0
	}
	return info, speed, widthText(info.LinkWidthActive), speedText(info, caps, p.Ext)
}

func widthText(w ib.LinkWidth) string {
	switch w {
	case ib.Width1X:
		return "1x"
	case ib.Width4X:
		return "4x"
	case ib.Width8X:
		return "8x"
	case ib.Width12X:
		return "12x"
	case ib.Width2X:
		return "2x"
	}
	return "??"
}

// speedText returns the active speed, "???" for values without a name.
func speedText(info, caps *mad.PortInfo, ext *mad.MlnxExtPortInfo) string {
	if caps == nil {
		return "???"
	}
	speed := info.ActiveSpeed(caps, nil)
	switch {
	case speed == ib.QDR && ext != nil && ext.LinkSpeedActive.Speed() == ib.FDR10:
		return "FDR10"
	case speed.Single():
		return speed.String()
	}
	return "???"
}
