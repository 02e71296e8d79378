package netfile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Node is a node in a file.
type Node struct {
	At   *Line // the line that begins the node
	Kind mad.NodeType
	ID   string
	Desc string

	GUID       ib.GUID
	PortGUID   ib.GUID // switch's port 0; 0: unknown
	SystemGUID ib.GUID
	HasIDs     bool // the file has vendid, devid or sysimgguid of the node
	VendorID   uint32
	DeviceID   uint16

	NumPorts int
	Ports    map[int]*Port // ports with a line, by number

	Ability  Ability // for ports without a line
	Enhanced bool    // enhanced port 0
	LID      ib.LID  // for port 0
	LMC      uint8
}

// System returns the system image GUID in a topology file. ibnetdiscover omits GUID 0, and prints
// the other IDs of each node: without all three, as in files for ibsim, it is unknown, and the
// node is a system of its own.
func (node *Node) System() ib.GUID {
	if !node.HasIDs {
		return node.GUID
	}
	return node.SystemGUID
}

// Linked returns the node's linked ports, by number.
func (node *Node) Linked() []*Port {
	var out []*Port
	for _, p := range node.Ports {
		if p.Peer != nil {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *Port) int { return a.Number - b.Number })
	return out
}

// A Port is a port in a file.
type Port struct {
	At     *Line
	Node   *Node
	Number int
	Peer   *Port // nil: no link

	GUID    ib.GUID // 0: derived from the node's
	LID     ib.LID
	LMC     uint8
	Ability Ability
	Running Rate // topology files only

	alias        string // port name for other nodes; "": no alias
	remote       string // peer node's ID or alias; "": the line defines an alias only
	remoteNumber int
}

// String returns the node's ID and the port number.
func (p *Port) String() string { return fmt.Sprintf("%q[%d]", p.Node.ID, p.Number) }

// MaxID and maxDesc are the lengths at which ibsim cuts IDs and descriptions.
const (
	MaxID   = 64
	maxDesc = 63
)

// nodeLine reads the line that begins a node:
//
//	Switch	36 "id"	# "description" base port 0 lid 4 lmc 0
func (n *reader) nodeLine(l *Line, kind mad.NodeType) error {
	n.skipPorts() // unless the line is valid
	l.Blanks()
	ports, err := l.Integer("the number of ports", MaxPorts)
	if err != nil {
		return err
	}
	if ports == 0 {
		return l.Errorf("number of ports: got 0, want at least 1")
	}
	l.Blanks()
	start := l.At
	id, err := l.Quoted("the ID of the node")
	if err != nil {
		return err
	}
	after := l.At
	l.At = start
	switch {
	case id == "" || strings.ContainsAny(id, "#@"):
		return l.Errorf("ID %q: empty, or with # or @", id)
	case len(n.prefix)+1+len(id) > MaxID:
		return l.Errorf("ID %q: longer than %d bytes with its module's prefix", id, MaxID)
	case len(n.nodes) == MaxNodes || n.ports+int(ports) > MaxAllPorts:
		return l.Errorf("more than %d nodes or %d ports", MaxNodes, MaxAllPorts)
	}
	id = n.expand(id)
	guid := n.next[kind]
	if !n.known && n.rules == Topology {
		guid = cmp.Or(guidOf(id), guid)
	}
	if other := n.byID[id]; other != nil {
		return l.Errorf("duplicate node %q, defined in %s", id, other.At.Location())
	}
	if other := n.guids[guid]; other != nil {
		return l.Errorf("node %q: duplicate GUID 0x%x, used by node %q in %s", id, guid, other.ID, other.At.Location())
	}
	l.At = after
	node := &Node{
		At: l, Kind: kind, ID: id, NumPorts: int(ports), GUID: guid, PortGUID: n.portGUID, SystemGUID: n.system, HasIDs: n.hasIDs, VendorID: n.vendor, DeviceID: n.device,
		Ports: map[int]*Port{}, Ability: n.ability,
	}
	rest := node.describe(l.comment(), n.rules)
	node.Enhanced = strings.Contains(rest, "enhanced port 0")
	if kind == mad.NodeTypeSwitch {
		if node.LID, node.LMC, err = lidAndLMC(rest); err != nil {
			return l.Errorf("%w", err)
		}
	}
	n.add(node)
	return nil
}

// add adds a node and reserves its GUIDs.
func (n *reader) add(node *Node) {
	n.byID[node.ID], n.guids[node.GUID] = node, node
	n.nodes = append(n.nodes, node)
	n.ports += node.NumPorts
	n.current, n.skipped = node, skipped{}
	n.next[node.Kind]++
	if node.Kind != mad.NodeTypeSwitch {
		n.next[node.Kind] += ib.GUID(node.NumPorts)
	}
	n.vendor, n.system, n.portGUID, n.known, n.hasIDs = 0, 0, 0, false, false
	if n.rules == Topology {
		n.device = 0
	}
}

// guidOf returns the GUID in an ID as ibnetdiscover prints it, such as
// S-0002c90000800400; 0 for another ID.
func guidOf(id string) ib.GUID {
	if len(id) < 2 || id[1] != '-' {
		return 0
	}
	v, err := strconv.ParseUint(id[2:], 16, 64)
	if err != nil {
		return 0
	}
	return ib.GUID(v)
}

// expand adds the module prefix to an ID without a prefix.
func (n *reader) expand(id string) string {
	if n.prefix == "" || strings.Contains(id, "#") {
		return id
	}
	return n.prefix + "#" + id
}

// comment returns the text after the first #.
func (l *Line) comment() string {
	_, comment, _ := strings.Cut(l.Rest(), "#")
	return strings.TrimLeft(comment, " \t")
}

// describe sets the description from a comment and returns the comment's remainder.
func (node *Node) describe(comment string, r Rules) (rest string) {
	desc := comment
	if quoted, ok := strings.CutPrefix(comment, `"`); ok {
		if r == Topology {
			// ibnetdiscover does not escape quotation marks: the last quotation mark ends
			// the name.
			end := max(strings.LastIndexByte(quoted, '"'), 0)
			desc, rest = quoted[:end], quoted[end:]
		} else {
			desc, rest, _ = strings.Cut(quoted, `"`)
		}
	} else {
		for _, end := range DescEnds {
			if i := strings.Index(comment, end); i >= 0 {
				desc, rest = comment[:i], comment[i:]
				break
			}
		}
	}
	if desc == "" {
		desc = node.ID
	}
	if r == NetFile && len(desc) > maxDesc {
		desc = desc[:maxDesc]
	}
	node.Desc = desc
	return rest
}

// DescEnds are the texts that end a description without quotation marks.
var DescEnds = []string{" enhanced port ", " base port ", " lid ", " lmc "}

// lidAndLMC finds "lid 4 lmc 0" in a comment. Missing values are 0. A LID may be out of
// the unicast range: some ports without a LID have 65535.
func lidAndLMC(comment string) (lid ib.LID, lmc uint8, err error) {
	for _, field := range []struct {
		name string
		most uint64
		set  func(v uint64)
	}{
		{"lid ", math.MaxUint16, func(v uint64) { lid = ib.LID(v) }},
		{"lmc ", 7, func(v uint64) { lmc = uint8(v) }},
	} {
		_, text, ok := strings.Cut(comment, field.name)
		if !ok || text == "" || !IsDigit(text[0]) {
			continue
		}
		l := Line{Text: text}
		v, err := l.Integer(field.name, field.most)
		if err != nil {
			return 0, 0, fmt.Errorf("%s%.20q: not a number from 0 to %d", field.name, text, field.most)
		}
		field.set(v)
	}
	return lid, lmc, nil
}
