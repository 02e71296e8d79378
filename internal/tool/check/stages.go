package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/sm"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// checkLIDs reports package topology's findings about LIDs.
func checkLIDs(_ context.Context, r *fabricRun) error {
	r.addTopology(r.topology, lidKinds...)
	return nil
}

// checkGUIDs reports package topology's findings about GUIDs.
func checkGUIDs(_ context.Context, r *fabricRun) error {
	r.addTopology(r.topology, guidKinds...)
	return nil
}

// checkNames reports package topology's findings about descriptions.
func checkNames(_ context.Context, r *fabricRun) error {
	r.addTopology(r.topology, nameKinds...)
	return nil
}

// addTopology adds findings for some kinds.
func (r *fabricRun) addTopology(findings []report.Finding, kinds ...report.Kind) {
	for _, f := range findings {
		if slices.Contains(kinds, f.Kind) {
			f.Data = nil
			r.add(f)
		}
	}
}

// checkLinks reports link states.
func checkLinks(_ context.Context, r *fabricRun) error {
	r.addLinks(linkKinds)
	active, all := 0, linkinfo.Links(r.ends)
	for _, l := range all {
		if l.Near.Port.Peer != nil && l.Near.Port.Info != nil && l.Near.Port.Info.State == ib.PortActive {
			active++
		}
	}
	r.comment("%s active", count(active, "link"))
	r.skippedIf(len(all) == 0, "no ports")
	if r.fabric.Sparse {
		r.lacks(noStates)
	}
	return nil
}

// addLinks adds link findings for some kinds, each once for both ends.
func (r *fabricRun) addLinks(kinds []report.Kind) {
	if r.ends == nil {
		r.ends = linkinfo.Ends(r.fabric, r.fabric.Nodes)
	}
	add := func(e *linkinfo.End, findings []report.Finding) {
		for _, f := range findings {
			if slices.Contains(kinds, f.Kind) {
				r.add(r.portFinding(f.Kind, e.Port, "%s", f.Detail+r.peerText(e.Port)))
			}
		}
	}
	for _, l := range linkinfo.Links(r.ends) {
		add(l.Near, l.Near.Findings)
		if l.Far != nil {
			add(l.Far, l.FarFindings())
		}
	}
}

// peerText names a port's peer.
func (r *fabricRun) peerText(p *fabric.Port) string {
	if p.Peer == nil {
		return ""
	}
	return "; peer " + r.names.PortName(p.Peer)
}

// checkSpeed reports speeds and widths below the capability at both ends, or below the
// limits.
func checkSpeed(_ context.Context, r *fabricRun) error {
	r.addLinks(speedKinds)
	rates := map[string]int{}
	var order []string
	for _, l := range linkinfo.Links(r.ends) {
		e := l.Near
		if e.Width == 0 || e.Port.Peer == nil {
			continue
		}
		name := rateText(e)
		if rates[name]++; rates[name] == 1 {
			order = append(order, name)
		}
		if e.Width.Lanes() < r.limits.MinWidth.Lanes() || e.Speed != 0 && e.Speed < r.limits.MinSpeed {
			r.add(r.portFinding(report.BelowMinimum, e.Port, "%s, want at least %s%s", name, minimum(r.limits), r.peerText(e.Port)))
		}
	}
	var parts []string
	for _, name := range order {
		parts = append(parts, fmt.Sprintf("%d at %s", rates[name], name))
	}
	r.comment("%s", strings.Join(parts, ", "))
	r.skippedIf(len(order) == 0, "no links")
	if r.fabric.Sparse && r.limits.MinWidth == 0 && r.limits.MinSpeed == 0 {
		r.lacks("the file has no enabled widths and speeds")
	}
	return nil
}

// rateText returns a link's width and speed, as far as they are known.
func rateText(e *linkinfo.End) string {
	if e.Speed == 0 {
		return e.Width.String() + " (unknown speed)"
	}
	return e.Width.String() + " " + e.Speed.String()
}

// minimum describes link limits.
func minimum(l *Limits) string {
	var parts []string
	if l.MinWidth != 0 {
		parts = append(parts, l.MinWidth.String())
	}
	if l.MinSpeed != 0 {
		parts = append(parts, l.MinSpeed.String())
	}
	return strings.Join(parts, " ")
}

