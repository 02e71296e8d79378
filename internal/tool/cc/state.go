package cc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/ranges"
	"github.com/ibkit/ibkit/mad"
)

// A State is an agent's settings: Switch and Ports for a switch, Adapter and Table for an
// adapter's port.
type State struct {
	Switch  *mad.SwitchCongestionSetting
	Ports   []mad.PortCongestionSetting // by port number
	Adapter *mad.CACongestionSetting
	Table   []mad.CongestionControlEntry // up to CCTI_Limit
}

// isComplete reports whether all settings were read.
func (s *State) isComplete() bool {
	return s.Switch != nil && s.Ports != nil || s.Adapter != nil && s.Table != nil
}

// clone returns a copy for changes.
func (s *State) clone() *State {
	c := *s
	if s.Switch != nil {
		c.Switch = new(*s.Switch)
	}
	if s.Adapter != nil {
		c.Adapter = new(*s.Adapter)
	}
	c.Ports, c.Table = slices.Clone(s.Ports), slices.Clone(s.Table)
	return &c
}

// An element is a setting in words.
type element struct {
	kind   *kind
	key    string
	number int // of the port or the service level; -1: none
	text   string
}

// elements returns the settings for some kinds.
func (s *State) elements(of []*kind) []element {
	var all []element
	for _, k := range of {
		if !k.has(s) {
			continue
		}
		first, count := -1, 0
		if k.count != nil {
			first, count = 0, k.count(s)
		}
		for i := first; i < count; i++ {
			for _, f := range k.fields {
				all = append(all, element{k, f.name, i, f.show(s, i)})
			}
		}
	}
	return all
}

// An Edit is a difference between two states for an agent, or the same difference on
// several ports or service levels.
type Edit struct {
	Name string `json:"name"` // "threshold", or "sl 0-3 ccti_timer"
	From string `json:"old"`  // "": does not apply
	To   string `json:"new"`
}

// difference returns the elements that differ.
func difference(before, after []element) []Edit {
	type group struct {
		kind          *kind
		key, from, to string
	}
	numbers := map[group][]int{}
	var order []group
	for i, e := range before {
		if e.text == after[i].text {
			continue
		}
		g := group{e.kind, e.key, e.text, after[i].text}
		if numbers[g] == nil {
			order = append(order, g)
		}
		numbers[g] = append(numbers[g], e.number)
	}
	var edits []Edit
	for _, g := range order {
		name := g.key
		if g.kind.count != nil {
			name = g.kind.name + " " + ranges.Format(numbers[g]) + " " + name
		}
		edits = append(edits, Edit{name, g.from, g.to})
	}
	return edits
}

// formatTable returns a table's entries, as in a settings file.
func formatTable(table []mad.CongestionControlEntry) string {
	var words []string
	for _, e := range table {
		words = append(words, formatShifted(e.Shift, e.Multiplier))
	}
	return strings.Join(words, ",")
}

// formatShifted formats a number in the form multiplier << shift.
func formatShifted(shift uint8, multiplier uint16) string {
	return fmt.Sprintf("%d:%d", shift, multiplier)
}

// Values returns a switch's settings, or an adapter's settings other than its service
// levels, by their key names in a settings file. Settings that were not read are missing.
func (s *State) Values() map[string]string {
	values := map[string]string{}
	for _, k := range kinds {
		if k.count == nil && k.has(s) {
			for _, f := range k.fields {
				values[f.name] = f.show(s, 0)
			}
		}
	}
	return values
}

// A Group is ports or service levels with the same settings.
type Group struct {
	Numbers []int
	Values  map[string]string // by key name; "": does not apply
}

// Groups returns the settings for a switch's ports, or for an adapter's service levels.
func (s *State) Groups() (groups []Group) {
	at := map[string]int{}
	for _, k := range kinds {
		if k.count == nil || !k.has(s) {
			continue
		}
		for i := range k.count(s) {
			values, all := map[string]string{}, ""
			for _, f := range k.fields {
				values[f.name] = f.show(s, i)
				all += values[f.name] + " "
			}
			n, known := at[all]
			if !known {
				n = len(groups)
				at[all] = n
				groups = append(groups, Group{Values: values})
			}
			groups[n].Numbers = append(groups[n].Numbers, i)
		}
	}
	return groups
}
