package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/report"
)

// A Group has the findings of a cable, of a node, or a single finding without a place: most
// have a common cause.
type Group struct {
	Subject string // for example "cable leaf1[1] - spine1[1]", "leaf1", or ""

	// Findings are the findings with texts for people, the worst first. A detail does not
	// repeat the group's subject, and a hint does not repeat an earlier hint.
	Findings []report.Finding
}

// Severity returns the worst severity in the group.
func (g *Group) Severity() report.Severity { return g.Findings[0].Severity }

// A place is the subject of a group.
type place struct {
	key  any
	port *fabric.Port // first end of a cable, or a port without a peer; nil: another place
}

// singles returns a group for each finding.
func singles(findings []report.Finding) []Group {
	var groups []Group
	for _, f := range bySeverity(findings) {
		groups = append(groups, Group{f.Subject, []report.Finding{f}})
	}
	return groups
}

// bySeverity returns the findings with the worst first, and equal severities in their order.
func bySeverity(findings []report.Finding) []report.Finding {
	rank := func(f report.Finding) int { return slices.Index(report.Severities(), f.Severity) }
	findings = slices.Clone(findings)
	slices.SortStableFunc(findings, func(a, b report.Finding) int { return cmp.Compare(rank(a), rank(b)) })
	return findings
}

// groups returns the findings by their places, the group with the worst finding first.
func (r *fabricRun) groups(names map[ib.GUID]string) []Group {
	index := map[any]int{}
	var groups []Group
	var texts []groupTexts
	for _, f := range bySeverity(r.result.Findings) {
		at := r.place(f)
		i, ok := index[at.key]
		if !ok || at.key == nil {
			i = len(groups)
			index[at.key] = i
			groups = append(groups, Group{Subject: r.subject(f, at)})
			texts = append(texts, groupTexts{run: r, names: names, port: at.port})
		}
		groups[i].Findings = append(groups[i].Findings, texts[i].shorten(f))
	}
	return groups
}

// repairCauses sets the next step of findings with a cause at the same place to that of the
// cause.
func (r *fabricRun) repairCauses() {
	byPlace := map[any][]int{}
	for i, f := range r.result.Findings {
		if key := r.place(f).key; key != nil {
			byPlace[key] = append(byPlace[key], i)
		}
	}
	for _, list := range byPlace {
		cause := slices.IndexFunc(list, func(i int) bool { return slices.Contains(phy.Causes, r.result.Findings[i].Kind) })
		for _, i := range list {
			if f := &r.result.Findings[i]; cause >= 0 && slices.Contains(phy.Consequences, f.Kind) {
				f.Hint = r.result.Findings[list[cause]].Hint
			}
		}
	}
}

// place returns the place of a finding. A port's place is its cable, and an agent without a
// reply on an adapter without an active link is at the cable, too.
func (r *fabricRun) place(f report.Finding) place {
	if f.NodeGUID == nil {
		if f.Subject == "" {
			return place{}
		}
		return place{key: f.Subject}
	}
	n := r.fabric.NodeByGUID(*f.NodeGUID)
	p := r.portOf(f, n)
	switch {
	case p != nil && p.Peer != nil:
		return place{cableKey(p), p}
	case p != nil && !p.IsManagement():
		return place{p, p}
	case n == nil:
		return place{key: *f.NodeGUID}
	}
	return place{key: n}
}

// portOf returns the port of a finding, or nil. n is its node, nil if the scan did not find it.
func (r *fabricRun) portOf(f report.Finding, n *fabric.Node) *fabric.Port {
	switch {
	case n == nil:
		return r.pathEnds[*f.NodeGUID]
	case f.Port != nil:
		return portOf(n, *f.Port)
	case f.Kind != report.Unchecked:
		return nil
	}
	for _, failure := range r.fabric.Failures {
		if failure.NodeGUID == n.GUID && failure.Err.Error() == f.Detail {
			return portOf(n, int(failure.Port)) // as a finding of discovery
		}
	}
	if n.IsSwitch() {
		return nil
	}
	return inactiveLink(n)
}

// portOf returns a node's port, or nil.
func portOf(n *fabric.Node, number int) *fabric.Port {
	if number < 0 || number >= len(n.Ports) {
		return nil
	}
	return n.Ports[number]
}

