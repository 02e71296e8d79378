package fabricfile

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// A linksReport is the linkinfo JSON members that make up a fabric, except the nodes.
type linksReport struct {
	Schema   string     `json:"schema"`
	Partial  bool       `json:"partial"`
	Aborted  *string    `json:"aborted"`
	Start    ib.GUID    `json:"start"`
	Failures []struct{} `json:"failures"`
}

// A linksNode is a node in linkinfo JSON, with ports of type [linksPort], or with ports that
// are not decoded.
type linksNode[P any] struct {
	Description    string          `json:"description"`
	DescriptionHex *string         `json:"description_hex"`
	Info           *mad.NodeInfo   `json:"info"`
	SwitchInfo     *mad.SwitchInfo `json:"switch_info"`
	Port0          *mad.PortInfo   `json:"port0"`
	Ports          []P             `json:"ports"`
}

// A linksPort is a port in linkinfo JSON.
type linksPort struct {
	Number uint8                `json:"port"`
	GUID   ib.GUID              `json:"port_guid"`
	Info   *mad.PortInfo        `json:"info"`
	Ext    *mad.MlnxExtPortInfo `json:"extended_port_info"`
	Peer   *struct {
		Node ib.GUID `json:"node_guid"`
		Port uint8   `json:"port"`
	} `json:"peer"`
}

// LinksSchema is the linkinfo JSON schema.
const LinksSchema = "ibkit/linkinfo/4"

// A linksReader reads linkinfo JSON. Members, nodes, ports and links that it could not
// read are failures.
type linksReader struct {
	name   string
	data   []byte
	report linksReport

	nodes    []*fabric.Node
	byGUID   map[ib.GUID]*fabric.Node
	links    []storedLink
	failures []fabric.Failure
}

// A storedLink is a port's peer in the file.
type storedLink struct {
	port     *fabric.Port
	peer     ib.GUID
	peerPort uint8
	line     int
}

// parseLinks reads the output from ibkit linkinfo --json --attributes.
func parseLinks(data []byte, name string) (*fabric.Fabric, error) {
	r := linksReader{name: name, data: data, byGUID: map[ib.GUID]*fabric.Node{}}
	r.document()
	switch {
	case r.report.Schema == "" && len(r.failures) > 0, len(r.nodes) == 0 && len(r.failures) > 0:
		return nil, r.failures[0].Err
	case r.report.Schema != LinksSchema:
		return nil, &textfile.Error{File: name, Err: fmt.Errorf("got schema %q, want %s", r.report.Schema, LinksSchema)}
	case len(r.nodes) == 0:
		return nil, &textfile.Error{File: name, Err: errors.New("got no nodes")}
	}
	r.addLinks()
	f := fabric.Assemble(r.nodes, localPort(r.byGUID[r.report.Start]))
	f.Failures = r.failures
	f.Unanswered = len(r.report.Failures)
	if r.report.Aborted != nil {
		f.Unanswered-- // the last failure is the reason
	}
	if r.report.Partial && (r.report.Aborted != nil || f.Unanswered == 0) {
		f.Aborted = fabric.ErrStoredAborted
	}
	return f, nil
}

// localPort returns the NodeInfo port, nil without a port.
func localPort(n *fabric.Node) *fabric.Port {
	if n == nil {
		return nil
	}
	return n.At(n.Info.LocalPort)
}

// fail adds a failure. node is 0 if it is unknown. A line in a [textfile.Error] counts from
// the given line.
func (r *linksReader) fail(line int, node ib.GUID, port uint8, err error) {
	if at, ok := errors.AsType[*textfile.Error](err); ok {
		line, err = line+max(at.Line-1, 0), at.Err
	}
	err = &textfile.Error{File: r.name, Line: line, Err: err}
	r.failures = append(r.failures, fabric.Failure{NodeGUID: node, Port: port, Err: err})
}

// addNode adds a node with its ports, and stores its links.
func (r *linksReader) addNode(from *linksNode[linksPort], line int) error {
	if from.Info == nil {
		return errors.New("has no attributes, which linkinfo prints with --attributes")
	}
	desc := from.Description
	if from.DescriptionHex != nil {
		raw, err := hex.DecodeString(*from.DescriptionHex)
		if err != nil {
			return fmt.Errorf("has the description_hex %q: %w", *from.DescriptionHex, err)
		}
		desc = string(raw)
	}
	n := fabric.NewNode(*from.Info, mad.NewNodeDescription(desc))
	if r.byGUID[n.GUID] != nil {
		return fmt.Errorf("has GUID %v, which is that of another node", n.GUID)
	}
	r.nodes, r.byGUID[n.GUID], n.Switch = append(r.nodes, n), n, from.SwitchInfo
	if n.IsSwitch() {
		n.At(0).Info = from.Port0
	}
	for i := range from.Ports {
		port := &from.Ports[i]
		p := n.At(port.Number)
		p.GUID, p.Info, p.Ext = port.GUID, port.Info, port.Ext
		if port.Peer != nil {
			r.links = append(r.links, storedLink{p, port.Peer.Node, port.Peer.Port, line})
		}
	}
	return nil
}

// addLinks joins the ends of links. A link with only a single valid end is left out.
func (r *linksReader) addLinks() {
	for _, l := range r.links {
		if n := r.byGUID[l.peer]; n != nil {
			l.port.Peer = n.At(l.peerPort)
		}
	}
	var invalid []*fabric.Port
	for _, l := range r.links {
		var err error
		switch p := l.port; {
		case p.Peer == nil:
			err = fmt.Errorf("peer %v is not in the file, which may be filtered", l.peer)
		case p.Peer.Peer != p || p.Peer == p:
			err = errors.New("the peer has another peer")
		default:
			continue
		}
		p := l.port
		invalid = append(invalid, p)
		r.fail(l.line, p.Node.GUID, p.Number, fmt.Errorf("port %s: %w", fabric.PortName(p.Node.GUID.String(), int(p.Number)), err))
	}
	for _, p := range invalid {
		p.Peer = nil
	}
}
