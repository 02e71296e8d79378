package fabric

import (
	"fmt"
	"strconv"
	"strings"
)

// PortName returns the notation for a node's port in texts for users: "leaf1[3]".
// [CutPort] parses it.
func PortName(node string, number int) string { return fmt.Sprintf("%s[%d]", node, number) }

// PortName returns a port's notation: [NameMap.Label] and the number, as in "leaf1[3]".
func (m *NameMap) PortName(p *Port) string { return PortName(m.Label(p.Node), int(p.Number)) }

// String returns the port's notation, as in "leaf1[3]", with the name that the node has given
// itself. [NameMap.PortName] has the administrator's names.
func (p *Port) String() string { return (*NameMap)(nil).PortName(p) }

// String returns the node's description, or its GUID if the description is unknown.
func (n *Node) String() string { return (*NameMap)(nil).Label(n) }

// CutPort splits a port name into the node name and the number: "leaf1[3]", or "leaf1/3",
// which shells do not treat as a pattern.
func CutPort(name string) (node string, number int, ok bool) {
	i := strings.LastIndexByte(name, '/')
	digits := name[i+1:]
	if text, isBracket := strings.CutSuffix(name, "]"); isBracket {
		i = strings.LastIndexByte(text, '[')
		digits = text[i+1:]
	}
	if i <= 0 || strings.HasPrefix(digits, "+") {
		return name, 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return name, 0, false
	}
	return name[:i], int(n), true
}

// NoPortError returns the error for a port number that a node with the given port count
// does not have. node is the caller's name for the node.
func NoPortError(node string, number, ports int) error {
	return fmt.Errorf("find %s: %s", PortName(node, number), NumbersOf(node, ports))
}

// NumbersOf describes a node's port numbers.
func NumbersOf(node string, ports int) string {
	return fmt.Sprintf("the ports of %s have the numbers 1 to %d", node, ports)
}
