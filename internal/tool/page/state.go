package page

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/hostlist"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/exporter"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/internal/tool/top"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// A state is a sweep with the values that the pages derive. It does not change.
type state struct {
	sweep  *exporter.FabricSweep
	sample *top.Sample
	report Report
	nodes  func() []nodeRow // in name order

	nextStep func(*report.Finding) string // as users type it
}

// newState derives a sweep's state, without the times of first sight. plan may be nil.
func newState(s *exporter.FabricSweep, o Options, plan *topology.Plan) *state {
	sample := top.NewSample(s.Result, s.Names, s.Took)
	for _, m := range s.Missing {
		sample.Missing = append(sample.Missing, top.MissingNode{GUID: m.GUID, Name: m.Name})
	}
	t := &state{sweep: s, sample: sample}
	r := &t.report
	r.Head = report.NewHead(Schema, s.Result.Began)
	r.Fail(s.Result.Head(nil, s.Names).Failures...)
	r.Partial, r.Managers = s.Result.Partial(), t.managers()
	if s.PHY != nil {
		t.addRegisters(s.PHY)
	}
	r.Add(t.findings(plan)...)
	r.Add(s.Probes...)
	r.Interval, r.Missing = o.Interval.Seconds(), s.Missing
	r.Sweep = Notice{
		Time: sample.Time.UTC().Truncate(time.Millisecond), Partial: r.Partial,
		Errors: r.Count(report.Error) + len(s.Missing), Warnings: r.Count(report.Warning), Unknown: r.Count(report.Unknown),
	}
	r.Summary = sample.Summarize()
	r.Links = t.linkStates()
	r.NameHints(s.Names.UniqueNames(s.Result.Fabric))
	t.nextStep = func(f *report.Finding) string {
		if o.NextStep != nil {
			return o.NextStep(f.Hint)
		}
		return f.Hint
	}
	t.nodes = sync.OnceValue(t.nodeRows)
	return t
}

// findings returns all findings, the worst first: each link's once, ports' counters, and
// differences to a plan.
func (t *state) findings(plan *topology.Plan) []report.Finding {
	f, s := t.sweep.Result.Fabric, t.sample
	var all []report.Finding
	if blind := f.Blind(); blind != nil {
		all = append(all, report.New(report.Blind, "", blind.Error()))
	}
	for _, c := range f.Conflicts {
		all = append(all, report.New(report.Conflict, c.GUID.String(), c.Detail).At(c.GUID, int(c.Port)))
	}
	for i := range s.Links {
		l := &s.Links[i]
		near := s.Ports[l.Near].Findings
		all = t.locate(all, l.Near, near)
		if l.Far >= 0 {
			all = t.locate(all, l.Far, slices.DeleteFunc(slices.Clone(s.Ports[l.Far].Findings), func(f report.Finding) bool {
				return slices.Contains(report.KindsOf(near), f.Kind) && !slices.Contains(phy.Kinds, f.Kind)
			}))
		}
		for _, end := range []int32{l.Near, l.Far} {
			for _, f := range s.Findings[end] {
				all = append(all, f.Report(&counters.Port{Port: s.Ports[end].Port}, s.Names))
			}
		}
	}
	if r := t.sweep.PHY; r != nil {
		for _, d := range r.Devices {
			all = append(all, d.Findings...)
		}
	}
	all = append(all, t.compare(plan)...)
	severities := report.Severities()
	slices.SortStableFunc(all, func(a, b report.Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)), hostlist.Compare(a.Subject, b.Subject))
	})
	for i := range all {
		if all[i].Hint == "" {
			all[i].Hint = t.hint(all[i])
		}
	}
	return all
}

// hint returns a finding's next step: for an inactive link at the master subnet manager, if a port
// is addressed as one.
func (t *state) hint(f report.Finding) string {
	if m := t.report.Managers; f.Kind == report.NotActive && len(m) > 0 && m[0].Master {
		if n := t.sweep.Result.Fabric.NodeByGUID(*f.NodeGUID); n != nil {
			return topology.ActivationHint(n.Ports[*f.Port], m[0].Name)
		}
	}
	return f.Kind.HintFor(f)
}

