package fabricfile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// A linksReport is the linkinfo JSON members that make up a fabric.
type linksReport struct {
	Schema   string     `json:"schema"`
	Partial  bool       `json:"partial"`
	Aborted  *string    `json:"aborted"`
	Start    ib.GUID    `json:"start"`
	Failures []struct{} `json:"failures"`
	Nodes    []struct {
		Description    string          `json:"description"`
		DescriptionHex *string         `json:"description_hex"`
		Info           *mad.NodeInfo   `json:"info"`
		SwitchInfo     *mad.SwitchInfo `json:"switch_info"`
		Port0          *mad.PortInfo   `json:"port0"`
		Ports          []struct {
			Number uint8                `json:"number"`
			GUID   ib.GUID              `json:"guid"`
			Info   *mad.PortInfo        `json:"info"`
			Ext    *mad.MlnxExtPortInfo `json:"extended_port_info"`
			Peer   *struct {
				Node ib.GUID `json:"node_guid"`
				Port uint8   `json:"port"`
			} `json:"peer"`
		} `json:"ports"`
	} `json:"nodes"`
}

// LinksSchema begins the linkinfo JSON schema.
const LinksSchema = "ibkit/linkinfo/"

// parseLinks reads the output from ibkit linkinfo --json --attributes.
func parseLinks(data []byte, name string) (*fabric.Fabric, error) {
	var r linksReport
	if err := textfile.DecodeJSON(data, name, &r); err != nil {
		return nil, err
	}
	f, err := r.fabric()
	if err != nil {
		return nil, &textfile.Error{File: name, Err: err}
	}
	return f, nil
}

// fabric returns a report's fabric.
func (r *linksReport) fabric() (*fabric.Fabric, error) {
	if !strings.HasPrefix(r.Schema, LinksSchema) {
		return nil, fmt.Errorf("got schema %q, want %s3", r.Schema, LinksSchema)
	}
	if len(r.Nodes) == 0 {
		return nil, errors.New("got no nodes")
	}
	nodes := map[ib.GUID]*fabric.Node{}
	order := make([]*fabric.Node, len(r.Nodes))
	for i := range r.Nodes {
		from := &r.Nodes[i]
		if from.Info == nil {
			return nil, fmt.Errorf("node %d has no attributes, which linkinfo prints with --attributes", i)
		}
		desc := from.Description
		if from.DescriptionHex != nil {
			raw, err := hex.DecodeString(*from.DescriptionHex)
			if err != nil {
				return nil, fmt.Errorf("node %d: description_hex: %w", i, err)
			}
			desc = string(raw)
		}
		n := fabric.NewNode(*from.Info, mad.NewNodeDescription(desc))
		if nodes[n.GUID] != nil {
			return nil, fmt.Errorf("node %d: GUID %v is that of another node", i, n.GUID)
		}
		nodes[n.GUID], order[i], n.Switch = n, n, from.SwitchInfo
		if n.IsSwitch() {
			n.At(0).Info = from.Port0
		}
		for k := range from.Ports {
			p := n.At(from.Ports[k].Number)
			p.GUID, p.Info, p.Ext = from.Ports[k].GUID, from.Ports[k].Info, from.Ports[k].Ext
		}
	}
	for i := range r.Nodes {
		for _, port := range r.Nodes[i].Ports {
			if port.Peer == nil {
				continue
			}
			peer := nodes[port.Peer.Node]
			if peer == nil {
				return nil, fmt.Errorf("node %d: peer %v is not in the file, which may be filtered", i, port.Peer.Node)
			}
			order[i].At(port.Number).Peer = peer.At(port.Peer.Port)
		}
	}
	if err := checkLinks(order); err != nil {
		return nil, err
	}
	f := fabric.Assemble(order, localPort(nodes[r.Start]))
	f.Unanswered = len(r.Failures)
	if r.Aborted != nil {
		f.Unanswered-- // the last failure is the reason
	}
	if r.Partial && (r.Aborted != nil || f.Unanswered == 0) {
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

// checkLinks checks that each link has two ends.
func checkLinks(nodes []*fabric.Node) error {
	for _, n := range nodes {
		for _, p := range n.Ports {
			if p != nil && p.Peer != nil && (p.Peer.Peer != p || p.Peer == p) {
				return fmt.Errorf("port %d of %v: the peer has another peer", p.Number, n.GUID)
			}
		}
	}
	return nil
}
