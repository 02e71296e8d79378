package portchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// A Plan is a change to ports, in the order in which it is carried out.
type Plan struct {
	Change Change
	Steps  []*Step

	// Partial reports that the fabric scan is incomplete: nodes that are cut off may be
	// missing.
	Partial bool

	// CutOff reports that steps cut off the ports in later steps. Order is a step order in
	// which no step does, nil if each order does.
	CutOff bool
	Order  []*Step
}

// A Step is a change to a single port.
type Step struct {
	Port   *fabric.Port // in the scan; its peer is nil if the link is down
	Before *Status      // nil: the port did not reply
	Peer   *Status      // before the change; nil: no peer, or no reply
	Edits  []Edit

	CutsOff    []*fabric.Node // lose their only path for good
	Interrupts []*fabric.Node // lose their only path while the link trains
	Host       *fabric.Node   // this host, if the link is its own; nil: another link, or a switch
	Risks      []Risk
	Err        error // the reason why the change is not possible

	// Set by [Session.Apply]:
	Outcome   outcome.Outcome
	Failure   error // cause for an outcome other than Changed and Unneeded
	After     *Status
	PeerAfter *Status
	Findings  []report.Finding // link problems after the change
	Elapsed   time.Duration

	change Change
	to     umad.Target
	peerTo *umad.Target
	values []value // from the change, for this port
}

// An Edit is a setting's new value.
type Edit struct {
	Setting            *Setting
	From, To           string
	fromValue, toValue uint64
}

// Needless reports that the port is already in the wanted state.
func (st *Step) Needless() bool {
	if st.Before == nil || slices.ContainsFunc(st.Edits, func(e Edit) bool { return e.fromValue != e.toValue }) {
		return false
	}
	i := &st.Before.Info
	switch st.change.Action {
	case NoAction:
		return true
	case Enable:
		return i.PhysState != ib.PhysDisabled
	case Disable:
		return i.PhysState == ib.PhysDisabled
	case Arm:
		return i.State == ib.PortArmed
	case Activate:
		return i.State == ib.PortActive
	}
	return false
}

// ErrMKey is the error for a port with another M_Key than in the requests.
var ErrMKey = errors.New("the port has another M_Key")

// Plan reads a change's ports, and determines its effects on each port after the changes to
// the ports before. A port in several targets, or at the other end of another port's link,
// is changed once. Errors for single ports are in the steps.
func (s *Session) Plan(ctx context.Context, change Change, targets []Target) (*Plan, error) {
	plan := &Plan{Change: change, Partial: s.Fabric.Partial()}
	var ports []*fabric.Port
	for _, t := range targets {
		p, err := s.find(ctx, t)
		switch {
		case err != nil && t.File != "":
			return nil, &textfile.Error{File: t.File, Line: t.Line, Err: err}
		case err != nil:
			return nil, err
		}
		ports = append(ports, p)
	}
	after := s.graph.clone()
	for _, p := range s.oncePerLink(ports) {
		step, err := s.step(ctx, change, p, after)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(plan.Steps, step.sharesLIDs); i >= 0 && step.Err == nil {
			step.Err = errors.New("set LIDs: another port of the plan gets the same LIDs")
		}
		plan.Steps = append(plan.Steps, step)
	}
	if slices.ContainsFunc(plan.Steps, func(st *Step) bool { return errors.Is(st.Err, errCutOff) }) {
		plan.CutOff, plan.Order = true, s.order(plan.Steps)
	}
	return plan, nil
}

// oncePerLink removes ports that occur twice, and one end from a link with both ends: an
// adapter rather than a switch, the agent of which remains reachable.
func (s *Session) oncePerLink(ports []*fabric.Port) []*fabric.Port {
	var once []*fabric.Port
	for _, p := range ports {
		i := slices.IndexFunc(once, func(other *fabric.Port) bool { return other == p || other == p.Peer })
		switch {
		case i < 0:
			once = append(once, p)
		case !once[i].Node.IsSwitch():
			once[i] = p
		}
	}
	return once
}