// compare compares the cabling with a plan, and reports its damage. A sweep without other
// nodes shows no cabling.
func (t *state) compare(plan *topology.Plan) []report.Finding {
	f := t.sweep.Result.Fabric
	if plan == nil || f.Blind() != nil {
		return nil
	}
	all := plan.Compare(f, t.sample.Names)
	for _, err := range plan.Damage {
		all = append(all, report.New(report.Unchecked, "", err.Error()))
	}
	return all
}

// locate appends a port's findings with their place.
func (t *state) locate(all []report.Finding, port int32, findings []report.Finding) []report.Finding {
	p := &t.sample.Ports[port]
	for _, f := range findings {
		f.Subject = t.sample.Names.PortName(p.Port)
		all = append(all, f.At(p.Port.Node.GUID, int(p.Number)))
	}
	return all
}

// A findingKey identifies a finding in later sweeps.
type findingKey struct {
	kind    report.Kind
	guid    ib.GUID
	port    int
	counter string
	subject string // without a node
}

func keyOf(f *report.Finding) findingKey {
	k := findingKey{kind: f.Kind, port: -1}
	if f.NodeGUID != nil {
		k.guid = *f.NodeGUID
	} else {
		k.subject = f.Subject + " " + f.Detail
	}
	if f.Port != nil {
		k.port = *f.Port
	}
	if d, ok := f.Data.(counters.FindingData); ok && d.Counter != nil {
		k.counter = *d.Counter
	}
	return k
}

// findSince sets the times of first sight, given the times from the sweep before, and
// returns the times for the next sweep.
func (t *state) findSince(before map[findingKey]time.Time) map[findingKey]time.Time {
	now := make(map[findingKey]time.Time, len(t.report.Findings))
	t.report.Since = make([]time.Time, len(t.report.Findings))
	for i := range t.report.Findings {
		k := keyOf(&t.report.Findings[i])
		since, known := before[k]
		if !known {
			since = t.report.Sweep.Time
		}
		now[k], t.report.Since[i] = since, since
	}
	return now
}

// linkStates counts the links by state. A link without a known state is "unknown".
func (t *state) linkStates() map[string]int {
	states := map[string]int{}
	for i := range t.sample.Links {
		state := "unknown"
		if info := t.sample.Ports[t.sample.Links[i].Near].Port.Info; info != nil {
			state = info.State.String()
		}
		states[state]++
	}
	return states
}

// managers returns the ports that are addressed as subnet managers, and other ports that
// announce one.
func (t *state) managers() []Manager {
	lids, all := topology.ManagerLIDs(t.sweep.Result.Fabric), []Manager{}
	for _, n := range t.sample.Nodes {
		for _, p := range n.Node.Ports {
			if p == nil || p.Info == nil || p.Info.LID == 0 || n.IsSwitch() && p.Number != 0 {
				continue
			}
			if isMaster := lids[p.Info.LID]; isMaster || p.Info.CapMask.Has(mad.CapSM) {
				all = append(all, Manager{n.Name, n.GUID, p.Number, p.Info.LID, isMaster})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Manager) int { return cmp.Compare(a.rank(), b.rank()) })
	return all
}

// A nodeRow is a node with sums over its links.
type nodeRow struct {
	node     *top.Node
	links    int
	errors   float64 // per second
	severity report.Severity
	lid      ib.LID
}

// nodeRows returns all nodes in name order.
func (t *state) nodeRows() []nodeRow {
	rows := make([]nodeRow, 0, len(t.sample.Nodes))
	severities := report.Severities()
	for i := range t.sample.Nodes {
		n := &t.sample.Nodes[i]
		r := nodeRow{node: n, lid: n.LID()}
		for port := n.First; port < n.Last; port++ {
			p := &t.sample.Ports[port]
			if p.Peer >= 0 {
				r.links++
			}
			if v := t.sample.Values[port].Errors; v > 0 {
				r.errors += float64(v)
			}
			if s := t.sample.Severity(p.Link); s != "" && (r.severity == "" || slices.Index(severities, s) < slices.Index(severities, r.severity)) {
				r.severity = s
			}
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b nodeRow) int { return hostlist.Compare(a.node.Name, b.node.Name) })
	return rows
}
