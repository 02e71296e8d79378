package sim

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A netNode is a node in a file.
type netNode struct {
	at    *netLine
	spec  NodeSpec
	ports map[int]*netPort // ports with a line

	ability  ability // for ports without a line
	enhanced bool    // enhanced port 0
	lid      ib.LID  // for port 0
	lmc      uint8
}

// A netPort is a port in a file.
type netPort struct {
	at     *netLine
	node   *netNode
	number int
	alias  string // port name for other nodes; "": no alias

	remote       string // peer node's ID or alias; "": the line defines an alias only
	remoteNumber int
	peer         *netPort

	guid    ib.GUID // 0: derived from the node's
	lid     ib.LID
	lmc     uint8
	ability ability
	running *activeRate // topology files only
}

// maxID and maxDesc are the lengths at which ibsim cuts IDs and descriptions.
const (
	maxID   = 64
	maxDesc = 63
)

// nodeLine reads the line that begins a node:
//
//	Switch	36 "id"	# "description" base port 0 lid 4 lmc 0
func (n *netReader) nodeLine(l *netLine, kind mad.NodeType) error {
	l.blanks()
	ports, err := l.integer("the number of ports", maxPorts)
	if err != nil {
		return err
	}
	if ports == 0 {
		return l.errorf("number of ports: got 0, want at least 1")
	}
	l.blanks()
	start := l.at
	id, err := l.quoted("the ID of the node")
	if err != nil {
		return err
	}
	after := l.at
	l.at = start
	switch {
	case id == "" || strings.ContainsAny(id, "#@"):
		return l.errorf("ID %q: empty, or with # or @", id)
	case len(n.prefix)+1+len(id) > maxID:
		return l.errorf("ID %q: longer than %d bytes with its module's prefix", id, maxID)
	case len(n.nodes) == maxNetNodes || n.ports+int(ports) > maxNetPorts:
		return l.errorf("more than %d nodes or %d ports", maxNetNodes, maxNetPorts)
	}
	id = n.expand(id)
	guid := n.next[kind]
	if other := n.byID[id]; other != nil {
		return l.errorf("duplicate node %q, defined in %s", id, other.at.location())
	}
	if other := n.guids[guid]; other != nil {
		return l.errorf("node %q: duplicate GUID 0x%x, used by node %q in %s", id, guid, other.spec.ID, other.at.location())
	}
	l.at = after
	node := &netNode{
		at:      l,
		spec:    NodeSpec{Kind: kind, ID: id, Ports: int(ports), GUID: guid, SystemGUID: n.system, VendorID: n.vendor, DeviceID: n.device},
		ports:   map[int]*netPort{},
		ability: n.ability,
	}
	rest := node.describe(l.comment(), n.rules)
	node.enhanced = strings.Contains(rest, "enhanced port 0")
	if kind == mad.NodeTypeSwitch {
		if node.lid, node.lmc, err = lidAndLMC(rest); err != nil {
			return l.errorf("%w", err)
		}
	}
	n.add(node)
	return nil
}

// add adds a node and reserves its GUIDs.
func (n *netReader) add(node *netNode) {
	s := &node.spec
	n.byID[s.ID], n.guids[s.GUID] = node, node
	n.nodes = append(n.nodes, node)
	n.ports += s.Ports
	n.current = node
	n.next[s.Kind]++
	if s.Kind != mad.NodeTypeSwitch {
		n.next[s.Kind] += ib.GUID(s.Ports)
	}
	n.vendor, n.system = 0, 0
}

// expand adds the module prefix to an ID without a prefix.
func (n *netReader) expand(id string) string {
	if n.prefix == "" || strings.Contains(id, "#") {
		return id
	}
	return n.prefix + "#" + id
}

// comment returns the text after the first #.
func (l *netLine) comment() string {
	_, comment, _ := strings.Cut(l.rest(), "#")
	return strings.TrimLeft(comment, " \t")
}

// describe sets the description from a comment and returns the rest of the comment.
func (node *netNode) describe(comment string, r rules) (rest string) {
	desc := comment
	if quoted, ok := strings.CutPrefix(comment, `"`); ok {
		if r == topologyRules {
			// ibnetdiscover does not escape quotation marks: the last quotation mark ends
			// the name.
			end := max(strings.LastIndexByte(quoted, '"'), 0)
			desc, rest = quoted[:end], quoted[end:]
		} else {
			desc, rest, _ = strings.Cut(quoted, `"`)
		}
	} else {
		for _, end := range descEnds {
			if i := strings.Index(comment, end); i >= 0 {
				desc, rest = comment[:i], comment[i:]
				break
			}
		}
	}
	if desc == "" {
		desc = node.spec.ID
	}
	if r == netRules && len(desc) > maxDesc {
		desc = desc[:maxDesc]
	}
	node.spec.Desc = desc
	return rest
}

// descEnds are the texts that end a description without quotation marks.
var descEnds = []string{" enhanced port ", " base port ", " lid ", " lmc "}

// permissiveLID is the LID on some ports without a LID.
const permissiveLID = 0xffff

// lidAndLMC finds "lid 4 lmc 0" in a comment. Missing values and the permissive LID are 0.
func lidAndLMC(comment string) (lid ib.LID, lmc uint8, err error) {
	for _, field := range []struct {
		name string
		most uint64
		set  func(v uint64)
	}{
		{"lid ", uint64(ib.MaxUnicastLID), func(v uint64) { lid = ib.LID(v) }},
		{"lmc ", 7, func(v uint64) { lmc = uint8(v) }},
	} {
		_, text, ok := strings.Cut(comment, field.name)
		if !ok || text == "" || !isDigit(text[0]) {
			continue
		}
		l := netLine{text: text}
		v, err := l.integer(field.name, permissiveLID)
		if err == nil && v == permissiveLID && field.name == "lid " {
			v = 0
		}
		if err != nil || v > field.most {
			return 0, 0, fmt.Errorf("%s%.20q: not a number from 0 to %d", field.name, text, field.most)
		}
		field.set(v)
	}
	return lid, lmc, nil
}
