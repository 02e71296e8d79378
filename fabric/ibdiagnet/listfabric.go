package ibdiagnet

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// ReadList reads a link list. The fabric is [fabric.Fabric.Sparse]: the list has the
// nodes, LIDs, and link states, widths and speeds. A line that could not be read is a
// failure of the fabric; a list without any link is an error. Both are a
// [*textfile.Error] with the file name.
func ReadList(r io.Reader, file string) (*fabric.Fabric, error) {
	b := listBuilder{builder: builder{nodes: map[ib.GUID]*fabric.Node{}}, own: map[*fabric.Port]bool{}}
	b.read(textfile.NewReader(r, file))
	if len(b.order) == 0 {
		return nil, fmt.Errorf("read %w", b.damage.first(&textfile.Error{File: file, Err: errors.New("got no links")}))
	}
	f := fabric.Assemble(b.order, nil)
	f.Sparse, f.Failures = true, b.damage
	return f, nil
}

// read adds the links in all lines.
func (b *listBuilder) read(l *textfile.Reader) {
	for l.Next() {
		text := strings.TrimSpace(textfile.Unstyled(l.Text()))
		if text == "" || text[0] == '#' {
			continue
		}
		link, err := ParseListLine([]byte(text))
		if err == nil {
			err = b.addLink(&link)
		}
		if err != nil {
			l.Reject(err)
			b.damage.add(l.At(err))
		}
	}
	b.damage.add(l.End())
}

// A builder collects a file's nodes.
type builder struct {
	nodes map[ib.GUID]*fabric.Node
	order []*fabric.Node
}

// add adds a node, or returns the node with its GUID.
func (b *builder) add(info mad.NodeInfo, desc string) (n *fabric.Node, known bool, err error) {
	if n := b.nodes[info.NodeGUID]; n != nil {
		return n, true, nil
	}
	if len(b.order) == maxNodes {
		return nil, false, fmt.Errorf("more than %d nodes, the maximum of a subnet", maxNodes)
	}
	n = fabric.NewNode(info, mad.NewNodeDescription(desc))
	b.nodes[n.GUID] = n
	b.order = append(b.order, n)
	return n, false, nil
}

// A listBuilder collects a list's links.
type listBuilder struct {
	builder
	own    map[*fabric.Port]bool // ports that are the first end in a line
	damage damage
}

func (b *listBuilder) addLink(l *ListLink) error {
	var ports [2]*fabric.Port
	var problem error
	for i := range l.Ends {
		var err error
		if ports[i], err = b.listedPort(&l.Ends[i]); ports[i] == nil {
			return err
		}
		problem = cmp.Or(problem, err)
		// The attributes are the first end's attributes. The second end may have its
		// own line.
		if i == 0 || !b.own[ports[i]] {
			ports[i].Info.State, ports[i].Info.LinkWidthActive = l.State, l.Width
			ports[i].Ext = ports[i].Info.SetActiveSpeed(ports[i].Caps(), l.Speed)
		}
	}
	b.own[ports[0]] = true
	if l.State == ib.PortDown {
		return problem
	}
	return cmp.Or(problem, connect(ports[0], ports[1]))
}

// listedPort returns the port at a link end, and adds its node if it is new. If the line
// has another LID than an earlier line, it returns the port with an error.
func (b *listBuilder) listedPort(e *ListEnd) (*fabric.Port, error) {
	n, known, err := b.add(e.Info, e.Desc)
	if err != nil {
		return nil, err
	}
	if n.Info.NodeType != e.Info.NodeType || n.Info.NumPorts != e.Info.NumPorts {
		return nil, fmt.Errorf("%v is a %v with %d ports, in a line before a %v with %d",
			n.GUID, e.Info.NodeType, e.Info.NumPorts, n.Info.NodeType, n.Info.NumPorts)
	}
	p := n.At(e.Port)
	owner := p
	if n.IsSwitch() {
		owner = n.At(0)
	} else {
		p.GUID = e.Info.PortGUID
		if !known {
			n.Info.LocalPort = p.Number
		}
	}
	for _, q := range []*fabric.Port{p, owner} {
		if q.Info == nil {
			q.Info = new(mad.PortInfo)
		}
	}
	if owner.Info.LID != 0 && owner.Info.LID != e.LID {
		return p, fmt.Errorf("port %s has LID %d, and LID %d in an earlier line", fabric.PortName(n.GUID.String(), int(e.Port)), e.LID, owner.Info.LID)
	}
	owner.Info.LID = e.LID
	return p, nil
}

// listNames replaces the braces around a description, which cannot be escaped, and line
// ends.
var listNames = strings.NewReplacer("{", "(", "}", ")", "\n", " ", "\r", " ", "\x00", " ")

// WriteList writes a fabric's links as a list, in the opensm-subnet.lst form, which
// ibdmchk, ibtopodiff and scripts read: a line for each link end.
func WriteList(w io.Writer, f *fabric.Fabric, names *fabric.NameMap) error {
	out := bufio.NewWriter(w)
	for _, n := range f.Nodes {
		for _, p := range n.Ports {
			if p == nil || p.Peer == nil || p.Number == 0 || p.Number > n.Info.NumPorts {
				continue
			}
			writeEnd(out, p, names)
			writeEnd(out, p.Peer, names)
			width, state, speed := listAttributes(p)
			fmt.Fprintf(out, "PHY=%s LOG=%s SPD=%s\n", width, state, speed)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write list of links: %w", err)
	}
	return nil
}

func writeEnd(out *bufio.Writer, p *fabric.Port, names *fabric.NameMap) {
	n := p.Node
	word := "CA"
	switch n.Info.NodeType {
	case mad.NodeTypeSwitch:
		word = "SW"
	case mad.NodeTypeRouter:
		word = "RT"
	}
	fmt.Fprintf(out, "{ %s Ports:%02X SystemGUID:%016X NodeGUID:%016X PortGUID:%016X VenID:%08X DevID:%04X Rev:%08X {%s} LID:%04X PN:%02X } ",
		word, n.Info.NumPorts, uint64(n.Info.SystemGUID), uint64(n.GUID), uint64(p.GUID),
		n.Info.VendorID, n.Info.DeviceID, n.Info.Revision, listNames.Replace(names.Name(n)), uint16(p.LID()), p.Number)
}

// listAttributes returns the width, state and speed texts for a link.
func listAttributes(p *fabric.Port) (width, state, speed string) {
	width, state, speed = "??", "???", "??"
	i := p.Info
	if i == nil {
		return width, state, speed
	}
	width = keyOf(listWidths, i.LinkWidthActive, width)
	state = keyOf(listStates, i.State, state)
	return width, state, keyOf(listSpeeds, p.ActiveSpeed(), speed)
}

// keyOf returns a value's key, or unknown.
func keyOf[V comparable](texts map[string]V, value V, unknown string) string {
	for key, v := range texts {
		if v == value {
			return key
		}
	}
	return unknown
}
