package addr

import (
	"net/netip"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/resolve"
	"github.com/ibkit/ibkit/umad"
)

// schemaID names the form of addr's JSON, which schema/addr.json describes. A
// change that breaks readers changes the number.
const schemaID = "ibkit/addr/1"

type jsonLocal struct {
	Device    string   `json:"device"`
	Port      uint8    `json:"port"`
	LinkLayer string   `json:"link_layer"`
	PortGUID  *ib.GUID `json:"port_guid"`
	LID       *ib.LID  `json:"lid"`
}

type jsonTarget struct {
	Target string     `json:"target"`
	Kind   string     `json:"kind"`
	Ports  []jsonPort `json:"ports"`
	Error  *string    `json:"error"`
	Hint   *string    `json:"hint"`
}

type jsonPort struct {
	Name        *string       `json:"name"`
	Description *string       `json:"description"`
	NodeType    *string       `json:"node_type"`
	NodeGUID    *ib.GUID      `json:"node_guid"`
	SystemGUID  *ib.GUID      `json:"system_guid"`
	PortGUID    *ib.GUID      `json:"port_guid"`
	Port        *uint8        `json:"port"`
	LID         *ib.LID       `json:"lid"`
	LastLID     *ib.LID       `json:"last_lid"`
	LMC         *uint8        `json:"lmc"`
	SL          uint8         `json:"sl"`
	Route       *mad.Route    `json:"route"`
	SMLID       *ib.LID       `json:"sm_lid"`
	State       *string       `json:"state"`
	PhysState   *string       `json:"phys_state"`
	GIDs        []ib.GID      `json:"gids"`
	Host        *jsonHost     `json:"host"`
	FoundBy     string        `json:"found_by"`
	DescribedBy *string       `json:"described_by"`
	Findings    []jsonFinding `json:"findings"`
	Error       *string       `json:"error"`
}

type jsonHost struct {
	IP          *string   `json:"ip"`
	Local       bool      `json:"local"`
	Netdev      *string   `json:"netdev"`
	Gateway     *string   `json:"gateway"`
	LinkAddress *string   `json:"link_address"`
	Ways        []jsonWay `json:"ways"`
}

type jsonWay struct {
	GID       ib.GID  `json:"gid"`
	Type      *string `json:"type"`
	Device    *string `json:"device"`
	Port      *uint8  `json:"port"`
	SGIDIndex *int    `json:"sgid_index"`
	Derived   bool    `json:"derived"`
	OneWay    bool    `json:"one_way"`
}

type jsonFinding struct {
	Kind   resolve.FindingKind `json:"kind"`
	Detail string              `json:"detail"`
}

// json writes what was found as one JSON object, a target a line.
func (v *view) json(out *render.Output) {
	render.WriteMembers(out, '{', struct {
		Schema string     `json:"schema"`
		Local  *jsonLocal `json:"local"`
	}{schemaID, newJSONLocal(v.local)})
	render.WriteArray(out, "targets", v.answers, func(a answer) any {
		t := jsonTarget{Target: a.target.String(), Kind: a.target.Kind.String(), Ports: []jsonPort{}}
		if a.err != nil {
			t.Error, t.Hint = render.Ptr(a.err.Error()), render.NonZero(cmdutil.Hint(a.err))
		}
		for _, p := range a.ports {
			t.Ports = append(t.Ports, v.jsonPort(&portLine{a.target, p, v.names}))
		}
		return t
	})
	out.WriteString("\n}\n")
}

// newJSONLocal returns the local port; nil where none was asked from.
func newJSONLocal(p umad.PortAttr) *jsonLocal {
	if p.Device == "" {
		return nil
	}
	return &jsonLocal{Device: p.Device, Port: p.Number, LinkLayer: p.LinkLayer, LID: render.NonZero(p.LID), PortGUID: render.NonZero(p.PortGUID)}
}

func (v *view) jsonPort(l *portLine) jsonPort {
	first, last := l.LIDs()
	j := jsonPort{
		Name: render.NonZero(l.name()), LID: render.NonZero(first), LastLID: render.NonZero(last), SL: l.To.SL,
		GIDs: append([]ib.GID{}, l.GIDs()...), FoundBy: l.FoundBy.String(), DescribedBy: render.NonZero(l.DescribedBy.String()), Findings: []jsonFinding{},
	}
	if n := l.Node; n != nil {
		number, _ := l.Number()
		j.NodeType, j.NodeGUID, j.SystemGUID = render.Ptr(n.NodeType.String()), render.Ptr(n.NodeGUID), render.NonZero(n.SystemGUID)
		j.PortGUID, j.Port = render.Ptr(n.PortGUID), &number
	}
	if l.Description != nil {
		j.Description = render.Ptr(l.Description.Clean())
	}
	if i := l.Info; i != nil {
		j.LMC, j.SMLID, j.State, j.PhysState = &i.LMC, render.NonZero(i.SMLID), render.Ptr(i.State.String()), render.Ptr(i.PhysState.String())
	}
	if l.Host == nil && (l.To.LID == 0 || l.To.Route != "") {
		j.Route = &l.To.Route
	}
	for _, f := range l.Findings {
		j.Findings = append(j.Findings, jsonFinding(f))
	}
	if l.Err != nil {
		j.Error = render.Ptr(l.Err.Error())
	}
	if l.Host != nil {
		j.Host = newJSONHost(l.Host)
	}
	return j
}

func newJSONHost(h *resolve.Host) *jsonHost {
	address := func(ip netip.Addr) *string { return render.NonZero(textOf(ip)) }
	j := &jsonHost{
		IP: address(h.IP), Local: h.Local, Netdev: render.NonZero(h.Netdev), Gateway: address(h.Gateway),
		LinkAddress: render.NonZero(h.LinkAddr.String()), Ways: []jsonWay{},
	}
	for _, w := range h.Ways {
		way := jsonWay{GID: w.GID, Type: render.NonZero(w.Type), Derived: w.Derived, OneWay: w.OneWay}
		if w.From != nil {
			way.Device, way.Port, way.SGIDIndex = &w.From.Device.Name, &w.From.Port.Number, &w.SGIDIndex
		}
		j.Ways = append(j.Ways, way)
	}
	return j
}
