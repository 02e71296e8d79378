package dump

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// maxSavedLine limits a line's length in a saved routing: a switch with tables of the
// largest size, and service levels for all LIDs.
const maxSavedLine = 64 << 20

// A savedReader reads a saved routing. Invalid lines are failures of the routing.
type savedReader struct {
	routing *route.Routing
	file    string
	in      *bufio.Reader
	line    int
	nodes   []readNode // by line in the file
	ended   bool       // the file is truncated
}

// A readNode is a line with a node, which is nil if the line is invalid.
type readNode struct {
	node  *route.Node
	ports []savedPort
	line  int
}

// readSaved reads [Save] output. A file without any valid node is an error.
func readSaved(r *route.Routing, in io.Reader, file string) error {
	s := &savedReader{routing: r, file: file, in: bufio.NewReaderSize(in, 1<<20)}
	var head savedHead
	if err := s.decode(&head); err != nil {
		return err
	}
	if head.Schema != SavedSchema {
		return s.errorf("got schema %q, want %q", head.Schema, SavedSchema)
	}
	if head.PathSLs {
		r.PathSLs = &route.PathSLs{}
	}
	for i := 0; i < head.Nodes && !s.ended; i++ {
		s.readNode()
	}
	if _, err := s.in.ReadByte(); !s.ended && !errors.Is(err, io.EOF) {
		s.line++
		s.fail(nil, s.errorf("want the end of the file after %d nodes", head.Nodes))
	}
	if len(r.Nodes) == 0 && len(r.Failures) > 0 {
		return r.Failures[0].Err
	}
	for _, n := range s.nodes {
		if s.line = n.line; n.node != nil {
			s.connect(n.node, n.ports)
		}
	}
	s.line = 1
	s.references(&head)
	return nil
}

// fail adds a failure; n is nil if the node is unknown.
func (s *savedReader) fail(n *route.Node, err error) {
	s.routing.Failures = append(s.routing.Failures, route.Failure{Node: n, Err: err})
}

// readNode reads a line with a node.
func (s *savedReader) readNode() {
	var saved savedNode
	err := s.decode(&saved)
	switch {
	case errors.Is(err, errTruncated):
		s.ended = true
		s.fail(nil, err)
	case err != nil:
		s.fail(nil, err)
		s.nodes = append(s.nodes, readNode{line: s.line})
	default:
		s.nodes = append(s.nodes, readNode{s.node(&saved), saved.Ports, s.line})
	}
}

var errTruncated = errors.New("the file is truncated")

