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

// A savedReader reads a saved routing.
type savedReader struct {
	routing *route.Routing
	file    string
	in      *bufio.Reader
	line    int
	lines   []int // of the nodes
	nodes   []savedNode
}

// readSaved reads [Save] output.
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
	for range head.Nodes {
		if err := s.node(); err != nil {
			return err
		}
	}
	if _, err := s.in.ReadByte(); !errors.Is(err, io.EOF) {
		s.line++
		return s.errorf("want the end of the file after %d nodes", head.Nodes)
	}
	for i := range s.nodes {
		s.line = s.lines[i]
		if err := s.connect(s.routing.Nodes[i], &s.nodes[i]); err != nil {
			return err
		}
	}
	s.line = 1
	return s.references(&head)
}

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
			return s.errorf("the file is truncated")
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

// node reads a node. Its links are made when all nodes are known.
func (s *savedReader) node() error {
	var saved savedNode
	if err := s.decode(&saved); err != nil {
		return err
	}
	desc, err := hex.DecodeString(saved.Desc)
	if err != nil {
		return s.errorf("description: %v", err)
	}
	var path mad.Route
	if err := path.UnmarshalText([]byte(saved.Route)); err != nil {
		return s.errorf("%v", err)
	}
	n := s.routing.Add(saved.GUID, mad.NodeType(saved.Type), saved.NumPorts)
	n.Desc, n.Route = mad.NewNodeDescription(string(desc)), path
	if saved.Tables != nil {
		var ok bool
		if n.Tables, ok = saved.Tables.tables(len(n.Ports)); !ok || !n.IsSwitch() {
			return s.errorf("invalid tables")
		}
	}
	if saved.Adaptive {
		n.Adaptive = &route.Adaptive{Unconfirmed: "files do not contain its groups"}
	}
	for i := range saved.Ports {
		if err := s.port(n, &saved.Ports[i]); err != nil {
			return err
		}
	}
	saved.Tables = nil
	s.nodes, s.lines = append(s.nodes, saved), append(s.lines, s.line)
	return nil
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

// connect makes a node's links.
func (s *savedReader) connect(n *route.Node, saved *savedNode) error {
	for _, port := range saved.Ports {
		if port.Peer == nil {
			continue
		}
		peer, err := s.find(port.Peer)
		if err != nil {
			return err
		}
		n.Ports[port.Number].Peer = peer
	}
	return nil
}

// find returns the port with an identity.
func (s *savedReader) find(a *savedPeer) (*route.Port, error) {
	if a.Node < 0 || a.Node >= len(s.routing.Nodes) || int(a.Port) >= len(s.routing.Nodes[a.Node].Ports) {
		return nil, s.errorf("port %d of node %d is not in the file", a.Port, a.Node)
	}
	return &s.routing.Nodes[a.Node].Ports[a.Port], nil
}

// references resolves the nodes and ports in the first line.
func (s *savedReader) references(head *savedHead) error {
	r := s.routing
	r.Unread = head.Failures
	for _, line := range head.Changing {
		if line < 0 || line >= len(r.Nodes) {
			return s.errorf("node %d is not in the file", line)
		}
		r.Changing = append(r.Changing, r.Nodes[line])
	}
	if head.Groups == nil {
		return nil
	}
	r.Members = make(map[ib.LID]*route.Members, len(head.Groups))
	for i := range head.Groups {
		g := &head.Groups[i]
		if !g.LID.IsMulticast() || r.Members[g.LID] != nil || g.Unknown < 0 {
			return s.errorf("invalid group with LID 0x%x", uint16(g.LID))
		}
		m := &route.Members{Unknown: g.Unknown}
		r.Members[g.LID] = m
		for _, part := range []struct {
			to    *[]*route.Port
			peers []savedPeer
		}{{&m.Receivers, g.Receivers}, {&m.Senders, g.Senders}} {
			for k := range part.peers {
				p, err := s.find(&part.peers[k])
				if err != nil {
					return err
				}
				*part.to = append(*part.to, p)
			}
		}
	}
	return nil
}
