// Package cc reads and changes a fabric's congestion control (InfiniBand Architecture,
// Volume 1, annex A10). A [Session] scans the fabric and reads all agents; [Session.Plan]
// compares them with [Settings], and [Session.Apply] sets the differences.
package cc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options for [NewSession].
type Options struct {
	Source fabric.Source
	Key    mad.Key // CC_Key for requests
	Names  *fabric.NameMap

	// Selected, if not nil, reports whether to read a node.
	Selected func(*fabric.Node) bool

	// Log, if not nil, is called before and after each agent's change. Nothing is changed
	// if a call before fails.
	Log func(Entry) error
}

// An Agent is the agent for a switch, or for a port on another node.
type Agent struct {
	Port *fabric.Port // switch port 0
	State
	Info *mad.CongestionInfo    // nil: it did not reply
	Key  *mad.CongestionKeyInfo // nil: it did not reply

	Missing  error   // the reason why there is no agent, or nil
	Failures []error // of requests to an agent
	Findings []report.Finding
}

// IsSwitch reports whether the agent is on a switch.
func (a *Agent) IsSwitch() bool { return a.Port.Node.IsSwitch() }

// IsSupported reports whether there is an agent, as far as known.
func (a *Agent) IsSupported() bool { return a.Missing == nil && a.Port.Unreachable() == nil }

// unknown reports whether it is unknown if there is an agent: a request had no reply.
func (a *Agent) unknown() bool { return errors.Is(a.Missing, umad.ErrTimeout) }

// Err returns the reason why an agent's settings are unknown, or nil.
func (a *Agent) Err() error {
	if a.Missing == nil && len(a.Failures) > 0 {
		return a.Failures[0]
	}
	return a.Missing
}

// A Session is access to a fabric's agents. It is not safe for concurrent use.
type Session struct {
	Options
	Began  time.Time
	Fabric *fabric.Fabric
	Agents []*Agent // in node order

	source *fabric.Session
	client *umad.Client
}

// NewSession scans the fabric and reads all agents. Failures for single agents are in
// [Session.Agents]. The caller closes the session.
func NewSession(ctx context.Context, o Options) (*Session, error) {
	began := time.Now()
	source, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	s := &Session{Options: o, Began: began, source: source, client: source.Client}
	if err := s.read(ctx); err != nil {
		_ = source.Close() // the first error is the cause
		return nil, err
	}
	return s, nil
}

// Close closes the local port.
func (s *Session) Close() error { return s.source.Close() }

// Stats returns the client's counts.
func (s *Session) Stats() umad.Stats { return s.client.Stats() }

// Partial reports whether the fabric or the settings are unknown in part.
func (s *Session) Partial() bool {
	for _, a := range s.Agents {
		if len(a.Failures) > 0 || a.unknown() {
			return true
		}
	}
	return s.Fabric.Partial()
}

func (s *Session) read(ctx context.Context) (err error) {
	s.Fabric, err = s.source.Fabric(ctx, fabric.DiscoverOptions{NoExtendedPortInfo: true, OmitDownPorts: true})
	if err != nil {
		return err
	}
	for _, n := range s.Fabric.Nodes {
		if s.Selected != nil && !s.Selected(n) {
			continue
		}
		for _, p := range agentPorts(n) {
			a := &Agent{Port: p}
			s.Agents = append(s.Agents, a)
			if err := p.Unreachable(); err != nil {
				a.Failures = append(a.Failures, err)
				continue
			}
			s.get(a, &mad.ClassPortInfo{}, 0, func(err error) {
				if a.Missing = err; err == nil {
					s.readAgent(a)
				}
			})
		}
	}
	if err := s.client.Run(ctx); err != nil {
		return fmt.Errorf("read congestion control: %w", err)
	}
	for _, a := range s.Agents {
		if a.Missing == nil && a.isComplete() {
			a.checkTable()
		}
	}
	s.find()
	return nil
}

// agentPorts returns a node's ports that have agents: port 0 on a switch, and on other
// nodes the ports with a link.
func agentPorts(n *fabric.Node) (ports []*fabric.Port) {
	for _, p := range n.Ports {
		switch {
		case p == nil:
		case !n.IsSwitch():
			if p.Number != 0 && p.Info != nil && p.Info.State >= ib.PortInit {
				ports = append(ports, p)
			}
		case p.Number == 0:
			ports = append(ports, p)
		}
	}
	return ports
}

