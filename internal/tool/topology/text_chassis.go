package topology

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// The first bytes in the GUIDs of Xsigo's devices (rdma-core, libibnetdisc/chassis.c).
const (
	xsigo    = 0x001397
	xsigoHCA = xsigo<<8 | 2
	xsigoTCA = xsigo<<8 | 3
)

func isXsigo(guid ib.GUID, kind uint64) bool { return uint64(guid)>>32 == kind }

// allChassis numbers the chassis in node order, Voltaire's chassis first, and writes
// them.
func (t *Text) allChassis(nodes []*fabric.Node) {
	t.chassis = map[*fabric.System]int{}
	var systems []*fabric.System
	number := func(n *fabric.Node) {
		if n.System != nil && t.chassis[n.System] == 0 {
			systems = append(systems, n.System)
			t.chassis[n.System] = len(systems)
		}
	}
	for _, n := range nodes {
		if n.IsSwitch() && n.Slot.Kind == fabric.SlotSpine && isVoltaire(n) {
			number(n)
		}
	}
	for _, n := range nodes {
		if !isVoltaire(n) {
			number(n)
		}
	}
	for _, s := range systems {
		t.oneChassis(s, nodes)
	}
	t.out.WriteString("\nNon-Chassis Nodes\n")
}

const (
	vendorVoltaire = 0x8f1
	vendorMellanox = 0x2c9
)

func isVoltaire(n *fabric.Node) bool { return n.Info.VendorID == vendorVoltaire }

// oneChassis writes the nodes in a chassis: boards by slot, then the others in
// discovery order.
func (t *Text) oneChassis(s *fabric.System, order []*fabric.Node) {
	fmt.Fprintf(t.out, "\nChassis %d", t.chassis[s])
	if s.GUID != 0 {
		fmt.Fprintf(t.out, " (guid 0x%x)", uint64(s.GUID))
	}
	t.out.WriteByte('\n')
	var rest []*fabric.Node
	for _, n := range slices.Backward(order) {
		if n.System == s && n.Slot.Kind == fabric.SlotNone {
			rest = append(rest, n)
		}
	}
	host := ""
	if uint64(s.GUID)>>40 == xsigo {
		for _, n := range rest {
			if isXsigo(n.GUID, xsigoHCA) {
				host = n.Desc.Clean()
				fmt.Fprintf(t.out, "Hostname: %s\n", host)
			}
		}
	}
	t.out.WriteString("\n# Spine Nodes")
	t.boards(s, host, fabric.SlotSpine, fabric.SlotSpine)
	t.out.WriteString("\n# Line Nodes")
	t.boards(s, host, fabric.SlotLine, fabric.SlotRouter)
	for _, part := range []struct {
		heading string
		kind    mad.NodeType
	}{{"\n# Chassis Switches", mad.NodeTypeSwitch}, {"\n# Chassis CAs", mad.NodeTypeCA}} {
		t.out.WriteString(part.heading)
		for _, n := range rest {
			if n.Info.NodeType == part.kind {
				t.node(n, host)
			}
		}
	}
}

// boards writes the nodes in two slot kinds.
func (t *Text) boards(s *fabric.System, host string, a, b fabric.SlotKind) {
	for _, n := range s.Nodes {
		if n.Slot.Kind == a || n.Slot.Kind == b {
			t.node(n, host)
		}
	}
}

// appendChassis appends the comment about a node's chassis.
func appendChassis(b []byte, n *fabric.Node, number int, host string) []byte {
	b = fmt.Appendf(b, "\t\t# Chassis %d", number)
	if host != "" {
		b = fmt.Appendf(b, " (%s)", host)
	}
	if isXsigo(n.GUID, xsigoTCA) && len(n.Ports) > 1 && n.Ports[1] != nil && n.Ports[1].Peer != nil {
		b = fmt.Appendf(b, " slot %d", n.Ports[1].Peer.Number)
	}
	return b
}

// slotText returns a board's model and its place in the chassis.
func slotText(n *fabric.Node) string {
	v := n.Info.VendorID
	if n.System == nil || n.Slot.Kind == fabric.SlotNone || v != vendorVoltaire && v != vendorMellanox {
		return ""
	}
	if n.System.Kind == "" {
		return n.Slot.String()
	}
	return n.System.Kind + " " + n.Slot.String()
}
