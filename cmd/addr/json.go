package addr

import (
	"cmp"
	"net/netip"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// report returns the JSON document.
func (v *view) report() *lookup.Report {
	r := &lookup.Report{Head: report.NewHead(lookup.ReportSchema, v.began), Local: localReport(v.local), Targets: []lookup.ReportTarget{}}
	for _, a := range v.answers {
		t := lookup.ReportTarget{Target: a.target.String(), Kind: a.target.Kind.String(), Ports: []lookup.ReportPort{}}
		if a.err != nil {
			t.Error, t.Hint = new(a.err.Error()), optional.NonZero(cmdutil.Hint(a.err))
			r.Fail(fabric.ReportFailure(t.Target, a.err))
		}
		for _, p := range a.ports {
			l := &portLine{a.target, p, v.names}
			t.Ports = append(t.Ports, v.portReport(l))
			subject := cmp.Or(l.name(), placeOf(p, a.target))
			for _, f := range p.Findings {
				f.Subject = subject
				r.Add(f)
			}
			if p.Err != nil {
				r.Fail(fabric.ReportFailure(subject, p.Err))
			}
		}
		r.Targets = append(r.Targets, t)
	}
	for _, err := range v.missed {
		r.Fail(fabric.ReportFailure("", err))
	}
	return r
}

// localReport returns the report of the local port, or nil without a local port.
func localReport(p umad.PortAttr) *lookup.ReportLocal {
	if p.Device == "" {
		return nil
	}
	return &lookup.ReportLocal{Device: p.Device, Port: p.Number, LinkLayer: p.LinkLayer, LID: optional.NonZero(p.LID), PortGUID: optional.NonZero(p.PortGUID)}
}

func (v *view) portReport(l *portLine) lookup.ReportPort {
	first, last := l.LIDs()
	j := lookup.ReportPort{
		Name: optional.NonZero(l.name()), LID: optional.NonZero(first), LastLID: optional.NonZero(last), SL: l.To.SL,
		GIDs: append([]ib.GID{}, l.GIDs()...), FoundBy: l.FoundBy.String(), DescribedBy: optional.NonZero(l.DescribedBy.String()), Findings: report.KindsOf(l.Findings),
	}
	if n := l.Node; n != nil {
		number, _ := l.Number()
		j.NodeType, j.NodeGUID, j.SystemGUID = new(n.NodeType.String()), new(n.NodeGUID), optional.NonZero(n.SystemGUID)
		j.PortGUID, j.Port = new(n.PortGUID), &number
	}
	if l.Description != nil {
		j.Description, j.DescriptionHex = new(l.Description.Clean()), optional.NonZero(l.Description.Hex())
	}
	if i := l.Info; i != nil {
		j.LMC, j.SMLID, j.State, j.PhysState = &i.LMC, optional.NonZero(i.SMLID), new(i.State.String()), new(i.PhysState.String())
	}
	if l.Host == nil && !l.To.Route.IsNone() {
		j.Route = &l.To.Route
	}
	if l.Err != nil {
		j.Error = new(l.Err.Error())
	}
	if l.Host != nil {
		j.Host = hostReport(l.Host)
	}
	return j
}

func hostReport(h *lookup.Host) *lookup.ReportHost {
	address := func(ip netip.Addr) *string { return optional.NonZero(textOf(ip)) }
	j := &lookup.ReportHost{
		IP: address(h.IP), Local: h.Local, Netdev: optional.NonZero(h.Netdev), Gateway: address(h.Gateway),
		LinkAddress: optional.NonZero(h.LinkAddr.String()), Paths: []lookup.ReportPath{},
	}
	for _, p := range h.Paths {
		path := lookup.ReportPath{GID: p.GID, Type: optional.NonZero(p.Type), Derived: p.Derived, OneWay: p.OneWay}
		if p.Device != "" {
			path.Device, path.Port, path.SGIDIndex = &p.Device, &p.Port, &p.SGIDIndex
		}
		j.Paths = append(j.Paths, path)
	}
	return j
}
