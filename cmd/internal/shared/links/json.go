package links

import (
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// schemaID names the form of linkinfo's JSON, which schema/linkinfo.json
// describes. A change that breaks readers changes the number.
const schemaID = "ibkit/linkinfo/1"

type jsonNode struct {
	GUID        ib.GUID             `json:"guid"`
	Type        string              `json:"type"`
	Name        string              `json:"name"`
	Description mad.NodeDescription `json:"description"`
	LID         ib.LID              `json:"lid"`
	Route       mad.Route           `json:"route"`
	Duplicate   bool                `json:"duplicate_guid"`
	System      *jsonSystem         `json:"system"`
	Info        mad.NodeInfo        `json:"info"`
	SwitchInfo  *mad.SwitchInfo     `json:"switch_info"`
	Port0       *mad.PortInfo       `json:"port0"`
	Ports       []jsonPort          `json:"ports"`
}

type jsonSystem struct {
	Number int     `json:"number"`
	GUID   ib.GUID `json:"guid"`
	Slot   string  `json:"slot"`
}

type jsonPort struct {
	Number    uint8                `json:"number"`
	External  *int                 `json:"external_number"`
	GUID      ib.GUID              `json:"guid"`
	LID       ib.LID               `json:"lid"`
	State     *string              `json:"state"`
	PhysState *string              `json:"phys_state"`
	Width     *string              `json:"width"`
	Speed     *string              `json:"speed"`
	Gbps      *float64             `json:"gbps"`
	BestWidth *string              `json:"best_width"`
	BestSpeed *string              `json:"best_speed"`
	Peer      *jsonPeer            `json:"peer"`
	Findings  []jsonFinding        `json:"findings"`
	Info      *mad.PortInfo        `json:"info"`
	Ext       *mad.MlnxExtPortInfo `json:"extended_port_info"`
}

type jsonPeer struct {
	NodeGUID ib.GUID `json:"node_guid"`
	PortGUID ib.GUID `json:"port_guid"`
	Port     uint8   `json:"port"`
	LID      ib.LID  `json:"lid"`
	Type     string  `json:"type"`
	Name     string  `json:"name"`
}

type jsonFinding struct {
	Kind    linkinfo.Kind `json:"kind"`
	Problem bool          `json:"problem"`
	Detail  string        `json:"detail"`
}

type jsonFailure struct {
	Route    mad.Route `json:"route"`
	LID      ib.LID    `json:"lid"`
	NodeGUID *ib.GUID  `json:"node_guid"`
	Port     uint8     `json:"port"`
	Attr     string    `json:"attribute"`
	Modifier uint32    `json:"modifier"`
	Error    string    `json:"error"`
}

type jsonConflict struct {
	GUID   ib.GUID `json:"guid"`
	Port   uint8   `json:"port"`
	Detail string  `json:"detail"`
}

type jsonStats struct {
	Sent     int `json:"sent"`
	Retries  int `json:"retries"`
	Timeouts int `json:"timeouts"`
	Window   int `json:"window"`
}

// WriteJSON writes the report as one JSON object, a node at a time: that
// of a large fabric would not fit into memory next to it.
func WriteJSON(out *render.Output, r *linkinfo.Result, nodes []*fabric.Node, ends []linkinfo.End, names *fabric.NameMap, showKeys bool) {
	f := r.Fabric
	head := struct {
		Schema  string  `json:"schema"`
		Partial bool    `json:"partial"`
		Aborted *string `json:"aborted"`
		Start   ib.GUID `json:"start"`
	}{Schema: schemaID, Partial: f.Partial()}
	if f.Aborted != nil {
		head.Aborted = render.Ptr(f.Aborted.Error())
	}
	if f.Start != nil {
		head.Start = f.Start.GUID
	}
	render.WriteMembers(out, '{', head)

	byNode := map[*fabric.Node][]linkinfo.End{}
	for _, e := range ends {
		byNode[e.Port.Node] = append(byNode[e.Port.Node], e)
	}
	render.WriteArray(out, "nodes", nodes, func(n *fabric.Node) any {
		return newJSONNode(n, byNode[n], names, showKeys)
	})
	render.WriteArray(out, "failures", f.Failures, func(f fabric.Failure) any { return newJSONFailure(f) })
	render.WriteArray(out, "conflicts", f.Conflicts, func(c fabric.Conflict) any {
		return jsonConflict{c.GUID, c.Port, c.Detail}
	})
	render.WriteMembers(out, ',', struct {
		Stats   jsonStats `json:"stats"`
		Summary Summary   `json:"summary"`
	}{jsonStats{f.Stats.Sent, f.Stats.Retries, f.Stats.Timeouts, f.Stats.Window}, Summarize(nodes, ends)})
	out.WriteString("\n}\n")
}

func newJSONNode(n *fabric.Node, ends []linkinfo.End, names *fabric.NameMap, showKeys bool) jsonNode {
	j := jsonNode{
		GUID:        n.GUID,
		Type:        n.Info.NodeType.String(),
		Name:        names.Name(n),
		Description: n.Desc,
		Route:       n.Route,
		Duplicate:   n.Duplicate,
		Info:        n.Info,
		SwitchInfo:  n.Switch,
		Ports:       []jsonPort{},
	}
	if n.System != nil {
		j.System = &jsonSystem{n.System.Number, n.System.GUID, n.Slot.String()}
	}
	for _, p := range n.Ports {
		if p != nil {
			j.LID = p.LID()
			break
		}
	}
	if n.Info.NodeType == mad.NodeTypeSwitch {
		j.Port0 = jsonPortInfo(n.Ports[0], showKeys)
	}
	for i := range ends {
		j.Ports = append(j.Ports, newJSONPort(&ends[i], names, showKeys))
	}
	return j
}

// jsonPortInfo returns what a port said of itself; nil: it said nothing.
func jsonPortInfo(p *fabric.Port, showKeys bool) *mad.PortInfo {
	if p == nil || p.Info == nil {
		return nil
	}
	info := *p.Info
	if !showKeys {
		info.MKey = 0
	}
	return &info
}

func newJSONPort(e *linkinfo.End, names *fabric.NameMap, showKeys bool) jsonPort {
	p := e.Port
	j := jsonPort{
		Number:    p.Number,
		GUID:      p.GUID,
		LID:       p.LID(),
		Width:     render.UnlessZero(e.Width),
		Speed:     render.UnlessZero(e.Speed),
		BestWidth: render.UnlessZero(e.BestWidth),
		BestSpeed: render.UnlessZero(e.BestSpeed),
		Findings:  []jsonFinding{},
		Ext:       p.Ext,
	}
	if p.External != 0 {
		j.External = &p.External
	}
	if e.Width != 0 && e.Speed != 0 {
		j.Gbps = render.Ptr(ib.LinkGbps(e.Width, e.Speed))
	}
	if j.Info = jsonPortInfo(p, showKeys); j.Info != nil {
		j.State, j.PhysState = render.Ptr(j.Info.State.String()), render.Ptr(j.Info.PhysState.String())
	}
	if peer := p.Peer; peer != nil {
		j.Peer = &jsonPeer{peer.Node.GUID, peer.GUID, peer.Number, peer.LID(), peer.Node.Info.NodeType.String(), names.Name(peer.Node)}
	}
	for _, f := range e.Findings {
		j.Findings = append(j.Findings, jsonFinding{f.Kind, f.IsProblem(), f.Detail})
	}
	return j
}

func newJSONFailure(f fabric.Failure) jsonFailure {
	j := jsonFailure{
		Route:    f.Route,
		LID:      f.LID,
		Port:     f.Port,
		Attr:     f.Attr.String(),
		Modifier: f.Modifier,
		Error:    f.Err.Error(),
	}
	if f.NodeGUID != 0 {
		j.NodeGUID = render.Ptr(f.NodeGUID)
	}
	return j
}
