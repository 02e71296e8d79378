package cc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// Kinds are the finding kinds.
var Kinds = []report.Kind{report.CCMissing, report.CCOff, report.CCDiffers}

// Label returns the name of a switch, or the port name for another node.
func (s *Session) Label(a *Agent) string {
	if a.IsSwitch() {
		return s.Names.Label(a.Port.Node)
	}
	return s.Names.PortName(a.Port)
}

// add adds an agent's finding.
func (s *Session) add(a *Agent, kind report.Kind, format string, args ...any) {
	port := int(a.Port.Number)
	if a.IsSwitch() {
		port = -1
	}
	a.Findings = append(a.Findings, report.New(kind, s.Label(a), fmt.Sprintf(format, args...)).At(a.Port.Node.GUID, port))
}

// find determines the findings.
func (s *Session) find() {
	var switches, adapters []*Agent
	for _, a := range s.Agents {
		switch {
		case a.Missing != nil:
			s.add(a, report.CCMissing, "%v", a.Missing)
		case !a.isComplete():
		case a.IsSwitch():
			switches = append(switches, a)
		default:
			adapters = append(adapters, a)
		}
	}
	s.compare(switches)
	s.compare(adapters)
}

// IsOn reports whether an agent takes part in congestion control: a switch if it marks
// packets, an adapter if it slows down by its table.
func (s *State) IsOn() bool {
	switch {
	case s.Switch != nil:
		return s.Switch.Threshold > 0 || slices.ContainsFunc(s.Ports, func(p mad.PortCongestionSetting) bool { return p.Valid == 1 && p.Threshold > 0 })
	case s.Adapter != nil:
		return len(s.Table) > 1 && slices.ContainsFunc(s.Adapter.SLs[:], func(sl mad.SLCongestionSetting) bool { return sl.Increase > 0 })
	}
	return false
}

// compare finds the differences between agents with the same type.
func (s *Session) compare(agents []*Agent) {
	on := 0
	for _, a := range agents {
		if a.IsOn() {
			on++
		}
	}
	common := mostCommon(agents)
	for _, a := range agents {
		s.findOff(a, on, len(agents))
		if on > 0 && !a.IsOn() {
			continue // its settings have no effect
		}
		for _, e := range difference(a.elements(sharedKinds), common) {
			has, most := e.Short()
			s.add(a, report.CCDiffers, "%s is %s, on most others %s", e.Name, has, most)
		}
	}
}

// findOff finds an agent that is off. on counts the agents with its type that are on.
func (s *Session) findOff(a *Agent, on, all int) {
	if on > 0 && !a.IsOn() {
		reason := "the threshold is 0"
		if !a.IsSwitch() {
			reason = "no service level increases its index into the table"
			if len(a.Table) == 1 {
				reason = "the table has one entry"
			}
		}
		s.add(a, report.CCOff, "%s: %d of %d are on", reason, on, all)
	}
	if a.Switch == nil || a.Switch.Threshold == 0 {
		return
	}
	for number, p := range a.Ports {
		if p.Valid == 1 && p.ControlType == 0 && p.Threshold == 0 {
			s.add(a, report.CCOff, "port %d has the threshold 0, the switch %d", number, a.Switch.Threshold)
		}
	}
}

// sharedKinds are the settings kinds that nodes with the same type share: single ports'
// settings depend on their peers.
var sharedKinds = slices.DeleteFunc(slices.Clone(kinds), func(k *kind) bool { return k.name == portKind })

// mostCommon returns each setting's most common value, and on a tie the first.
func mostCommon(agents []*Agent) (common []element) {
	var votes []map[string]int // by setting and value
	var values [][]element     // by setting, each value once in agent order
	for _, a := range agents {
		for i, e := range a.elements(sharedKinds) {
			if i == len(votes) {
				votes, values = append(votes, map[string]int{}), append(values, nil)
			}
			if votes[i][e.text]++; votes[i][e.text] == 1 {
				values[i] = append(values[i], e)
			}
		}
	}
	for i, v := range values {
		common = append(common, slices.MaxFunc(v, func(a, b element) int { return cmp.Compare(votes[i][a.text], votes[i][b.text]) }))
	}
	return common
}

// Short returns the two values, with the first and the last entry from long tables that
// differ in these or in their length.
func (e Edit) Short() (from, to string) {
	from, to = shorten(e.From), shorten(e.To)
	if from == to {
		return e.From, e.To
	}
	return from, to
}

func shorten(text string) string {
	const most = 8
	words := strings.Split(text, ",")
	if len(words) <= most || !strings.Contains(text, ":") {
		return text
	}
	return fmt.Sprintf("%s,…,%s (%d entries)", words[0], words[len(words)-1], len(words))
}
