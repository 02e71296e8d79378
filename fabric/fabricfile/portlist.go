package fabricfile

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/netfile"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// A line in a port list, ibnetdiscover -p output (infiniband-diags, ibnetdiscover.c):
//
//	CA     4  1 0x0002c90000100301 4x HDR - SW     3  6 0x0002c90000801100 ( 'node16' - 'leaf4' )
//	SW     3  7 0x0002c90000801100 4x SDR                                    'leaf4'
//
// An end is the node type, the LID, the port number and the port GUID.
var portLine = lazyregexp.New(`^` + portEnd + `\s+(\S+)x\s+(\S+)(?:\s+-\s+` + portEnd + `\s+\( '(.*)' - '(.*)' \)|\s+'(.*)')$`)

const portEnd = `(CA|SW|RT)\s+(\d+)\s+(\d+)\s+0x([0-9a-f]{16})`

// A listedPort is a port in a port list.
type listedPort struct {
	kind   mad.NodeType
	lid    ib.LID
	number uint8
	guid   ib.GUID
	name   string

	own  bool // the port has its own line
	line int
	rate netfile.Rate
	peer *listedPort // nil: no link

	port *fabric.Port
}

// A portKey identifies a port.
type portKey struct {
	guid   ib.GUID
	number uint8
}

// A portList collects the ports in a list.
type portList struct {
	name     string
	ports    []*listedPort // in file order
	byKey    map[portKey]*listedPort
	failures []fabric.Failure
}

// parsePortList reads a port list. The list lacks node GUIDs: a switch's GUID is its port
// GUID, an adapter's or a router's is its first port's GUID. Ports without a link are only
// counted.
func parsePortList(data []byte, name string) (*fabric.Fabric, error) {
	l := portList{name: name, byKey: map[portKey]*listedPort{}}
	lines := textfile.NewReader(bytes.NewReader(data), name)
	for lines.Next() {
		text := strings.TrimRight(textfile.Unstyled(lines.Text()), " ")
		if text == "" || text[0] == '#' {
			continue
		}
		if err := l.add(text, lines.Line()); err != nil {
			lines.Reject(err)
			l.fail(lines.Line(), err)
		}
	}
	if err := lines.End(); err != nil {
		l.failures = append(l.failures, fabric.Failure{Err: err})
	}
	if len(l.ports) == 0 {
		return nil, l.failures[0].Err
	}
	nodes := l.nodes()
	l.link()
	f := fabric.Assemble(nodes, nil)
	f.Sparse, f.Failures = true, l.failures
	return f, nil
}

func (l *portList) fail(line int, err error) {
	l.failures = append(l.failures, fabric.Failure{Err: &textfile.Error{File: l.name, Line: line, Err: err}})
}

// add adds a line's port and its peer.
func (l *portList) add(text string, line int) error {
	m := portLine.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("got %s, want a port such as %q", textfile.Quote(text), "CA 4 1 0x0002c90000100301 4x HDR - SW 3 6 0x0002c90000801100 ( 'node16' - 'leaf4' )")
	}
	p, err := l.end(m[1:5], cmp.Or(m[11], m[13]), line)
	switch {
	case p == nil:
		return err
	case p.own:
		return fmt.Errorf("port %d of %v has a line before, line %d", p.number, p.guid, p.line)
	}
	p.own, p.line = true, line
	if m[7] != "" {
		peer, errPeer := l.end(m[7:11], m[12], line)
		p.peer, err = peer, cmp.Or(err, errPeer)
	}
	rate, known := netfile.RateOf(m[5], m[6])
	if p.rate = rate; !known {
		err = cmp.Or(err, fmt.Errorf("got the rate %q, want a width and a speed such as 4x HDR", m[5]+"x "+m[6]))
	}
	return err
}