// step determines the change to a port, after the changes in the steps before, which g has.
// An error ends the plan.
func (s *Session) step(ctx context.Context, change Change, p *fabric.Port, g *graph) (*Step, error) {
	st := &Step{Port: p, change: change}
	if _, st.Err = s.graph.aim(st); st.Err != nil {
		return st, nil
	}
	var err error
	if st.Before, err = s.read(ctx, p, st.to); err != nil {
		st.Err = err
		return st, ctx.Err()
	}
	s.readPeer(ctx, st, &st.Peer)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if st.Err = s.check(st); st.Err != nil || st.Needless() {
		return st, nil
	}
	around, err := g.aim(st)
	if err != nil {
		st.Err = errCutOff
		return st, nil
	}
	st.Host = s.ownHost(p)
	s.addSettingRisks(st)
	switch {
	case st.takesDown() || st.disarms():
		st.CutsOff = g.cutOff(p)
		s.addLinkRisks(st, around, st.CutsOff)
		g.set(p, true)
	case change.Action.retrains():
		st.Interrupts = g.cutOff(p)
		s.addLinkRisks(st, around, st.Interrupts)
		g.set(p, false)
	}
	return st, nil
}

// errCutOff is the error for a step with a port that the steps before cut off.
var errCutOff = errors.New("the port cannot be reached after the changes before")

// order returns a plan's steps in an order in which none cuts off a later step's port, nil
// if there is no such order. What a step cuts off, later steps do not reconnect: so a port
// that is reached with all other ports' links down can be the last.
func (s *Session) order(steps []*Step) []*Step {
	g := s.graph.clone()
	for _, st := range steps {
		if st.isDown() {
			g.set(st.Port, true)
		}
	}
	left, ordered := slices.Clone(steps), make([]*Step, 0, len(steps))
	for len(left) > 0 {
		i := len(left) - 1
		for ; i >= 0; i-- {
			g.set(left[i].Port, s.graph.down[left[i].Port])
			if _, ok := g.route(left[i].Port); ok {
				break
			}
			g.set(left[i].Port, true)
		}
		if i < 0 {
			return nil
		}
		ordered = append(ordered, left[i])
		left = slices.Delete(left, i, i+1)
	}
	slices.Reverse(ordered)
	return ordered
}

// isDown reports whether the port's link is down or carries no data after the step.
func (st *Step) isDown() bool {
	return st.Before != nil && !st.Needless() && (st.takesDown() || st.disarms())
}

// sharesLIDs reports whether a change gives two ports the same LID.
func (st *Step) sharesLIDs(other *Step) bool {
	if st.Before == nil || other.Before == nil {
		return false
	}
	a, b, changed := st.lids()
	c, d, others := other.lids()
	return changed && others && a != 0 && a <= d && c <= b
}

// readPeer reads a step's peer, as far as it is known and replies.
func (s *Session) readPeer(ctx context.Context, st *Step, to **Status) {
	if st.peerTo == nil {
		return
	}
	if peer, err := s.read(ctx, st.Port.Peer, *st.peerTo); err == nil {
		*to = peer
	}
}

// check reports the reason why a change is not possible, and determines the edits.
func (s *Session) check(st *Step) error {
	p, action := st.Port, st.change.Action
	if p.Number == 0 && action != NoAction {
		return fmt.Errorf("%s port 0: the management port of a switch has no link", action)
	}
	if key := st.Before.Caps.MKey; key != 0 && key != s.Source.Client.MKey {
		return ErrMKey
	}
	if action == Arm || action == Activate {
		to, _ := action.states()
		switch i := &st.Before.Info; {
		case i.State == ib.PortDown:
			return fmt.Errorf("set state of the port to %v: it is Down", to)
		case action == Activate && i.State == ib.PortInit: // InfiniBand Architecture, Volume 1, 7.2.7
			return fmt.Errorf("set state of the port to %v: it is %v, and must be %v before", to, i.State, ib.PortArmed)
		}
	}
	st.values, st.Edits = nil, nil
	for _, v := range st.change.values {
		want, err := v.wanted(st.Before, v.v)
		if err != nil {
			return err
		}
		from := v.get(st.Before)
		st.values = append(st.values, value{v.Setting, want})
		st.Edits = append(st.Edits, Edit{Setting: v.Setting, From: v.show(from), To: v.show(want), fromValue: from, toValue: want})
	}
	return s.checkLIDs(st)
}

