// Package links has the views of a fabric's links that several commands print.
package links

import (
	"strconv"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// WasDown reports whether a port was down in a fabric stored earlier.
func WasDown(before *fabric.Fabric, p *fabric.Port) bool {
	if before == nil {
		return false
	}
	old := before.NodeByGUID(p.Node.GUID).PortAt(p.Number)
	return old != nil && old.Info != nil && old.Info.State == ib.PortDown
}

// Classic prints links in the form of iblinkinfo (rdma-core,
// infiniband-diags/iblinkinfo.c), whose widths and punctuation scripts match.
type Classic struct {
	Out        *render.Output
	Names      *fabric.NameMap
	Line       bool // -l: all of a link on one line
	Additional bool // -p: HOQLife and VLStallCount
	OnlyDown   bool // -d
	DownBefore *fabric.Fabric
	Only       map[*fabric.Port]bool // nil for all ports

	buf []byte
}

// Print prints nodes, each as a block of its own.
func (v *Classic) Print(nodes []*fabric.Node) {
	for _, n := range nodes {
		v.node(n, "")
	}
}

// node prints a node's external ports, and a header over them if there are any.
func (v *Classic) node(n *fabric.Node, prefix string) {
	header := false
	for _, p := range n.Ports {
		if p == nil || p.Number == 0 || p.Info == nil || v.OnlyDown && !isDown(p) || v.Only != nil && !v.Only[p] {
			continue
		}
		if !header {
			v.header(n, prefix)
			header = true
		}
		v.port(p, prefix)
	}
}

func isDown(p *fabric.Port) bool { return p.Info != nil && p.Info.State == ib.PortDown }

// header prints the line above the ports of a node, except in line mode.
func (v *Classic) header(n *fabric.Node, prefix string) {
	if v.Line {
		return
	}
	b := append(v.buf[:0], prefix...)
	b = append(b, classicType(n.Info.NodeType)...)
	b = append(b, ": "...)
	if n.IsSwitch() {
		guid := n.Info.PortGUID
		if p := n.Ports[0]; p != nil {
			guid = p.GUID
		}
		b = append(guid.AppendTo(b), ' ')
	}
	b = append(b, v.Names.Name(n)...)
	v.flush(append(b, ":\n"...))
}

// classicType returns the name of a node type, "??" for an undefined type.
func classicType(t mad.NodeType) string {
	if t < mad.NodeTypeCA || t > mad.NodeTypeRouter {
		return "??"
	}
	return t.String()
}

// port prints one line: the port, its link and the peer port.
func (v *Classic) port(p *fabric.Port, prefix string) {
	if isDown(p) && WasDown(v.DownBefore, p) {
		return
	}
	b := append(v.buf[:0], prefix...)
	switch {
	case v.Line:
		b = append(p.GUID.AppendTo(b), ` "`...)
		b = append(appendRight(b, v.Names.Name(p.Node), 30), `" `...)
	case p.Node.IsSwitch():
		b = append(b, "      "...)
	default:
		b = append(b, "      "...)
		b = append(p.GUID.AppendTo(b), ' ')
	}
	b = v.appendAddress(b, p)
	b = append(b, " =="...)
	b = v.appendLink(b, p)
	b = append(b, "==>  "...)
	b = v.appendPeer(b, p)
	v.flush(append(b, '\n'))
}

func (v *Classic) flush(b []byte) {
	v.Out.Write(b)
	v.buf = b
}

// appendAddress writes LID, port number and the number printed on the chassis.
func (v *Classic) appendAddress(b []byte, p *fabric.Port) []byte {
	b = append(appendRight(b, strconv.Itoa(int(p.LID())), 6), ' ')
	b = appendRight(b, strconv.Itoa(int(p.Number)), 4)
	return appendExternal(b, p)
}

// appendExternal writes the number printed on the chassis.
func appendExternal(b []byte, p *fabric.Port) []byte {
	external := ""
	if p.External != 0 {
		external = strconv.Itoa(p.External)
	}
	return append(appendRight(append(b, '['), external, 2), ']')
}

// appendLink writes width, speed and states. A port that is down may return
// anything but its states (InfiniBand Architecture, Volume 1, C14-24.2.1).
func (v *Classic) appendLink(b []byte, p *fabric.Port) []byte {
	info := p.Info
	if info == nil {
		info = &mad.PortInfo{}
	}
	b = append(b, '(')
	if info.State == ib.PortDown {
		b = append(b, "              "...)
	} else {
		b = append(appendRight(b, info.LinkWidthActive.String(), 3), ' ')
		b = append(appendRight(b, classicSpeed(p), 18), ' ')
	}
	b = append(appendRight(b, info.State.String(), 6), '/')
	b = append(appendRight(b, info.PhysState.String(), 8), ')')
	if v.Additional && info.State != ib.PortDown {
		b = append(b, " (HOQ:"...)
		b = strconv.AppendUint(b, uint64(info.HOQLife), 10)
		b = append(b, " VL_Stall:"...)
		b = strconv.AppendUint(b, uint64(info.VLStallCount), 10)
		b = append(b, ')')
	}
	return b
}

// classicSpeed returns the speed of a link as iblinkinfo names it.
func classicSpeed(p *fabric.Port) string {
	if p.Info == nil {
		return "undefined (0)"
	}
	if speed := p.Info.ActiveSpeed(linkinfo.ClassicCaps(p), p.Ext); speed != 0 {
		return speed.Classic()
	}
	if p.Info.LinkSpeedActive == 0 {
		return "Extended speed"
	}
	return "undefined (" + strconv.Itoa(int(p.Info.LinkSpeedActive)) + ")"
}

// appendPeer appends the peer port and the possible width and speed of the link.
func (v *Classic) appendPeer(b []byte, p *fabric.Port) []byte {
	if p.Peer == nil {
		if isDown(p) {
			return append(b, `           [  ] "" ( )`...)
		}
		return append(b, `    "Port not available"`...)
	}
	if v.Line {
		b = append(p.Peer.GUID.AppendTo(b), ' ')
	}
	b = v.appendAddress(b, p.Peer)
	b = append(b, ` "`...)
	b = append(b, v.Names.Name(p.Peer.Node)...)
	b = append(b, `" (`...)
	width, speed := linkinfo.CouldBe(p)
	b = append(append(b, width...), ' ')
	return append(append(b, speed...), ')')
}

// Marks of the two sides of a comparison.
const (
	markOld = "< "
	markNew = "> "
)

// PrintDiff prints the differences between two fabrics.
func (v *Classic) PrintDiff(diffs []linkinfo.NodeDiff) {
	for _, d := range diffs {
		switch {
		case d.New == nil:
			v.node(d.Old, markOld)
		case d.Old == nil:
			v.node(d.New, markNew)
		default:
			v.nodeDiff(d)
		}
	}
}

func (v *Classic) nodeDiff(d linkinfo.NodeDiff) {
	if d.Renamed {
		v.header(d.Old, markOld)
		v.header(d.New, markNew)
	} else {
		v.header(d.Old, "")
	}
	if d.PortCount {
		for _, side := range []struct {
			mark string
			node *fabric.Node
		}{{markOld, d.Old}, {markNew, d.New}} {
			b := append(v.buf[:0], side.mark...)
			b = append(b, "numports = "...)
			b = strconv.AppendUint(b, uint64(side.node.Info.NumPorts), 10)
			v.flush(append(b, '\n'))
		}
	}
	for _, p := range d.Ports {
		if p.Old != nil {
			v.port(p.Old, markOld)
		}
		if p.New != nil {
			v.port(p.New, markNew)
		}
	}
}

// appendRight appends s, right-aligned in a column.
func appendRight(b []byte, s string, width int) []byte {
	for range width - len(s) {
		b = append(b, ' ')
	}
	return append(b, s...)
}