// readAgent submits the requests for an agent's attributes.
func (s *Session) readAgent(a *Agent) {
	fail := func(err error) { a.Failures = append(a.Failures, err) }
	info, key := &mad.CongestionInfo{}, &mad.CongestionKeyInfo{}
	s.get(a, info, 0, keep(func() { a.Info = info }, fail))
	s.get(a, key, 0, keep(func() { a.Key = key }, fail))
	s.readState(a, &a.State, fail)
}

// keep returns a function that calls store for a reply, and fail for an error.
func keep(store func(), fail func(error)) func(error) {
	return func(err error) {
		if err != nil {
			fail(err)
			return
		}
		store()
	}
}

// readState submits the requests for an agent's settings.
func (s *Session) readState(a *Agent, to *State, fail func(error)) {
	if a.IsSwitch() {
		setting := &mad.SwitchCongestionSetting{}
		s.get(a, setting, 0, keep(func() { to.Switch = setting }, fail))
		s.readPorts(a, to, fail)
		return
	}
	setting := &mad.CACongestionSetting{}
	s.get(a, setting, 0, keep(func() { to.Adapter = setting }, fail))
	first := &mad.CongestionControlTable{}
	s.get(a, first, 0, keep(func() { s.readTable(a, to, first, fail) }, fail))
}

// readPorts submits the requests for the settings on a switch's ports.
func (s *Session) readPorts(a *Agent, to *State, fail func(error)) {
	ports := make([]mad.PortCongestionSetting, int(a.Port.Node.Info.NumPorts)+1)
	missing := 0
	for first := 0; first < len(ports); first += portBlock {
		missing++
		block := &mad.SwitchPortCongestionSetting{}
		s.get(a, block, uint32(first/portBlock), keep(func() {
			copy(ports[first:], block.Ports[:])
			if missing--; missing == 0 {
				to.Ports = ports
			}
		}, fail))
	}
}

// portBlock is the port count per block.
const portBlock = len(mad.SwitchPortCongestionSetting{}.Ports)

// readTable submits the requests for a table's blocks after the first.
func (s *Session) readTable(a *Agent, to *State, first *mad.CongestionControlTable, fail func(error)) {
	length := int(first.Limit) + 1
	if length > maxTable {
		fail(fmt.Errorf("invalid CongestionControlTable: CCTI_Limit %d", first.Limit))
		return
	}
	table := make([]mad.CongestionControlEntry, length)
	copy(table, first.Entries[:])
	if length <= tableBlock {
		to.Table = table
		return
	}
	missing := 0
	for at := tableBlock; at < length; at += tableBlock {
		missing++
		block := &mad.CongestionControlTable{}
		s.get(a, block, uint32(at/tableBlock), keep(func() {
			copy(table[at:], block.Entries[:])
			if missing--; missing == 0 {
				to.Table = table
			}
		}, fail))
	}
}

// get submits a request for an attribute. done is called with the error, or after the
// attribute was decoded.
func (s *Session) get(a *Agent, attr mad.Attribute, modifier uint32, done func(error)) {
	s.send(a, mad.MethodGet, attr, modifier, done)
}

// send submits a request with an attribute, into which the reply is decoded.
func (s *Session) send(a *Agent, method mad.Method, attr mad.Attribute, modifier uint32, done func(error)) {
	s.client.Submit(&umad.Request{
		Expect: new(a.Port.Identity()), To: umad.Target{LID: a.Port.LID()}, Class: mad.ClassCC, Method: method, Value: attr, Modifier: modifier, Key: s.Key,
		Done: func(_ *umad.Request, r *umad.Reply) { done(r.Err) },
	})
}

// checkTable records a table that is larger than the agent reports.
func (a *Agent) checkTable() {
	if a.Info != nil && !a.IsSwitch() && len(a.Table) > max(1, a.capacity()) {
		a.Failures = append(a.Failures, fmt.Errorf("invalid CongestionControlTable: %d entries, and ControlTableCap %d", len(a.Table), a.Info.ControlTableCap))
	}
}

// capacity returns how many entries an adapter has room for.
func (a *Agent) capacity() int { return int(a.Info.ControlTableCap) * tableBlock }