// checkManagers compares the subnet managers. Between two readings, it queries the firmware,
// which takes as long if there are agents that do not respond.
func checkManagers(ctx context.Context, r *fabricRun) error {
	o := sm.Options{
		Source: r.source(), Wait: r.limits.SMWait,
		Mode: lookup.ModeNodes, Resolve: lookup.Options{SMLID: r.opts.SMLID, Names: r.names},
	}
	if r.selects("firmware") {
		o.Meanwhile = r.probeFirmware
	}
	result, err := sm.Run(ctx, o)
	if err != nil {
		return err
	}
	d := result.Report(r.names)
	for _, f := range d.Findings {
		r.add(f)
	}
	masters := []string{}
	for _, m := range result.Managers {
		if m.Info != nil && m.Info.State == mad.SMMaster {
			r.master = cmp.Or(r.master, m.Name(r.names))
			masters = append(masters, fmt.Sprintf("%s (LID %d, priority %d)", m.Name(r.names), m.To.LID, m.Info.Priority))
		}
	}
	r.result.Fail(d.Failures...)
	r.result.Partial = r.result.Partial || d.Partial
	r.comment("%s, master %s", count(len(result.Managers), "manager"), cmp.Or(strings.Join(masters, ", "), "unknown"))
	return nil
}

// readCounters reads the counters, if another stage has not read them.
func (r *fabricRun) readCounters(ctx context.Context) error {
	if r.counters != nil {
		return nil
	}
	o := counters.Options{
		Source: r.source(), Window: r.opts.Window, Since: r.opts.Since,
		Resolve: lookup.Options{SMLID: r.opts.SMLID, Names: r.names},
		Limits:  counters.Limits{Thresholds: r.limits.Thresholds, Wait: r.limits.MaxWait, BER: r.limits.BER},
	}
	if s := r.opts.Stored; s != nil {
		o.Database = &ibdiagnet.Database{Fabric: s.Fabric, Created: s.Created, Counters: s.Counters, Increases: s.Increases}
	}
	var err error
	r.counters, err = counters.Run(ctx, o)
	return err
}

// baselineDamageHint is the next step for a baseline that could be read in part only.
const baselineDamageHint = "store the counters again: ibkit counters --save FILE"

// checkCounters compares the error counters with their thresholds.
func checkCounters(ctx context.Context, r *fabricRun) error {
	if err := r.readCounters(ctx); err != nil {
		return err
	}
	for _, n := range r.counters.Nodes {
		for _, failure := range n.Failures {
			f := finding(report.Unchecked, r.nodePort(n.Node, failure.Port), "%s: %v", mad.ClassPM.AttrName(failure.Attr), failure.Err).At(n.GUID, -1)
			if p := portOf(n.Node, int(failure.Port)); p != nil && p.Unreachable() != nil {
				f = f.WithHint(report.NotActive.Info().Hint) // a ping cannot reach the agent, either
			}
			r.add(f)
		}
	}
	if r.opts.Since != nil {
		for _, err := range r.opts.Since.Damage {
			r.add(finding(report.Unchecked, "", "%v", err).WithHint(baselineDamageHint))
			r.result.Fail(fabric.ReportFailure("", err))
		}
	}
	ports := 0
	for p := range r.counters.AllPorts() {
		for _, f := range r.counters.Findings(p) {
			if found := f.Report(p, r.names); found.Kind != report.BitErrors {
				r.add(r.portFinding(found.Kind, p.Port, "%s%s", found.Detail, r.peerText(p.Port)))
			}
		}
	}
	for _, n := range r.counters.Nodes {
		ports += n.NumRead()
	}
	window := "since counters were cleared"
	if r.opts.Since != nil || r.opts.Window > 0 {
		window = "in " + longestWindow(r.counters).Round(time.Second).String()
	}
	r.comment("%s, %s", count(ports, "port"), window)
	r.skippedIf(ports == 0, "no port with counters")
	return nil
}

// longestWindow returns the longest time between two samples of a port.
func longestWindow(r *counters.Result) (window time.Duration) {
	for p := range r.AllPorts() {
		if d := p.Delta(); d != nil {
			window = max(window, d.Window())
		}
	}
	return window
}

// checkBER reports the bit error rates that devices measure, and applies the window rule to
// symbol errors.
func checkBER(ctx context.Context, r *fabricRun) error {
	measured, err := checkTrueBER(ctx, r)
	switch {
	case err != nil:
		return err
	case (r.opts.Since != nil || r.opts.Window != 0) && needsCounters(r) == "":
		return checkWindowBER(ctx, r, measured)
	case measured == "" && r.opts.Registers:
		r.lacks(r.noRegisters())
	case measured == "":
		r.skipped("requires two readings (a window or a baseline), or registers")
	default:
		r.comment("%s", measured)
	}
	return nil
}

