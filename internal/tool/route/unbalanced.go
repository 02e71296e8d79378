package route

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/report"
)

// A balanceCause is what uneven link groups have in common if the routing engine is
// their cause.
type balanceCause struct {
	level    int  // of the switches
	parallel bool // links to the same switch, not to the next level
}

func (b *PortGroup) cause() balanceCause { return balanceCause{b.Level, b.To != nil} }

// maxSingle is how many findings with the same cause are not combined, and how many
// examples a combined finding has.
const maxSingle = 3

// unbalanced returns a finding for each uneven link group. The groups on many switches
// with the same cause are a single finding.
func (a *Analysis) unbalanced(w namer) (findings []report.Finding) {
	groups := map[balanceCause][]PortGroup{}
	for _, b := range a.Balance {
		groups[b.cause()] = append(groups[b.cause()], b)
	}
	combined := map[balanceCause]bool{}
	for _, b := range a.Balance {
		cause := b.cause()
		if combined[cause] {
			continue
		}
		n, of := countSwitches(groups[cause]), a.judgedSwitches(cause)
		if combined[cause] = n > maxSingle || n > 1 && 2*n >= of; combined[cause] {
			findings = append(findings, a.combine(w, groups[cause], n, of))
			continue
		}
		findings = append(findings, w.uneven(&b))
	}
	return findings
}

// uneven returns the finding for an uneven link group.
func (w namer) uneven(b *PortGroup) report.Finding {
	f := w.at(report.Unbalanced, b.Switch, NoRoute, uint64(b.Most),
		"%d to %d destinations on each of its %d %s, %.1f on average", b.Least, b.Most, len(b.Ports), w.links(b), b.Mean)
	f.Data.(*FindingData).Balance = []ReportBalance{NewReportBalance(b, w.names)}
	return f
}

// UnevenGroups returns a finding for each uneven link group.
func UnevenGroups(groups []PortGroup, names *fabric.NameMap) (findings []report.Finding) {
	w := namer{names}
	for i := range groups {
		if b := &groups[i]; b.Uneven() {
			f := w.uneven(b)
			f.Data = nil // the document has the groups
			findings = append(findings, f)
		}
	}
	return findings
}

// links describes a group's links.
func (w namer) links(b *PortGroup) string {
	if b.To == nil {
		return "up-links"
	}
	return "links to " + w.node(b.To)
}

// judgedSwitches counts the switches with links that could be uneven by a cause.
func (a *Analysis) judgedSwitches(cause balanceCause) int {
	var judged []PortGroup
	for _, b := range a.Groups {
		if b.cause() == cause && b.Judged() {
			judged = append(judged, b)
		}
	}
	return countSwitches(judged)
}

func countSwitches(groups []PortGroup) int {
	switches := map[*Node]bool{}
	for _, b := range groups {
		switches[b.Switch] = true
	}
	return len(switches)
}

// combine returns a single finding for uneven groups at n of several switches. If most
// switches at a tree level have them, the routing engine is the cause.
func (a *Analysis) combine(w namer, groups []PortGroup, n, of int) report.Finding {
	worst := groups[0]
	var sum PortGroup
	for _, b := range groups {
		sum.Ports = append(sum.Ports, b.Ports...)
	}
	sum.measure()
	links := "up-links"
	if worst.To != nil {
		links = "parallel links"
	}
	var examples []string
	for _, b := range groups[:min(len(groups), maxSingle)] {
		name := w.node(b.Switch)
		if b.To != nil {
			name += " to " + w.node(b.To)
		}
		examples = append(examples, fmt.Sprintf("%s (%d to %d)", name, b.Least, b.Most))
	}
	detail := fmt.Sprintf("%d of %d switches at level %d: %d to %d destinations on each of their %s, %.1f on average, worst at %s",
		n, of, worst.Level, sum.Least, sum.Most, links, sum.Mean, strings.Join(examples, ", "))
	if a.layered && worst.To == nil && 2*n >= of {
		detail += "; opensm's routing engine ftree balances fat trees"
	}
	f := w.finding(report.Unbalanced, uint64(worst.Most), "%s", detail)
	for i := range groups {
		f.Data.(*FindingData).Balance = append(f.Data.(*FindingData).Balance, NewReportBalance(&groups[i], w.names))
	}
	return f
}
