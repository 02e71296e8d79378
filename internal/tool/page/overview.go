package page

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/report"
)

// overview is the first page: verdict, sums and findings.
func (p *Page) overview(_ context.Context, s *state, q query) content {
	return content{title: "Overview", path: "./", body: func(m *markup) {
		verdict, class := s.verdict()
		m.put("h1", verdict, "class", "verdict "+class)
		p.sums(m, s)
		s.findingTable(m, q, "./", s.selectFindings(func(*report.Finding) bool { return true }))
		s.missingTable(m)
		s.managerTable(m)
		s.failureList(m)
	}}
}

// verdict returns the verdict of the last sweep, with its class.
func (s *state) verdict() (text, class string) {
	n := &s.report.Sweep
	switch {
	case n.Errors+n.Warnings > 0:
		text, class = plural.Count(n.Errors+n.Warnings, "problem", "problems"), "bad"
		if n.Errors == 0 {
			class = "warn"
		}
	case s.report.Partial:
		return "Partial result, no problems found", "warn"
	default:
		text, class = "No problems found", "good"
	}
	if unjudged := s.sweep.Result.Fabric.Unjudged(); unjudged != "" {
		text += "; not judged: " + unjudged
	}
	return text, class
}

// sums writes the counts and total rates.
func (p *Page) sums(m *markup, s *state) {
	r := &s.report.Summary
	m.begin("dl", "class", "sums")
	add := func(name, value, to string) {
		m.begin("div")
		m.put("dt", name)
		m.begin("dd")
		if to != "" {
			m.link(to, value)
		} else {
			m.text(value)
		}
		m.end("dd", "div")
	}
	add("Hosts", grouped(r.CAs), "nodes?type=ca")
	add("Switches", grouped(r.Switches), "nodes?type=switch")
	if r.Routers > 0 {
		add("Routers", grouped(r.Routers), "nodes?type=router")
	}
	for _, state := range slices.Sorted(maps.Keys(s.report.Links)) {
		add("Links "+state, grouped(s.report.Links[state]), "links?sort=name")
	}
	hasRates := s.sample.Window > 0
	rate := func(text string) string {
		if !hasRates {
			return absent
		}
		return text
	}
	add("Links with errors", rate(grouped(r.LinksErrors)), "links?sort=errors")
	add("Links waiting", rate(grouped(r.LinksWaiting)), "links?sort=wait")
	p.mu.Lock()
	totals := slices.Clone(p.totals)
	p.mu.Unlock()
	spark := func(name, value string, of func(total) float64) {
		m.begin("div", "class", "chart")
		m.put("dt", name)
		m.begin("dd")
		m.text(value)
		var points []float64
		for _, t := range totals {
			points = append(points, of(t))
		}
		m.spark(name+" in the last "+plural.Count(len(points), "sweep", "sweeps"), points, 0)
		m.end("dd", "div")
	}
	spark("Hosts send", rate(bits(r.Transmit)), func(t total) float64 { return t.transmit })
	spark("Errors per second", rate(significant(r.Errors)), func(t total) float64 { return t.errors })
	m.end("dl")
	if !hasRates {
		m.put("p", "Rates need two sweeps. Until the next sweep, findings have the errors since the counters were cleared; then only increases.", "class", "note")
	}
}

// selectFindings returns the indexes of the findings that a function accepts.
func (s *state) selectFindings(accept func(*report.Finding) bool) (selected []int) {
	for i := range s.report.Findings {
		if accept(&s.report.Findings[i]) {
			selected = append(selected, i)
		}
	}
	return selected
}

// findingTable writes selected findings, the worst first.
func (s *state) findingTable(m *markup, q query, path string, selected []int) {
	if len(selected) == 0 {
		return
	}
	m.begin("section", "aria-labelledby", "findings")
	m.put("h2", "Findings", "id", "findings")
	m.table("", "Severity", "Place", "Finding", "Since", "Next step")
	for _, i := range rowsOf(q, selected) {
		f := &s.report.Findings[i]
		m.begin("tr")
		m.begin("td")
		m.severity(f.Severity)
		m.end("td")
		m.begin("th", "scope", "row")
		m.place(f)
		m.end("th")
		m.begin("td", "class", "long")
		m.put("b", string(f.Kind))
		m.text(" " + f.Detail)
		m.end("td")
		m.begin("td", "class", "time")
		m.since(s.report.Since[i])
		m.end("td")
		m.put("td", s.nextStep(f), "class", "long hint")
		m.end("tr")
	}
	m.end("tbody", "table", "div")
	q.pager(m, path, len(selected))
	m.end("section")
}

