package dump

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/ibkit/ibkit/ib"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// A savedWriter writes a routing.
type savedWriter struct {
	routing *route.Routing
	line    map[*route.Node]int // for each node, from 0 for the first node
}

// Save writes the routing in the form that [Load] reads.
func Save(w io.Writer, r *route.Routing) error {
	s := &savedWriter{r, make(map[*route.Node]int, len(r.Nodes))}
	for i, n := range r.Nodes {
		s.line[n] = i
	}
	out := bufio.NewWriterSize(w, 1<<20)
	enc := json.NewEncoder(out)
	head := savedHead{
		Schema: SavedSchema, Nodes: len(r.Nodes), Failures: len(r.Failures) + r.Unread,
		Changing: s.linesOf(r.Changing), PathSLs: r.PathSLs != nil, Groups: s.groups(r.Members),
	}
	if err := enc.Encode(head); err != nil {
		return err
	}
	for _, n := range r.Nodes {
		if err := enc.Encode(s.node(n)); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (w *savedWriter) node(n *route.Node) *savedNode {
	s := &savedNode{
		GUID: n.GUID, Type: uint8(n.Type), Desc: hex.EncodeToString([]byte(n.Desc.String())),
		Route: n.Route.String(), NumPorts: uint8(len(n.Ports) - 1), Ports: []savedPort{}, Tables: saved(n.Tables), Adaptive: n.Adaptive != nil,
	}
	for i := range n.Ports {
		p := &n.Ports[i]
		if isEmpty(p) {
			continue
		}
		port := savedPort{
			Number: p.Number, GUID: p.GUID, LID: p.LID, LMC: p.LMC, State: uint8(p.State),
			Width: uint8(p.Width), Speed: uint16(p.Speed), MTU: uint8(p.MTU), VLs: uint8(p.VLs), Peer: w.peer(p.Peer),
		}
		if w.routing.PathSLs != nil {
			port.SLs = w.routing.PathSLs.From(p)
		}
		s.Ports = append(s.Ports, port)
	}
	return s
}

// groups returns the members' stored form, nil for nil.
func (w *savedWriter) groups(members map[ib.LID]*route.Members) []savedGroup {
	if members == nil {
		return nil
	}
	groups := []savedGroup{}
	for _, lid := range slices.Sorted(maps.Keys(members)) {
		m := members[lid]
		groups = append(groups, savedGroup{lid, w.peers(m.Receivers), w.peers(m.Senders), m.Unknown})
	}
	return groups
}

func (w *savedWriter) peers(ports []*route.Port) []savedPeer {
	peers := make([]savedPeer, len(ports))
	for i, p := range ports {
		peers[i] = *w.peer(p)
	}
	return peers
}

// peer returns a port's identity, nil for nil.
func (w *savedWriter) peer(p *route.Port) *savedPeer {
	if p == nil {
		return nil
	}
	return &savedPeer{w.line[p.Node], p.Number}
}

func (w *savedWriter) linesOf(nodes []*route.Node) []int {
	var lines []int
	for _, n := range nodes {
		lines = append(lines, w.line[n])
	}
	return lines
}
