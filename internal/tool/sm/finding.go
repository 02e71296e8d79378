package sm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A FindingKind is a kind of problem.
type FindingKind string

// The kinds of problems.
const (
	NoMaster      FindingKind = "no-master"      // no manager is master
	TwoMasters    FindingKind = "two-masters"    // several managers are masters
	EqualPriority FindingKind = "equal-priority" // the GUID decides which manager is master
	NoReply       FindingKind = "no-reply"       // the port has the capability, but does not reply
	NoManager     FindingKind = "no-manager"     // the port with the capability, or each target, replies that it has no manager
	Stalled       FindingKind = "stalled"        // the activity count does not advance
	OtherMaster   FindingKind = "other-master"   // the local port is served by another manager than the master
	WrongState    FindingKind = "wrong-state"    // subnet administration reports another state
)

// Kinds are the kinds of problems.
var Kinds = []FindingKind{NoMaster, TwoMasters, EqualPriority, NoReply, NoManager, Stalled, OtherMaster, WrongState}

// A Finding is a problem.
type Finding struct {
	Kind   FindingKind `json:"kind"`
	Detail string      `json:"detail"`
}

// check compares the managers. Checks of the whole fabric require that all managers are
// known.
func (r *run) check() {
	var masters []*Manager
	byPriority := map[uint8][]*Manager{}
	for _, m := range r.result.Managers {
		m.check()
		if m.Info == nil {
			continue
		}
		if m.Info.State == mad.SMMaster {
			masters = append(masters, m)
		}
		if m.Info.State != mad.SMNotActive {
			byPriority[m.Info.Priority] = append(byPriority[m.Info.Priority], m)
		}
	}
	result := r.result
	add := func(kind FindingKind, format string, args ...any) {
		result.Findings = append(result.Findings, Finding{kind, fmt.Sprintf(format, args...)})
	}
	if len(r.Targets) > 0 {
		if len(result.Managers) == 0 && len(result.Without) > 0 {
			add(NoManager, "no target has a subnet manager")
		}
		return
	}
	switch {
	case len(masters) == 0 && (r.partial || slices.ContainsFunc(result.Managers, (*Manager).unknown)):
		// The master may be missing. Without one, subnet administration does not reply either.
	case len(masters) == 0:
		add(NoMaster, "no master among %d subnet managers", len(result.Managers))
	case len(masters) == 1:
		if lid := result.Local.SMLID; lid != 0 && masters[0].To.LID != 0 && lid != masters[0].To.LID && !masters[0].To.IsDirected() {
			add(OtherMaster, "the local port is served by LID %d, the master has LID %d", lid, masters[0].To.LID)
		}
	default:
		add(TwoMasters, "%d masters: %s", len(masters), places(masters))
	}
	for priority := range uint8(16) {
		if same := byPriority[priority]; len(same) > 1 {
			add(EqualPriority, "%d managers with priority %d: %s", len(same), priority, places(same))
		}
	}
}

// unknown reports whether the state of a manager is unknown.
func (m *Manager) unknown() bool {
	var status mad.StatusError
	return m.Info == nil && !errors.As(m.Err, &status)
}

// check checks one manager.
func (m *Manager) check() {
	add := func(kind FindingKind, format string, args ...any) {
		m.Findings = append(m.Findings, Finding{kind, fmt.Sprintf(format, args...)})
	}
	var status mad.StatusError
	switch {
	case m.Info == nil && errors.As(m.Err, &status):
		add(NoManager, "%v", m.Err)
		return
	case m.Info == nil:
		add(NoReply, "%v", m.Err)
		return
	}
	switch advanced := m.Advanced(); {
	case m.Later == nil && m.Err != nil:
		add(NoReply, "second reading: %v", m.Err)
	case advanced != nil && !*advanced && m.Info.State != mad.SMNotActive:
		add(Stalled, "activity count stays at %d for %v", m.Info.ActCount, m.Elapsed.Round(1e6))
	}
	if m.Record != nil && m.Record.State != m.Info.State {
		add(WrongState, "subnet administration reports %v, the manager %v", m.Record.State, m.Info.State)
	}
}

// GUID returns the GUID of the port of a manager, or 0 if it is unknown.
func (m *Manager) GUID() ib.GUID {
	switch {
	case m.Info != nil:
		return m.Info.GUID
	case m.Record != nil:
		return m.Record.GUID
	case m.Node != nil:
		return m.Node.PortGUID
	}
	return 0
}

// places returns the addresses of managers.
func places(managers []*Manager) string {
	var all []string
	for _, m := range managers {
		all = append(all, m.To.Place())
	}
	return strings.Join(all, ", ")
}
