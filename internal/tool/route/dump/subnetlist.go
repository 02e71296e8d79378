package dump

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// readSubnetList reads the nodes and links in a file that opensm writes as
// opensm-subnet.lst and ibdiagnet as ibdiagnet.lst: see [ibdiagnet.ParseListLine].
//
// lmc is the end ports' LMC, which the file does not contain.
func readSubnetList(r *route.Routing, in io.Reader, file string, lmc uint8) error {
	l := textfile.NewReader(in, file)
	for l.Next() {
		line := bytes.TrimSpace(l.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if problem := addListed(r, line, lmc); problem != "" {
			reject(r, l, nil, "", problem)
		}
	}
	return endOf(r, l, len(r.Nodes) > 0)
}

// addListed adds a line's link and its nodes.
func addListed(r *route.Routing, line []byte, lmc uint8) (problem string) {
	l, err := ibdiagnet.ParseListLine(line)
	if err != nil {
		return err.Error()
	}
	var ports [2]*route.Port
	for i := range ports {
		if ports[i], problem = listedPort(r, &l.Ends[i], lmc); problem != "" {
			return problem
		}
	}
	a, b := ports[0], ports[1]
	switch {
	case l.State == ib.PortDown:
		return ""
	case a == b:
		return fmt.Sprintf("port %d of 0x%016x is linked to itself", a.Number, uint64(a.Node.GUID))
	case a.Peer != nil && a.Peer != b || b.Peer != nil && b.Peer != a:
		return fmt.Sprintf("port %d of 0x%016x has another link in a line before", a.Number, uint64(a.Node.GUID))
	}
	route.Connect(a, b)
	for _, p := range ports {
		p.Width, p.State, p.Speed = l.Width, l.State, l.Speed
	}
	return ""
}

// listedPort returns the port at a link end and adds its node if it is new.
func listedPort(r *route.Routing, e *ibdiagnet.ListEnd, lmc uint8) (*route.Port, string) {
	n := r.NodeByGUID(e.Info.NodeGUID)
	if n == nil {
		n = r.Add(e.Info.NodeGUID, e.Info.NodeType, e.Info.NumPorts)
		n.Desc = mad.NewNodeDescription(e.Desc)
	}
	if n.Type != e.Info.NodeType || len(n.Ports) != int(e.Info.NumPorts)+1 {
		return nil, fmt.Sprintf("0x%016x is a %v with %d ports, in a line before a %v with %d",
			uint64(n.GUID), e.Info.NodeType, e.Info.NumPorts, n.Type, len(n.Ports)-1)
	}
	p := &n.Ports[e.Port]
	p.GUID = e.Info.PortGUID
	owner := p
	if n.IsSwitch() {
		owner = &n.Ports[0]
		owner.GUID = e.Info.PortGUID
	} else {
		owner.LMC = lmc
	}
	if owner.LID != 0 && owner.LID != e.LID {
		return nil, fmt.Sprintf("port %d of 0x%016x has LID %d, in a line before LID %d", e.Port, uint64(n.GUID), e.LID, owner.LID)
	}
	owner.LID = e.LID
	return p, ""
}
