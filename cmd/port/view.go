package port

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/portchange"
	"github.com/ibkit/ibkit/report"
)

// A view prints ports and plans.
type view struct {
	out   *render.Output
	names *fabric.NameMap
}

func (v *view) json(r *portchange.Report) {
	render.WriteLine(v.out, r)
}

// A row is a property of the two ends of a link.
type row struct{ name, port, peer string }

// link prints a port and its peer side by side.
func (v *view) link(l *portchange.Link) {
	p, peer := l.Port, l.Port.Peer
	title := "no link"
	if peer != nil {
		title = v.names.PortName(peer)
	}
	rows := []row{{"PORT", v.names.PortName(p), title}}
	add := func(name string, text func(*fabric.Port, *portchange.Status) string) {
		r := row{name: name, port: render.OrAbsent(text(p, portchange.StatusOf(p)))}
		if s := portchange.StatusOf(peer); s != nil {
			r.peer = render.OrAbsent(text(peer, s))
		} else if peer != nil {
			r.peer = "?"
		}
		rows = append(rows, r)
	}
	status := func(name string, text func(*portchange.Status) string) {
		add(name, func(_ *fabric.Port, s *portchange.Status) string { return text(s) })
	}
	add("GUID", func(p *fabric.Port, _ *portchange.Status) string { return p.GUID.String() })
	add("LID", func(p *fabric.Port, _ *portchange.Status) string { return fmt.Sprint(p.LID()) })
	status("state", func(s *portchange.Status) string { return s.Info.State.String() })
	status("physical state", func(s *portchange.Status) string { return s.Info.PhysState.String() })
	status("width", func(s *portchange.Status) string { return render.Text(s.ActiveWidth()) })
	status("  enabled", func(s *portchange.Status) string { return strings.Join(s.Info.LinkWidthEnabled.Names(), ",") })
	status("  supported", func(s *portchange.Status) string { return strings.Join(s.Info.LinkWidthSupported.Names(), ",") })
	status("speed", func(s *portchange.Status) string { return render.Text(s.ActiveSpeed()) })
	status("  enabled", func(s *portchange.Status) string { return s.Info.EnabledSpeeds(s.Caps, s.Ext).String() })
	status("  supported", func(s *portchange.Status) string { return s.Info.SupportedSpeeds(s.Caps, s.Ext).String() })
	status("MTU", func(s *portchange.Status) string { return s.Info.NeighborMTU.String() })
	status("  supported", func(s *portchange.Status) string { return s.Info.MTUCap.String() })
	status("VLs", func(s *portchange.Status) string { return s.Info.OperVLs.String() })
	status("  supported", func(s *portchange.Status) string { return s.Info.VLCap.String() })
	managed := func(name string, text func(*portchange.Status) string) {
		status(name, func(s *portchange.Status) string {
			if s.IsExternal() {
				return ""
			}
			return text(s)
		})
	}
	managed("SM LID", func(s *portchange.Status) string { return fmt.Sprint(s.Info.SMLID) })
	managed("LMC", func(s *portchange.Status) string { return fmt.Sprint(s.Info.LMC) })
	managed("M_Key protection", func(s *portchange.Status) string { return fmt.Sprint(s.Info.MKeyProtect) })
	managed("M_Key lease", func(s *portchange.Status) string { return fmt.Sprintf("%d s", s.Info.MKeyLeasePeriod) })
	render.Columns(v.out, []render.Column[row]{
		render.TextColumn(rows[0].name, func(r row) string { return r.name }),
		render.TextColumn(rows[0].port, func(r row) string { return r.port }),
		render.TextColumn(rows[0].peer, func(r row) string { return r.peer }),
	}, rows[1:])
	v.findings(p, l.End.Findings)
	if l.Peer != nil {
		v.findings(peer, l.Peer.Findings)
	}
}

// links prints a row for each port.
func (v *view) links(all []*portchange.Link) {
	status := func(text func(*portchange.Status) string) func(*portchange.Link) string {
		return func(l *portchange.Link) string {
			if s := portchange.StatusOf(l.Port); s != nil {
				return render.OrAbsent(text(s))
			}
			return "?"
		}
	}
	render.Columns(v.out, []render.Column[*portchange.Link]{
		render.TextColumn("PORT", func(l *portchange.Link) string { return v.names.PortName(l.Port) }),
		render.TextColumn("STATE", status(func(s *portchange.Status) string { return s.Info.State.String() })),
		render.TextColumn("PHYSICAL", status(func(s *portchange.Status) string { return s.Info.PhysState.String() })),
		render.TextColumn("WIDTH", status(func(s *portchange.Status) string { return render.Text(s.ActiveWidth()) })),
		render.TextColumn("SPEED", status(func(s *portchange.Status) string { return render.Text(s.ActiveSpeed()) })),
		render.TextColumn("PEER", func(l *portchange.Link) string {
			if l.Port.Peer == nil {
				return render.Absent
			}
			return v.names.PortName(l.Port.Peer)
		}),
	}, all)
	for _, l := range all {
		v.findings(l.Port, l.End.Findings)
	}
}

