package cc

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/mad"
)

// A Plan is the changes that settings require.
type Plan struct {
	Steps []*Step // of the agents that differ

	// Same counts the agents that have the settings already.
	Same int

	// Without has the selected ports without an agent, or with unknown settings.
	Without []*Agent

	// Partial reports that the fabric scan is incomplete: nodes to which the settings apply
	// may be missing.
	Partial bool
}

// A Step is an agent's change.
type Step struct {
	Agent *Agent
	Edits []Edit
	Err   error // the reason why the change is not possible

	// Set by [Session.Apply]:
	Outcome outcome.Outcome
	Failure error  // cause for an outcome other than Changed
	After   *State // nil: the settings were not read again

	want    *State
	attempt bool  // a Set was sent
	lost    error // of a Set without a reply
	failed  error // of a Set that was rejected, or not sent
	silent  error // of a request after the change
}

// Plan compares the agents with settings. It returns an error for a pattern in the settings
// that matches no node. The reasons why single changes are not possible are in the steps.
func (s *Session) Plan(settings *Settings) (*Plan, error) {
	plan := &Plan{Partial: s.Fabric.Partial()}
	for _, section := range settings.sections {
		if err := s.matchesAny(section); err != nil {
			return nil, err
		}
	}
	for _, a := range s.Agents {
		var sections []*section
		for _, section := range settings.sections {
			if section.isSwitch == a.IsSwitch() && section.matches(a.Port.Node, s.Names) {
				sections = append(sections, section)
			}
		}
		switch {
		case sections == nil:
		case !a.isComplete():
			plan.Without = append(plan.Without, a)
		default:
			plan.add(a, sections)
		}
	}
	return plan, nil
}

// matchesAny returns an error for a pattern that matches no node with the type.
func (s *Session) matchesAny(section *section) error {
	for _, pattern := range section.nodes {
		found := false
		for _, a := range s.Agents {
			found = found || section.isSwitch == a.IsSwitch() && s.Names.Match(pattern, a.Port.Node)
		}
		if !found {
			return fmt.Errorf("apply [%s] of line %d: no %s matches %q", section.name, section.line, map[bool]string{true: "switch", false: "adapter"}[section.isSwitch], pattern)
		}
	}
	return nil
}

// add adds an agent's step, if it differs.
func (p *Plan) add(a *Agent, sections []*section) {
	st := &Step{Agent: a, want: a.clone()}
	for _, section := range sections {
		if err := section.apply(st.want); err != nil {
			st.Err = cmp.Or(st.Err, fmt.Errorf("line %d: %w", section.line, err))
		}
	}
	st.Edits = difference(a.elements(kinds), st.want.elements(kinds))
	if a.Info != nil && !a.IsSwitch() && len(st.want.Table) > max(len(a.Table), a.capacity()) {
		st.Err = cmp.Or(st.Err, fmt.Errorf("set cct: got %d entries, the adapter has room for %d", len(st.want.Table), a.capacity()))
	}
	if st.Err == nil && len(st.Edits) == 0 {
		p.Same++
		return
	}
	p.Steps = append(p.Steps, st)
}

// Err returns the first reason why a change is not possible, with its step, or nil.
func (p *Plan) Err() (*Step, error) {
	for _, st := range p.Steps {
		if st.Err != nil {
			return st, st.Err
		}
	}
	return nil, nil
}

// A set is an attribute to be set.
type set struct {
	attr     mad.Attribute
	modifier uint32
}

// tables returns the Sets for an adapter's table: all blocks, which share the limit.
func (st *Step) tables() (sets []set) {
	if slices.Equal(st.Agent.Table, st.want.Table) {
		return nil
	}
	for at := 0; at < len(st.want.Table); at += tableBlock {
		block := &mad.CongestionControlTable{Limit: uint16(len(st.want.Table) - 1)}
		copy(block.Entries[:], st.want.Table[at:])
		sets = append(sets, set{block, uint32(at / tableBlock)})
	}
	return sets
}

// adapter returns the Set for an adapter's service levels.
func (st *Step) adapter() []set {
	before, want := st.Agent.Adapter, st.want.Adapter
	if want == nil || before.PortControl == want.PortControl && before.SLs == want.SLs {
		return nil
	}
	setting := *want
	setting.ControlMap = 0
	for sl := range setting.SLs {
		if before.SLs[sl] != want.SLs[sl] {
			setting.ControlMap |= 1 << sl
		}
	}
	return []set{{&setting, 0}}
}

// switches returns the Set for a switch. ControlMap selects the fields that change.
func (st *Step) switches() []set {
	before, want := st.Agent.Switch, st.want.Switch
	if want == nil {
		return nil
	}
	setting := *want
	setting.ControlMap = 0
	for _, group := range []struct {
		bit     uint32
		changed bool
	}{
		{mad.CongestionSetVictimMask, before.VictimMask != want.VictimMask},
		{mad.CongestionSetCreditMask, before.CreditMask != want.CreditMask},
		{mad.CongestionSetThreshold, before.Threshold != want.Threshold || before.PacketSize != want.PacketSize},
		{mad.CongestionSetStarvation, before.CSThreshold != want.CSThreshold || before.CSReturnDelay != want.CSReturnDelay},
		{mad.CongestionSetMarkingRate, before.MarkingRate != want.MarkingRate},
	} {
		if group.changed {
			setting.ControlMap |= group.bit
		}
	}
	if setting.ControlMap == 0 {
		return nil
	}
	return []set{{&setting, 0}}
}

// ports returns the Sets for the port blocks that change.
func (st *Step) ports() (sets []set) {
	for first := 0; first < len(st.want.Ports); first += portBlock {
		var before, want mad.SwitchPortCongestionSetting
		copy(before.Ports[:], st.Agent.Ports[first:])
		copy(want.Ports[:], st.want.Ports[first:])
		if before != want {
			sets = append(sets, set{&want, uint32(first / portBlock)})
		}
	}
	return sets
}

// IsPartial reports whether nodes may miss the settings after the change.
func (p *Plan) IsPartial() bool { return p.Partial || len(p.Without) > 0 }