// checkWindowBER applies the window rule for bit error rates.
func checkWindowBER(ctx context.Context, r *fabricRun, comment string) error {
	if err := r.readCounters(ctx); err != nil {
		return err
	}
	measured := 0
	verdicts := make([][counters.BERExceeded + 1]int, len(r.limits.BER))
	needs := make([]time.Duration, len(r.limits.BER))
	for p := range r.counters.AllPorts() {
		for _, f := range r.counters.Findings(p) {
			if f.Kind == report.BitErrors {
				r.add(r.portFinding(report.BitErrors, p.Port, "%s%s", f.Report(p, r.names).Detail, r.peerText(p.Port)))
			}
		}
		d := p.Delta()
		if d == nil {
			continue
		}
		b, ok := p.SymbolBER(d)
		if !ok {
			continue
		}
		measured++
		for i, rule := range r.limits.BER {
			verdicts[i][b.Judge(rule)]++
			needs[i] = max(needs[i], rule.Needs(b.BitRate()))
		}
	}
	var parts []string
	for i, rule := range r.limits.BER {
		switch v := verdicts[i]; {
		case v[counters.BERUnproved] > 0:
			parts = append(parts, fmt.Sprintf("%.0e unproved for %s: the window is too short, want %v",
				rule.Limit, count(v[counters.BERUnproved], "port"), needs[i].Round(time.Second)))
		default:
			parts = append(parts, fmt.Sprintf("%.0e proved for %s", rule.Limit, count(v[counters.BERProved], "port")))
		}
	}
	if comment != "" {
		parts = append(parts, comment)
	}
	r.comment("%s: %s", count(measured, "port"), strings.Join(parts, "; "))
	r.skippedIf(measured == 0 && comment == "", "no port with two readings of symbol errors")
	return nil
}

// checkRouting analyses the forwarding tables.
func checkRouting(ctx context.Context, r *fabricRun) error {
	a, err := route.Check(ctx, route.Options{
		Source: r.source(), Loaded: r.opts.Tables,
		SMLID: r.opts.SMLID, SMKey: r.opts.SMKey,
	})
	if err != nil {
		return err
	}
	for _, f := range a.Findings(r.names) {
		r.add(f)
	}
	const hint = "ibkit check routes -e"
	for _, failure := range a.Routing.Failures {
		f := finding(report.Unchecked, "", "%v", failure.Err).WithHint(hint)
		if n := failure.Node; n != nil {
			f.Subject = r.names.LabelOf(n.GUID, n.Desc)
			f = f.At(n.GUID, -1)
		}
		r.add(f)
	}
	if n := a.Routing.Unread; n > 0 && r.opts.Tables != nil { // otherwise from the scan
		r.add(finding(report.Unchecked, "", "the stored tables have %s without a response", count(n, "request")).WithHint(hint))
	}
	parts := a.Disconnected()
	if parts != "" {
		parts += ": "
	}
	r.comment("%s%s, %s: %s", parts, count(a.Destinations, "LID"), plural.Count(int(a.Paths), "path", "paths"), a.Arrivals())
	r.skippedIf(a.Paths == 0, "no paths: less than two ports with a LID")
	return nil
}

// planDamageHint is the next step for a plan that could be read in part only.
const planDamageHint = "correct the line in the plan"

// checkPlan compares the cabling with the plan.
func checkPlan(_ context.Context, r *fabricRun) error {
	if r.opts.Plan == nil {
		r.skipped("requires a plan")
		return nil
	}
	for _, err := range r.opts.Plan.Damage {
		r.add(finding(report.Unchecked, "", "%v", err).WithHint(planDamageHint))
		r.result.Fail(fabric.ReportFailure("", err))
	}
	r.addTopology(r.opts.Plan.Compare(r.fabric, r.names), planKinds...)
	unjudged := ""
	if r.opts.Plan.Incomplete {
		unjudged = "; unexpected cables are not reported"
	}
	r.comment("%s in the plan%s", count(len(r.opts.Plan.Cables), "cable"), unjudged)
	r.skippedIf(len(r.opts.Plan.Cables) == 0, "no cables in the plan")
	return nil
}