// place writes a finding's place, with a link to its page.
func (m *markup) place(f *report.Finding) {
	switch {
	case f.NodeGUID == nil:
		m.text(cmp.Or(f.Subject, "fabric"))
	case f.Port == nil:
		m.link(addressOf(*f.NodeGUID, -1), f.Subject)
	default:
		m.link(addressOf(*f.NodeGUID, *f.Port), f.Subject)
	}
}

// since writes a time, with the date if it is not today.
func (m *markup) since(at time.Time) {
	at = at.Local()
	layout := "15:04:05"
	if at.Format(time.DateOnly) != time.Now().Format(time.DateOnly) {
		layout = "2006-01-02 15:04"
	}
	m.put("time", at.Format(layout), "datetime", at.Format(time.RFC3339), "title", at.Format(time.RFC1123Z))
}

// missingTable writes the nodes that earlier sweeps found.
func (s *state) missingTable(m *markup) {
	if len(s.report.Missing) == 0 {
		return
	}
	m.begin("section", "aria-labelledby", "missing")
	m.put("h2", "Missing nodes", "id", "missing")
	m.table("small", "Node", "GUID", "Path ends at", "Since")
	for _, n := range s.report.Missing[:min(len(s.report.Missing), maxRows)] {
		m.begin("tr")
		m.put("th", n.Name, "scope", "row")
		m.put("td", n.GUID.String(), "class", "code")
		at := absent
		if n.Peer != nil {
			at = fabric.PortName(n.Peer.Name, int(n.Peer.Port))
		}
		m.put("td", at)
		m.begin("td", "class", "time")
		m.since(n.Since)
		m.end("td", "tr")
	}
	m.end("tbody", "table", "div", "section")
}

// managerTable writes the subnet managers.
func (s *state) managerTable(m *markup) {
	m.begin("section", "aria-labelledby", "managers")
	m.put("h2", "Subnet managers", "id", "managers")
	if len(s.report.Managers) == 0 {
		m.put("p", "No port announces a subnet manager.", "class", "note")
	} else {
		m.table("small", "Node", "#Port", "#LID", "Role")
		for _, n := range s.report.Managers {
			m.begin("tr")
			m.begin("th", "scope", "row")
			m.link(addressOf(n.GUID, -1), n.Name)
			m.end("th")
			m.put("td", grouped(int(n.Port)), "class", "number")
			m.put("td", grouped(int(n.LID)), "class", "number")
			role := "not the master"
			if n.Master {
				role = "master"
			}
			m.put("td", role)
			m.end("tr")
		}
		m.end("tbody", "table", "div")
	}
	m.end("section")
}

// failureList writes the requests without a valid reply, at most some.
func (s *state) failureList(m *markup) {
	const most = 50
	all := s.report.Failures
	if len(all) == 0 {
		return
	}
	m.begin("details")
	m.put("summary", plural.Count(len(all), "request", "requests")+" without a valid reply")
	m.begin("ul")
	for _, f := range all[:min(most, len(all))] {
		m.put("li", f.Subject+": "+f.Attribute+": "+f.Error)
	}
	m.end("ul")
	if len(all) > most {
		m.put("p", grouped(len(all)-most)+" more", "class", "note")
	}
	m.end("details")
}

// planPage is the differences to the cabling plan.
func (p *Page) planPage(_ context.Context, s *state, q query) content {
	return content{title: "Plan", path: "plan", body: func(m *markup) {
		selected := s.selectFindings(isPlanned)
		if p.plan.Load() == nil {
			m.put("h1", "No plan")
			m.put("p", "The exporter compares the cabling with a plan if its flag --plan names one.")
			return
		}
		m.put("h1", countOf(len(selected), "difference", "differences")+" to the cabling plan")
		s.findingTable(m, q, "plan", selected)
	}}
}

// isPlanned reports whether a finding is from a comparison with a plan.
func isPlanned(f *report.Finding) bool {
	_, ok := f.Data.(*topology.FindingData)
	return ok || f.Kind == report.Unchecked
}