func (v *view) findings(p *fabric.Port, findings []report.Finding) {
	for _, f := range findings {
		fmt.Fprintf(v.out, "%s: %s\n", v.names.PortName(p), f.Brief())
	}
}

// maxNodes is the maximum number of nodes that are named.
const maxNodes = 8

// plan prints what each step does.
func (v *view) plan(p *portchange.Plan) {
	for _, st := range p.Steps {
		fmt.Fprintf(v.out, "%s (%v, LID %d)", v.names.PortName(st.Port), st.Port.GUID, st.Port.LID())
		if peer := st.Port.Peer; peer != nil {
			fmt.Fprintf(v.out, ", linked to %s (%v)", v.names.PortName(peer), peer.GUID)
		}
		fmt.Fprintln(v.out)
		switch {
		case st.Err != nil:
			v.out.WriteString("  not possible\n") // standard error has the reason
			continue
		case st.Needless():
			fmt.Fprintf(v.out, "  %v: not needed, the port is %s\n", p.Change, stateText(st.Before))
			continue
		}
		for _, e := range st.Edits {
			note := ""
			if e.From == e.To {
				note = " (no change)"
			}
			fmt.Fprintf(v.out, "  %s: %s → %s%s\n", e.Setting.Name, e.From, e.To, note)
		}
		here, there := st.Effect()
		if here != "" {
			fmt.Fprintf(v.out, "  %s: %s → %s\n", v.names.PortName(st.Port), stateText(st.Before), here)
		}
		if there != "" && st.Peer != nil {
			fmt.Fprintf(v.out, "  %s: %s → %s\n", v.names.PortName(st.Port.Peer), stateText(st.Peer), there)
		}
		if st.AwaitsTraining() {
			fmt.Fprintf(v.out, "  the link keeps its rate until it trains again (reset)\n")
		}
		v.nodes(st, "cuts off", "", st.CutsOff)
		v.nodes(st, "interrupts", " until the link is up", st.Interrupts)
		for _, r := range st.Risks {
			fmt.Fprintf(v.out, "  %v: %s\n", r, r.Detail())
		}
	}
}

// nodes prints the nodes that are cut off, or that this host loses if the link is its own.
func (v *view) nodes(st *portchange.Step, verb, until string, nodes []*fabric.Node) {
	if len(nodes) == 0 {
		return
	}
	count := plural.Count(len(nodes), "node", "nodes")
	text := count + " lose their only path"
	switch {
	case st.Host != nil:
		text = fmt.Sprintf("this host (%s) loses %s", v.names.Name(st.Host), count)
	case len(nodes) == 1:
		text = count + " loses its only path"
	}
	var names []string
	for _, n := range nodes[:min(len(nodes), maxNodes)] {
		names = append(names, v.names.Name(n))
	}
	if more := len(nodes) - maxNodes; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	fmt.Fprintf(v.out, "  %s: %s%s: %s\n", verb, text, until, strings.Join(names, ", "))
}

// stateText returns the state and the rate of a port, for example "Active/LinkUp 4X HDR".
func stateText(s *portchange.Status) string {
	text := s.Info.State.String() + "/" + s.Info.PhysState.String()
	if w := s.ActiveWidth(); w != 0 && s.Info.State != ib.PortDown {
		text += " " + w.String() + " " + s.ActiveSpeed().String()
	}
	return text
}

// outcome prints the result of a step.
func (v *view) outcome(st *portchange.Step) {
	fmt.Fprintf(v.out, "%s: %v", v.names.PortName(st.Port), st.Outcome)
	if st.After != nil {
		fmt.Fprintf(v.out, ", now %s", stateText(st.After))
		for _, e := range st.Edits {
			fmt.Fprintf(v.out, " %s=%s", e.Setting.Name, e.Setting.Show(st.After))
		}
	}
	if st.Outcome == outcome.Changed {
		fmt.Fprintf(v.out, ", after %.1f s", st.Elapsed.Seconds())
	}
	fmt.Fprintln(v.out)
	for _, f := range st.Findings {
		fmt.Fprintf(v.out, "  %s\n", f.Brief())
	}
}

// summary prints the steps that were not attempted.
func (v *view) summary(p *portchange.Plan) {
	var names []string
	changed := 0
	for _, st := range p.Steps {
		switch {
		case st.Outcome == outcome.NotAttempted:
			names = append(names, v.names.PortName(st.Port))
		case st.Outcome.Applied():
			changed++
		}
	}
	if len(p.Steps) > 1 {
		fmt.Fprintf(v.out, "changed %d of %s\n", changed, plural.Count(len(p.Steps), "port", "ports"))
	}
	if len(names) > 0 {
		fmt.Fprintf(v.out, "not attempted: %s\n", strings.Join(names, ", "))
	}
}
