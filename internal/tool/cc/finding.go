package cc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/mad"
)

// A Kind is the kind of a finding.
type Kind string

// The kinds of findings.
const (
	NoAgent Kind = "no-agent" // the node does not support congestion control
	Off     Kind = "off"      // the node has it off, and others of its type have it on
	Differs Kind = "differs"  // a setting differs from that of most nodes of the type
)

// Kinds are all kinds.
var Kinds = []Kind{NoAgent, Off, Differs}

// A Finding is a problem of an agent.
type Finding struct {
	Kind   Kind
	Detail string
}

// find determines the findings.
func (s *Session) find() {
	var switches, adapters []*Agent
	for _, a := range s.Agents {
		switch {
		case a.Missing != nil:
			a.Findings = append(a.Findings, Finding{NoAgent, a.Missing.Error()})
		case !a.isComplete():
		case a.IsSwitch():
			switches = append(switches, a)
		default:
			adapters = append(adapters, a)
		}
	}
	compare(switches)
	compare(adapters)
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

// compare finds the differences between agents of one type.
func compare(agents []*Agent) {
	on := 0
	for _, a := range agents {
		if a.IsOn() {
			on++
		}
	}
	common := mostCommon(agents)
	for _, a := range agents {
		a.findOff(on, len(agents))
		if on > 0 && !a.IsOn() {
			continue // its settings have no effect
		}
		for _, e := range difference(a.elements(sharedKinds), common) {
			has, most := e.Short()
			a.Findings = append(a.Findings, Finding{Differs, fmt.Sprintf("%s is %s, on most others %s", e.Name, has, most)})
		}
	}
}

// findOff finds an agent that is off. on is the number of those of its type that are on.
func (a *Agent) findOff(on, all int) {
	if on > 0 && !a.IsOn() {
		reason := "the threshold is 0"
		if !a.IsSwitch() {
			reason = "no service level increases its index into the table"
			if len(a.Table) == 1 {
				reason = "the table has one entry"
			}
		}
		a.Findings = append(a.Findings, Finding{Off, fmt.Sprintf("%s: %d of %d are on", reason, on, all)})
	}
	if a.Switch == nil || a.Switch.Threshold == 0 {
		return
	}
	for number, p := range a.Ports {
		if p.Valid == 1 && p.ControlType == 0 && p.Threshold == 0 {
			a.Findings = append(a.Findings, Finding{Off, fmt.Sprintf("port %d has the threshold 0, the switch %d", number, a.Switch.Threshold)})
		}
	}
}

// sharedKinds are the kinds of settings that nodes of a type share: settings of single
// ports depend on their peers.
var sharedKinds = slices.DeleteFunc(slices.Clone(kinds), func(k *kind) bool { return k.name == portKind })

// mostCommon returns the most common value of each setting, of several the one that comes
// first.
func mostCommon(agents []*Agent) (common []element) {
	var votes []map[string]int // by setting and value
	var values [][]element     // by setting, each value once in the order of the agents
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

// Short returns the two values, with the first and the last entry of long tables that
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