// checkLIDs returns an error if a step gives its port another port's LID, or LIDs that a
// port cannot have. The low bits in the first LID are 0, as many as the LMC (opensm,
// osm_lid_mgr.c).
func (s *Session) checkLIDs(st *Step) error {
	first, last, changed := st.lids()
	switch {
	case !changed || first == 0:
		return nil
	case first&(last-first) != 0:
		return fmt.Errorf("set LIDs: %d is not a multiple of %d, the number of LIDs", first, last-first+1)
	case last > int(ib.MaxUnicastLID):
		return fmt.Errorf("set LIDs %d to %d: the last LID is %d", first, last, ib.MaxUnicastLID)
	}
	for lid := first; lid <= last; lid++ {
		if p := portWithLID(s.Fabric, ib.LID(lid)); p != nil && p != st.Port {
			return fmt.Errorf("set LIDs: LID %d belongs to %s", lid, s.Resolve.Names.PortName(p))
		}
	}
	return nil
}

// lids returns the port's first and last LID after the change, and whether the change sets
// them.
func (st *Step) lids() (first, last int, changed bool) {
	first, lmc := int(st.Before.Info.LID), int(st.Before.Info.LMC)
	for _, v := range st.values {
		switch v.Name {
		case "lid":
			first, changed = int(v.v), changed || v.v != uint64(first)
		case "lmc":
			lmc, changed = int(v.v), changed || v.v != uint64(lmc)
		}
	}
	return first, first + 1<<lmc - 1, changed
}

// takesDown reports whether the link stays down after the change: the port is disabled, or
// its ends have no width or no speed in common any more.
func (st *Step) takesDown() bool {
	if st.change.Action == Disable {
		return true
	}
	if st.Peer == nil || len(st.values) == 0 {
		return false
	}
	after := st.Before.clone()
	for _, v := range st.values {
		if !v.isExtended() || after.Ext != nil {
			v.put(after, v.v)
		}
	}
	widths := after.Info.LinkWidthEnabled & st.Peer.Info.LinkWidthEnabled & widths
	speeds := after.Info.EnabledSpeeds(after.Caps, after.Ext) & st.Peer.Info.EnabledSpeeds(st.Peer.Caps, st.Peer.Ext)
	return widths == 0 || speeds == 0
}

// disarms reports whether the port is Active and becomes Armed: it sends no data until it is
// activated again (InfiniBand Architecture, Volume 1, 7.2.7).
func (st *Step) disarms() bool {
	return st.change.Action == Arm && st.Before.Info.State == ib.PortActive
}

// Err returns the first reason why a change is not possible, or nil.
func (p *Plan) Err() error {
	for _, st := range p.Steps {
		if st.Err != nil {
			return st.Err
		}
	}
	return nil
}

// Effect describes the port's and its peer's states after the change, "" for a state that
// does not change.
func (st *Step) Effect() (port, peer string) {
	down := st.takesDown()
	switch action := st.change.Action; {
	case action == Disable:
		return "Down/Disabled", "Down"
	case down && action.retrains():
		return "Down, as the ends have no rate in common", "Down"
	case down:
		return "Down from the next training on, as the ends have no rate in common", "Down from the next training on"
	case action.retrains() && st.hasNoPeer():
		return "stays Down until a peer responds: none does now", ""
	case action.retrains() && st.Peer == nil:
		return "trains if it has a peer", ""
	case action.retrains():
		return "Down, until the link has trained", "Down, until the link has trained"
	case action == Arm:
		return "Armed", ""
	case action == Activate:
		return "Active", ""
	}
	return "", ""
}

// hasNoPeer reports that the port was ready before the change, and that no peer responded:
// a port that is disabled does not know its peer.
func (st *Step) hasNoPeer() bool {
	return st.Port.Peer == nil && st.Before.Info.PhysState == ib.PhysPolling
}

// AwaitsTraining reports whether settings take effect only when the link trains again,
// which the change does not cause.
func (st *Step) AwaitsTraining() bool {
	return !st.change.Action.retrains() && st.change.Action != Disable && slices.ContainsFunc(st.values, func(v value) bool { return v.available != nil })
}