// decode reads a line.
func (s *savedReader) decode(v any) error {
	s.line++
	var text []byte
	for {
		part, err := s.in.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > maxSavedLine {
			return s.errorf("a line is longer than %d bytes", maxSavedLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) && (s.line > 1 || !json.Valid(text)) { // else another document
			return &textfile.Error{File: s.file, Line: s.line, Err: errTruncated}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return &textfile.Error{File: s.file, Err: err}
		}
		break
	}
	if err := json.Unmarshal(textfile.TrimMark(text), v); err != nil {
		return s.errorf("%v", err)
	}
	return nil
}

func (s *savedReader) errorf(format string, args ...any) error {
	return &textfile.Error{File: s.file, Line: s.line, Err: fmt.Errorf(format, args...)}
}

// node adds a node, nil if it is invalid. Its links are made when all nodes are known.
func (s *savedReader) node(saved *savedNode) *route.Node {
	desc, err := hex.DecodeString(saved.Desc)
	var path mad.Route
	if err == nil {
		err = path.UnmarshalText([]byte(saved.Route))
	}
	if err != nil {
		s.fail(nil, s.errorf("%v", err))
		return nil
	}
	n := s.routing.Add(saved.GUID, mad.NodeType(saved.Type), saved.NumPorts)
	n.Desc, n.Route = mad.NewNodeDescription(string(desc)), path
	if saved.Tables != nil {
		if tables, ok := saved.Tables.tables(len(n.Ports)); ok && n.IsSwitch() {
			n.Tables = tables
		} else {
			s.fail(n, s.errorf("invalid tables"))
		}
	}
	if saved.Adaptive {
		n.Adaptive = &route.Adaptive{Unconfirmed: "files do not contain its groups"}
	}
	for i := range saved.Ports {
		if err := s.port(n, &saved.Ports[i]); err != nil {
			s.fail(n, err)
		}
	}
	return n
}

func (s *savedReader) port(n *route.Node, saved *savedPort) error {
	if int(saved.Number) >= len(n.Ports) {
		return s.errorf("port %d: want 0 to %d", saved.Number, len(n.Ports)-1)
	}
	if saved.LMC > 7 {
		return s.errorf("port %d: LMC %d: want 0 to 7", saved.Number, saved.LMC)
	}
	p := &n.Ports[saved.Number]
	p.GUID, p.LID, p.LMC, p.State = saved.GUID, saved.LID, saved.LMC, ib.PortState(saved.State)
	p.Width, p.Speed, p.MTU, p.VLs = ib.LinkWidth(saved.Width), ib.Speed(saved.Speed), ib.MTU(saved.MTU), ib.VLCap(saved.VLs)
	for lid, sl := range saved.SLs {
		switch {
		case sl == route.UnknownSL:
		case sl > 15 || s.routing.PathSLs == nil || !ib.LID(lid).IsUnicast():
			return s.errorf("port %d: invalid service level %d of LID %d", saved.Number, sl, lid)
		default:
			s.routing.PathSLs.Set(p, ib.LID(lid), sl)
		}
	}
	return nil
}

// connect makes a node's links. A link has both ends in the file, unless a line is invalid.
func (s *savedReader) connect(n *route.Node, ports []savedPort) {
	for _, port := range ports {
		if port.Peer == nil || int(port.Number) >= len(n.Ports) {
			continue
		}
		peer, err := s.find(port.Peer)
		if err != nil {
			s.fail(n, err)
		}
		n.Ports[port.Number].Peer = peer
	}
}

// find returns the port with an identity, nil for a port in an invalid line.
func (s *savedReader) find(a *savedPeer) (*route.Port, error) {
	lost := s.ended && a.Node >= len(s.nodes)
	if !lost && a.Node >= 0 && a.Node < len(s.nodes) {
		n := s.nodes[a.Node].node
		if n != nil && int(a.Port) < len(n.Ports) {
			return &n.Ports[a.Port], nil
		}
		lost = n == nil
	}
	if lost {
		return nil, nil
	}
	return nil, s.errorf("port %d of node %d is not in the file", a.Port, a.Node)
}

// references resolves the nodes and ports in the first line.
func (s *savedReader) references(head *savedHead) {
	r := s.routing
	r.Unread = head.Failures
	for _, line := range head.Changing {
		switch {
		case line >= 0 && line < len(s.nodes) && s.nodes[line].node != nil:
			r.Changing = append(r.Changing, s.nodes[line].node)
		case line < 0 || line >= len(s.nodes) && !s.ended:
			s.fail(nil, s.errorf("node %d is not in the file", line))
		}
	}
	if head.Groups == nil {
		return
	}
	r.Members = make(map[ib.LID]*route.Members, len(head.Groups))
	for i := range head.Groups {
		s.group(&head.Groups[i])
	}
}

// group adds a multicast LID's members. A member in an invalid line is unknown.
func (s *savedReader) group(g *savedGroup) {
	if !g.LID.IsMulticast() || s.routing.Members[g.LID] != nil || g.Unknown < 0 {
		s.fail(nil, s.errorf("invalid group with LID 0x%x", uint16(g.LID)))
		return
	}
	m := &route.Members{Unknown: g.Unknown}
	s.routing.Members[g.LID] = m
	for _, part := range []struct {
		to    *[]*route.Port
		peers []savedPeer
	}{{&m.Receivers, g.Receivers}, {&m.Senders, g.Senders}} {
		for k := range part.peers {
			p, err := s.find(&part.peers[k])
			if err != nil {
				s.fail(nil, err)
			}
			if p == nil {
				m.Unknown++
				continue
			}
			*part.to = append(*part.to, p)
		}
	}
}
