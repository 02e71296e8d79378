package sim

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/netfile"
	"github.com/ibkit/ibkit/mad"
)

// WriteNet writes the fabric as a net file, which ibsim and [ParseNet] read: nodes,
// GUIDs, names, the links that are up and the widths and speeds that their ends have
// enabled. The format cannot express LIDs and port states, XDR (written as NDR), or a
// link that runs below the widths and speeds enabled. ibsim before 0.12 rejects NDR.
func (f *Fabric) WriteNet(w io.Writer) error {
	out := bufio.NewWriter(w)
	for i, n := range f.Nodes {
		if i > 0 {
			out.WriteByte('\n')
		}
		writeIDs(out, n)
		fmt.Fprintf(out, "%sguid=0x%x\n", kinds[n.Info.NodeType].guid, n.Info.NodeGUID)
		fmt.Fprintf(out, "%s\t%d \"%s\"\t# %s\n", kinds[n.Info.NodeType].word, n.Info.NumPorts, netID(n), netDesc(n))
		for k := range n.Ports {
			if p := &n.Ports[k]; p.up() {
				i := &p.Info
				fmt.Fprintf(out, "[%d]\t\"%s\"[%d]\tw=%d s=%d e=%d%s\n", k, netID(p.Peer.Node), p.Peer.Number,
					i.LinkWidthEnabled&netfile.MaxWidths, i.LinkSpeedEnabled&netfile.MaxSpeeds, i.LinkSpeedExtEnabled&netfile.MaxExtSpeeds, netFDR10(p))
			}
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write net file: %w", err)
	}
	return nil
}

// netFDR10 returns the comment that marks a link as FDR10, for which the format has no
// option, and "" for other links.
func netFDR10(p *Port) string {
	if p.Ext == nil || p.Ext.LinkSpeedActive.Speed() != ib.FDR10 {
		return ""
	}
	return fmt.Sprintf("\t# \"%s\" lid 0 4xFDR10", oneLine(p.Peer.Node.Desc.String()))
}

// kinds are the words for each node type in both formats.
var kinds = map[mad.NodeType]struct{ word, guid, letter string }{
	mad.NodeTypeSwitch: {"Switch", "switch", "S"},
	mad.NodeTypeCA:     {"Ca", "ca", "H"},
	mad.NodeTypeRouter: {"Rt", "rt", "R"},
}

// writeIDs writes the lines before a node that both formats have.
func writeIDs(out *bufio.Writer, n *Node) {
	fmt.Fprintf(out, "vendid=0x%x\ndevid=0x%x\n", n.Info.VendorID, n.Info.DeviceID)
	if n.Info.SystemGUID != 0 {
		fmt.Fprintf(out, "sysimgguid=0x%x\n", n.Info.SystemGUID)
	}
}

// netID returns a node's ID, or a substitute if the ID contains the format's special
// characters.
func netID(n *Node) string {
	if n.ID == "" || len(n.ID) > netfile.MaxID || strings.ContainsAny(n.ID, "#@\"\r\n") {
		return topologyID(n)
	}
	return n.ID
}

// topologyID returns the ID that ibnetdiscover gives to a node.
func topologyID(n *Node) string {
	return fmt.Sprintf("%s-%016x", kinds[n.Info.NodeType].letter, n.Info.NodeGUID)
}

// netDesc returns a description in quotation marks, which cannot be escaped, or without
// them if the description contains some and no text that ends it. Otherwise its
// quotation marks are replaced.
func netDesc(n *Node) string {
	desc := oneLine(n.Desc.String())
	if !strings.Contains(desc, `"`) {
		return `"` + desc + `"`
	}
	bare := !strings.ContainsAny(desc[:1], "\" \t\v\f")
	for _, end := range netfile.DescEnds {
		bare = bare && !strings.Contains(desc, end)
	}
	if bare {
		return desc
	}
	return `"` + strings.ReplaceAll(desc, `"`, "'") + `"`
}

// oneLine replaces line ends with blanks. In the ibnetdiscover format a name may contain
// quotation marks: the last quotation mark in a line ends the name.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// WriteTopology writes the fabric in the ibnetdiscover format, which ibsim and
// [ParseTopology] read: names, GUIDs, LIDs, and the links that are up with their active
// widths and speeds.
func (f *Fabric) WriteTopology(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.WriteString("#\n# Topology file: written by ibkit\n#\n")
	if from := f.firstAdapter(); from != nil {
		fmt.Fprintf(out, "# Initiated from node %016x port %016x\n", from.Node.Info.NodeGUID, from.GUID)
	}
	for _, kind := range []mad.NodeType{mad.NodeTypeSwitch, mad.NodeTypeCA, mad.NodeTypeRouter} {
		for _, n := range f.Nodes {
			if n.Info.NodeType == kind {
				writeTopologyNode(out, n)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write topology: %w", err)
	}
	return nil
}

func writeTopologyNode(out *bufio.Writer, n *Node) {
	kind := kinds[n.Info.NodeType]
	out.WriteByte('\n')
	writeIDs(out, n)
	fmt.Fprintf(out, "%sguid=0x%x", kind.guid, n.Info.NodeGUID)
	if n.IsSwitch() {
		fmt.Fprintf(out, "(%x)", n.Ports[0].GUID)
	}
	fmt.Fprintf(out, "\n%s\t%d \"%s\"\t\t# \"%s\"", kind.word, n.Info.NumPorts, topologyID(n), oneLine(n.Desc.String()))
	if n.IsSwitch() {
		port0 := "base"
		if n.Switch.EnhancedPort0 != 0 {
			port0 = "enhanced"
		}
		fmt.Fprintf(out, " %s port 0 lid %d lmc %d", port0, n.Ports[0].Info.LID, n.Ports[0].Info.LMC)
	}
	out.WriteByte('\n')
	for k := range n.Ports {
		if p := &n.Ports[k]; p.up() {
			writeTopologyPort(out, p)
		}
	}
}

func writeTopologyPort(out *bufio.Writer, p *Port) {
	peer := p.Peer
	fmt.Fprintf(out, "[%d]", p.Number)
	if !p.Node.IsSwitch() {
		fmt.Fprintf(out, "(%x) ", p.GUID)
	}
	fmt.Fprintf(out, "\t\"%s\"[%d]", topologyID(peer.Node), peer.Number)
	switch {
	case peer.Node.IsSwitch():
	case p.Node.IsSwitch():
		fmt.Fprintf(out, "(%x) ", peer.GUID)
	default:
		fmt.Fprintf(out, " (%x) ", peer.GUID)
	}
	out.WriteString("\t\t# ")
	if !p.Node.IsSwitch() {
		fmt.Fprintf(out, "lid %d lmc %d ", p.Info.LID, p.Info.LMC)
	}
	fmt.Fprintf(out, "\"%s\" lid %d %s%s\n", oneLine(peer.Node.Desc.String()), peer.Node.managed(peer.Number).Info.LID,
		strings.ToLower(p.Info.LinkWidthActive.String()), p.Info.ActiveSpeed(&p.Node.managed(p.Number).Info, p.Ext))
}