// inactiveLink returns a node's first port with a link if none of the links is active, and
// nil otherwise.
func inactiveLink(n *fabric.Node) (first *fabric.Port) {
	for _, p := range n.Ports {
		if p == nil || p.Peer == nil || p.Info == nil {
			continue
		}
		if p.Info.State == ib.PortActive {
			return nil
		}
		first = cmp.Or(first, p)
	}
	return first
}

// cableKey is equal for both ends of a cable.
func cableKey(p *fabric.Port) any {
	type end struct {
		node ib.GUID
		port uint8
	}
	a, b := end{p.Node.GUID, p.Number}, end{p.Peer.Node.GUID, p.Peer.Number}
	if b.node < a.node || b.node == a.node && b.port < a.port {
		a, b = b, a
	}
	return [2]end{a, b}
}

// subject returns the subject of a group with its first finding.
func (r *fabricRun) subject(f report.Finding, at place) string {
	switch {
	case at.port == nil:
		return f.Subject
	case at.port.Peer == nil:
		return r.names.PortName(at.port)
	}
	return "cable " + r.names.PortName(at.port) + " - " + r.names.PortName(at.port.Peer)
}

// groupTexts shortens the texts of a group's findings.
type groupTexts struct {
	run     *fabricRun
	names   map[ib.GUID]string // for next steps
	port    *fabric.Port       // as in place
	details []string           // details, and their parts after a colon
	hints   []string           // of printed findings, also as repairOf returns them
}

// repairOf returns a finding's next step without its place, and without the command that shows
// the effect.
func repairOf(f report.Finding) string {
	repair := f.Hint
	switch {
	case f.Hint == f.Kind.HintFor(f):
		repair = f.Kind.Info().Hint
	case f.NodeGUID != nil && f.Port != nil:
		repair = strings.ReplaceAll(repair, fmt.Sprintf("port %d of %v", *f.Port, *f.NodeGUID), "port {port} of {node}")
	}
	repair, _, _ = strings.Cut(repair, "; then: ")
	return repair
}

// shorten returns a finding without texts that the subject or an earlier finding has.
func (t *groupTexts) shorten(f report.Finding) report.Finding {
	if t.port != nil {
		f = t.shortenDetail(f)
	}
	repair := repairOf(f)
	isKnown := slices.Contains(t.hints, repair) || slices.Contains(t.hints, f.Hint)
	t.hints = append(t.hints, repair, f.Hint)
	if isKnown {
		f.Hint = ""
	}
	f.Hint = f.NamedHint(t.names)
	return f
}

// sameReason is the detail of what could not be checked because of an earlier finding.
const sameReason = "for the same reason"

// shortenDetail shortens the detail of a finding, and adds its place unless the place is the
// first port of the subject.
func (t *groupTexts) shortenDetail(f report.Finding) report.Finding {
	ports := []*fabric.Port{t.port}
	if t.port.Peer != nil {
		ports = append(ports, t.port.Peer)
	}
	for _, p := range ports {
		f.Detail = strings.TrimSuffix(f.Detail, t.run.peerText(p))
	}
	value, meaning, _ := strings.Cut(f.Detail, ": ")
	known := func(text string) bool { return text != "" && slices.Contains(t.details, text) }
	detail := f.Detail
	switch {
	case known(f.Detail) && f.Kind == report.Unchecked:
		f.Detail, f.Hint = sameReason, ""
	case known(f.Detail):
		f.Detail = ""
	case known(meaning):
		f.Detail = value
	}
	t.details = append(t.details, detail, meaning)
	isEnd := func(p *fabric.Port) bool { return f.Subject == t.run.names.PortName(p) }
	switch {
	case isEnd(t.port) && f.Detail == "":
		f.Detail = "as above"
	case isEnd(t.port) || f.Detail == sameReason:
	case slices.ContainsFunc(ports, isEnd):
		f.Detail = strings.TrimSpace("at " + f.Subject + " " + f.Detail)
	case f.Detail == "":
		f.Detail = "also " + f.Subject
	default:
		f.Detail = f.Subject + ": " + f.Detail
	}
	return f
}
