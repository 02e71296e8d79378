package cmd

import (
	"net/netip"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/resolve"
	"github.com/ibkit/ibkit/umad"
)

// addrSchema names the form of addr's JSON, which schema/addr.json describes. A
// change that breaks readers changes the number.
const addrSchema = "ibkit/addr/1"

type jsonAddrLocal struct {
	Device    string  `json:"device"`
	Port      uint8   `json:"port"`
	LinkLayer string  `json:"link_layer"`
	PortGUID  *guid   `json:"port_guid"`
	LID       *uint16 `json:"lid"`
}

type jsonAddrTarget struct {
	Target string         `json:"target"`
	Kind   string         `json:"kind"`
	Ports  []jsonAddrPort `json:"ports"`
	Error  *string        `json:"error"`
	Hint   *string        `json:"hint"`
}

type jsonAddrPort struct {
	Name        *string        `json:"name"`
	Description *string        `json:"description"`
	NodeType    *string        `json:"node_type"`
	NodeGUID    *guid          `json:"node_guid"`
	SystemGUID  *guid          `json:"system_guid"`
	PortGUID    *guid          `json:"port_guid"`
	Port        *uint8         `json:"port"`
	LID         *uint16        `json:"lid"`
	LastLID     *uint16        `json:"last_lid"`
	LMC         *uint8         `json:"lmc"`
	SL          uint8          `json:"sl"`
	Route       *mad.Route     `json:"route"`
	SMLID       *uint16        `json:"sm_lid"`
	State       *string        `json:"state"`
	PhysState   *string        `json:"phys_state"`
	GIDs        []ib.GID       `json:"gids"`
	Host        *jsonAddrHost  `json:"host"`
	FoundBy     string         `json:"found_by"`
	DescribedBy *string        `json:"described_by"`
	Findings    []jsonAddrFind `json:"findings"`
	Error       *string        `json:"error"`
}

type jsonAddrHost struct {
	IP          *string       `json:"ip"`
	Local       bool          `json:"local"`
	Netdev      *string       `json:"netdev"`
	Gateway     *string       `json:"gateway"`
	LinkAddress *string       `json:"link_address"`
	Ways        []jsonAddrWay `json:"ways"`
}

type jsonAddrWay struct {
	GID       ib.GID  `json:"gid"`
	Type      *string `json:"type"`
	Device    *string `json:"device"`
	Port      *uint8  `json:"port"`
	SGIDIndex *int    `json:"sgid_index"`
	Derived   bool    `json:"derived"`
	OneWay    bool    `json:"one_way"`
}

type jsonAddrFind struct {
	Kind   resolve.FindingKind `json:"kind"`
	Detail string              `json:"detail"`
}

// json writes what was found as one JSON object, a target a line.
func (v *addrView) json(out *output) {
	writeMembers(out, '{', struct {
		Schema string         `json:"schema"`
		Local  *jsonAddrLocal `json:"local"`
	}{addrSchema, newJSONAddrLocal(v.local)})
	writeArray(out, "targets", v.answers, func(a addrAnswer) any {
		t := jsonAddrTarget{Target: a.target.String(), Kind: a.target.Kind.String(), Ports: []jsonAddrPort{}}
		if a.err != nil {
			t.Error, t.Hint = ptr(a.err.Error()), nonZero(hint(a.err))
		}
		for _, p := range a.ports {
			t.Ports = append(t.Ports, v.jsonPort(&addrLine{a.target, p, v.names}))
		}
		return t
	})
	out.WriteString("\n}\n")
}

// newJSONAddrLocal returns the local port; nil where none was asked from.
func newJSONAddrLocal(p umad.PortAttr) *jsonAddrLocal {
	if p.Device == "" {
		return nil
	}
	return &jsonAddrLocal{Device: p.Device, Port: p.Number, LinkLayer: p.LinkLayer, LID: nonZero(p.LID), PortGUID: nonZero(guid(p.PortGUID))}
}

func (v *addrView) jsonPort(l *addrLine) jsonAddrPort {
	first, last := l.LIDs()
	j := jsonAddrPort{
		Name: nonZero(l.name()), LID: nonZero(first), LastLID: nonZero(last), SL: l.To.SL,
		GIDs: append([]ib.GID{}, l.GIDs()...), FoundBy: l.FoundBy.String(), DescribedBy: nonZero(l.DescribedBy.String()), Findings: []jsonAddrFind{},
	}
	if n := l.Node; n != nil {
		number, _ := l.Number()
		j.NodeType, j.NodeGUID, j.SystemGUID = ptr(n.NodeType.String()), ptr(guid(n.NodeGUID)), nonZero(guid(n.SystemGUID))
		j.PortGUID, j.Port = ptr(guid(n.PortGUID)), &number
	}
	if l.Description != nil {
		j.Description = ptr(l.Description.Clean())
	}
	if i := l.Info; i != nil {
		j.LMC, j.SMLID, j.State, j.PhysState = &i.LMC, nonZero(i.SMLID), ptr(i.State.String()), ptr(i.PhysState.String())
	}
	if l.Host == nil && (l.To.LID == 0 || l.To.Route != "") {
		j.Route = &l.To.Route
	}
	for _, f := range l.Findings {
		j.Findings = append(j.Findings, jsonAddrFind(f))
	}
	if l.Err != nil {
		j.Error = ptr(l.Err.Error())
	}
	if l.Host != nil {
		j.Host = newJSONAddrHost(l.Host)
	}
	return j
}

func newJSONAddrHost(h *resolve.Host) *jsonAddrHost {
	address := func(ip netip.Addr) *string { return nonZero(textOf(ip)) }
	j := &jsonAddrHost{
		IP: address(h.IP), Local: h.Local, Netdev: nonZero(h.Netdev), Gateway: address(h.Gateway),
		LinkAddress: nonZero(h.LinkAddr.String()), Ways: []jsonAddrWay{},
	}
	for _, w := range h.Ways {
		way := jsonAddrWay{GID: w.GID, Type: nonZero(w.Type), Derived: w.Derived, OneWay: w.OneWay}
		if w.From != nil {
			way.Device, way.Port, way.SGIDIndex = &w.From.Device.Name, &w.From.Port.Number, &w.SGIDIndex
		}
		j.Ways = append(j.Ways, way)
	}
	return j
}

// nonZero returns nil for a zero value: what is absent is null.
func nonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
