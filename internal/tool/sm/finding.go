package sm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// Kinds are the finding kinds.
var Kinds = []report.Kind{
	report.NoMaster, report.TwoMasters, report.EqualPriority, report.NoReply, report.NoManager, report.Stalled, report.OtherMaster, report.WrongState,
}

// check compares the managers. Checks on the whole fabric require that all managers are
// known.
func (r *run) check() {
	var masters []*Manager
	byPriority := map[uint8][]*Manager{}
	for _, m := range r.result.Managers {
		m.check(r.Resolve.Names)
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
	add := func(kind report.Kind, format string, args ...any) {
		result.Findings = append(result.Findings, report.New(kind, "", fmt.Sprintf(format, args...)))
	}
	if len(r.Targets) > 0 {
		if len(result.Managers) == 0 && len(result.Without) > 0 {
			add(report.NoManager, "no target has a subnet manager")
		}
		return
	}
	switch {
	case len(masters) == 0 && (r.partial || slices.ContainsFunc(result.Managers, (*Manager).unknown)):
		// The master may be missing. Without a manager, subnet administration does not
		// reply either.
	case len(masters) == 0:
		add(report.NoMaster, "no master among %d subnet managers", len(result.Managers))
	case len(masters) == 1:
		if lid := result.Local.SMLID; lid != 0 && masters[0].To.LID != 0 && lid != masters[0].To.LID && !masters[0].To.IsDirected() {
			add(report.OtherMaster, "the local port is served by LID %d, the master has LID %d", lid, masters[0].To.LID)
		}
	default:
		add(report.TwoMasters, "%d masters: %s", len(masters), places(masters))
	}
	for priority := range uint8(16) {
		if same := byPriority[priority]; len(same) > 1 {
			add(report.EqualPriority, "%d managers with priority %d: %s", len(same), priority, places(same))
		}
	}
}

// unknown reports whether a manager's state is unknown.
func (m *Manager) unknown() bool {
	var status mad.StatusError
	return m.Info == nil && !errors.As(m.Err, &status)
}

// check checks a manager.
func (m *Manager) check(names *fabric.NameMap) {
	add := func(kind report.Kind, format string, args ...any) {
		f := report.New(kind, m.label(names), fmt.Sprintf(format, args...))
		if m.Node != nil {
			f = f.At(m.Node.NodeGUID, int(m.Node.LocalPort))
		}
		m.Findings = append(m.Findings, f)
	}
	var status mad.StatusError
	switch {
	case m.Info == nil && errors.As(m.Err, &status):
		add(report.NoManager, "%v", m.Err)
		return
	case m.Info == nil:
		add(report.NoReply, "%v", m.Err)
		return
	}
	switch advanced := m.Advanced(); {
	case m.Later == nil && m.Err != nil:
		add(report.NoReply, "second reading: %v", m.Err)
	case advanced != nil && !*advanced && m.Info.State != mad.SMNotActive:
		add(report.Stalled, "activity count stays at %d for %v", m.Info.ActCount, m.Elapsed.Round(1e6))
	}
	if m.Record != nil && m.Record.State != m.Info.State {
		add(report.WrongState, "subnet administration reports %v, the manager %v", m.Record.State, m.Info.State)
	}
}

// GUID returns a manager's port GUID, or 0 if it is unknown.
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

// places returns the managers' addresses.
func places(managers []*Manager) string {
	var all []string
	for _, m := range managers {
		all = append(all, m.To.Place())
	}
	return strings.Join(all, ", ")
}