// end returns a port in a line. If the line has another LID than an earlier line, it returns
// the port with an error.
func (l *portList) end(fields []string, name string, line int) (*listedPort, error) {
	lid, errLID := strconv.ParseUint(fields[1], 10, 16)
	number, errNumber := strconv.ParseUint(fields[2], 10, 8)
	guid, errGUID := strconv.ParseUint(fields[3], 16, 64)
	if err := cmp.Or(errLID, errNumber, errGUID); err != nil || number == 0 || number > netfile.MaxPorts {
		return nil, fmt.Errorf("got LID %s and port %s, want LIDs to 65535 and ports from 1 to %d", fields[1], fields[2], netfile.MaxPorts)
	}
	key := portKey{ib.GUID(guid), uint8(number)}
	p := l.byKey[key]
	if p == nil {
		kind := map[string]mad.NodeType{"CA": mad.NodeTypeCA, "SW": mad.NodeTypeSwitch, "RT": mad.NodeTypeRouter}[fields[0]]
		p = &listedPort{kind: kind, lid: ib.LID(lid), number: key.number, guid: key.guid, name: name, line: line}
		l.byKey[key] = p
		l.ports = append(l.ports, p)
	}
	if p.lid != ib.LID(lid) {
		return p, fmt.Errorf("port %d of %v has LID %d, and LID %d in line %d", p.number, p.guid, lid, p.lid, p.line)
	}
	return p, nil
}

// A listedNode identifies a node. The GUIDs of an adapter's ports are consecutive.
type listedNode struct {
	kind mad.NodeType
	name string
	base ib.GUID // of the port with number 0
}

func (p *listedPort) node() listedNode {
	if p.kind == mad.NodeTypeSwitch {
		return listedNode{p.kind, "", p.guid}
	}
	return listedNode{p.kind, p.name, p.guid - ib.GUID(p.number)}
}

// nodes returns the nodes with their linked ports.
func (l *portList) nodes() []*fabric.Node {
	infos := map[listedNode]*mad.NodeInfo{}
	for _, p := range l.ports {
		info := infos[p.node()]
		if info == nil {
			info = &mad.NodeInfo{BaseVersion: 1, ClassVersion: 1, NodeType: p.kind, NodeGUID: p.guid}
			infos[p.node()] = info
		}
		info.NodeGUID, info.NumPorts = min(info.NodeGUID, p.guid), max(info.NumPorts, p.number)
	}
	nodes := map[listedNode]*fabric.Node{}
	var order []*fabric.Node
	for _, p := range l.ports {
		n := nodes[p.node()]
		if n == nil {
			info := infos[p.node()]
			info.SystemGUID, info.PortGUID = info.NodeGUID, info.NodeGUID
			n = fabric.NewNode(*info, mad.NewNodeDescription(p.name))
			nodes[p.node()] = n
			order = append(order, n)
		}
		p.addTo(n)
	}
	return order
}

// addTo adds the port to its node, if it has a link.
func (p *listedPort) addTo(n *fabric.Node) {
	if n.IsSwitch() {
		n.At(0).Info = &mad.PortInfo{LID: p.lid}
	}
	if p.own && p.peer == nil {
		return
	}
	p.port = n.At(p.number)
	p.port.GUID = p.guid
	p.port.Info = &mad.PortInfo{LinkWidthActive: p.rate.Width, PhysState: ib.PhysLinkUp}
	if !n.IsSwitch() {
		p.port.Info.LID = p.lid
		n.Info.LocalPort = p.number
	}
	p.port.Ext = p.port.Info.SetActiveSpeed(p.port.Caps(), p.rate.Speed)
}

// link joins the ports. A peer without its own line has only the link.
func (l *portList) link() {
	for _, p := range l.ports {
		peer := p.peer
		var err error
		switch {
		case peer == nil:
			continue
		case !peer.own:
			peer.peer = p
			err = fmt.Errorf("port %d of %v, the peer of port %d of %v, has no line", peer.number, peer.guid, p.number, p.guid)
		case peer == p || peer.peer != p:
			err = fmt.Errorf("port %d of %v has another peer than port %d of %v", peer.number, peer.guid, p.number, p.guid)
		}
		if err != nil {
			l.failures = append(l.failures, fabric.Failure{
				NodeGUID: p.port.Node.GUID, Port: p.number, Err: &textfile.Error{File: l.name, Line: p.line, Err: err},
			})
		}
		if peer != p && peer.peer == p {
			p.port.Peer, peer.port.Peer = peer.port, p.port
		}
	}
}
