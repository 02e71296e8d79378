package addr

import (
	"net/netip"
	"slices"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric/resolve"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// json writes a JSON document, with one target per line.
func (v *view) json(out *render.Output) {
	render.WriteMembers(out, '{', resolve.ReportHead{Schema: resolve.Schema, Partial: v.isPartial(), Local: localReport(v.local)})
	render.WriteArray(out, "targets", v.answers, func(a answer) any {
		t := resolve.TargetReport{Target: a.target.String(), Kind: a.target.Kind.String(), Ports: []resolve.PortReport{}}
		if a.err != nil {
			t.Error, t.Hint = render.Ptr(a.err.Error()), render.NonZero(cmdutil.Hint(a.err))
		}
		for _, p := range a.ports {
			t.Ports = append(t.Ports, v.portReport(&portLine{a.target, p, v.names}))
		}
		return t
	})
	out.WriteString("\n}\n")
}

// isPartial reports whether a target was not found, or ports or attributes may be missing.
func (v *view) isPartial() bool {
	return v.partial || slices.ContainsFunc(v.answers, func(a answer) bool {
		return a.err != nil || slices.ContainsFunc(a.ports, func(p *resolve.Port) bool { return p.Err != nil })
	})
}

// localReport returns the report of the local port, or nil if none was used.
func localReport(p umad.PortAttr) *resolve.LocalReport {
	if p.Device == "" {
		return nil
	}
	return &resolve.LocalReport{Device: p.Device, Port: p.Number, LinkLayer: p.LinkLayer, LID: render.NonZero(p.LID), PortGUID: render.NonZero(p.PortGUID)}
}

func (v *view) portReport(l *portLine) resolve.PortReport {
	first, last := l.LIDs()
	j := resolve.PortReport{
		Name: render.NonZero(l.name()), LID: render.NonZero(first), LastLID: render.NonZero(last), SL: l.To.SL,
		GIDs: append([]ib.GID{}, l.GIDs()...), FoundBy: l.FoundBy.String(), DescribedBy: render.NonZero(l.DescribedBy.String()), Findings: []resolve.FindingReport{},
	}
	if n := l.Node; n != nil {
		number, _ := l.Number()
		j.NodeType, j.NodeGUID, j.SystemGUID = render.Ptr(n.NodeType.String()), render.Ptr(n.NodeGUID), render.NonZero(n.SystemGUID)
		j.PortGUID, j.Port = render.Ptr(n.PortGUID), &number
	}
	if l.Description != nil {
		j.Description, j.DescriptionHex = render.Ptr(l.Description.Clean()), render.NonZero(l.Description.Hex())
	}
	if i := l.Info; i != nil {
		j.LMC, j.SMLID, j.State, j.PhysState = &i.LMC, render.NonZero(i.SMLID), render.Ptr(i.State.String()), render.Ptr(i.PhysState.String())
	}
	if l.Host == nil && !l.To.Route.IsNone() {
		j.Route = &l.To.Route
	}
	for _, f := range l.Findings {
		j.Findings = append(j.Findings, resolve.FindingReport(f))
	}
	if l.Err != nil {
		j.Error = render.Ptr(l.Err.Error())
	}
	if l.Host != nil {
		j.Host = hostReport(l.Host)
	}
	return j
}

func hostReport(h *resolve.Host) *resolve.HostReport {
	address := func(ip netip.Addr) *string { return render.NonZero(textOf(ip)) }
	j := &resolve.HostReport{
		IP: address(h.IP), Local: h.Local, Netdev: render.NonZero(h.Netdev), Gateway: address(h.Gateway),
		LinkAddress: render.NonZero(h.LinkAddr.String()), Paths: []resolve.PathReport{},
	}
	for _, p := range h.Paths {
		path := resolve.PathReport{GID: p.GID, Type: render.NonZero(p.Type), Derived: p.Derived, OneWay: p.OneWay}
		if p.Device != "" {
			path.Device, path.Port, path.SGIDIndex = &p.Device, &p.Port, &p.SGIDIndex
		}
		j.Paths = append(j.Paths, path)
	}
	return j
}
