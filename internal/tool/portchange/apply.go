package portchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// settleTime is the maximum for changes other than for a link with a peer.
const settleTime = 3 * time.Second

// Apply carries out a plan's steps sequentially, and ends after the first step that is not
// good, or when ctx ends: the steps have the outcomes. done, if not nil, is called after
// each attempted step.
func (s *Session) Apply(ctx context.Context, plan *Plan, done func(*Step)) error {
	for _, st := range plan.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		start := time.Now()
		if err := s.apply(ctx, st); err != nil {
			return err
		}
		st.Elapsed = time.Since(start)
		if done != nil {
			done(st)
		}
		if !st.Outcome.Good() {
			return ctx.Err()
		}
	}
	return nil
}

// apply carries out a step. The error comes from the log, or from ctx before the change.
func (s *Session) apply(ctx context.Context, st *Step) error {
	var before *Status
	_, err := s.graph.aim(st)
	if err == nil {
		before, err = s.read(ctx, st.Port, st.to)
	} else if len(s.graph.down) > 0 {
		err = errCutOff
	}
	if err == nil {
		st.Before = before
		err = s.check(st)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		st.Outcome, st.Failure = outcome.Failed, err
		return nil
	case st.Needless():
		st.Outcome, st.After = outcome.Unneeded, before
		return nil
	}
	if s.Log != nil {
		if err := s.Log(Entry{Step: st}); err != nil {
			return fmt.Errorf("write log: %w", err)
		}
	}
	err = s.set(ctx, st)
	defer s.useKey(st)()
	if err == nil || errors.Is(err, umad.ErrTimeout) {
		s.verify(ctx, st, err)
	} else {
		s.explain(ctx, st, err)
	}
	s.update(st)
	if s.Log != nil {
		if err := s.Log(Entry{Step: st, Ended: true}); err != nil {
			return fmt.Errorf("write log: %w", err)
		}
	}
	return nil
}

// useKey makes the requests after an M_Key change use the new M_Key, until the returned
// function is called.
func (s *Session) useKey(st *Step) (restore func()) {
	before := s.client
	for _, v := range st.values {
		if v.Secret {
			o := s.Source.Client
			o.MKey = mad.Key(v.v)
			s.client = umad.NewClient(s.source.Port, o)
		}
	}
	return func() { s.client = before }
}

// set sends the change: at first the attribute for FDR10, which takes effect when the link
// trains, then PortInfo.
func (s *Session) set(ctx context.Context, st *Step) error {
	others := st.change.Action != NoAction
	for _, v := range st.values {
		if !v.isExtended() {
			others = true
			continue
		}
		data, err := st.Before.extendedPortInfo(st.values)
		if err == nil {
			err = s.send(ctx, st, mad.AttrMlnxExtPortInfo, uint32(st.Port.Number), data)
		}
		if err != nil {
			return err
		}
	}
	if !others {
		return nil
	}
	data, err := st.Before.portInfo(st.change.Action, st.values)
	if err != nil {
		return err
	}
	// With this bit, the agent handles the extended speed fields.
	modifier := uint32(st.Port.Number)
	if st.Before.Caps.CapMask.Has(mad.CapExtendedSpeeds) {
		modifier |= supportsExtendedSpeeds
	}
	return s.send(ctx, st, mad.AttrPortInfo, modifier, data)
}

// supportsExtendedSpeeds is the modifier bit in a PortInfo Set by which the sender states
// that it has set the extended speed fields (InfiniBand Architecture, Volume 1, 14.2.5.6;
// ibportstate in rdma-core).
const supportsExtendedSpeeds = 1 << 31

func (s *Session) send(ctx context.Context, st *Step, attr mad.AttrID, modifier uint32, data []byte) error {
	_, err := s.client.Call(ctx, &umad.Request{To: st.to, Method: mad.MethodSet, Attr: attr, Modifier: modifier, Data: data, Expect: new(st.Port.Identity())})
	return err
}

// verify reads the port until it has changed and its link is up, or until it is too late.
// lost is the error for a Set without a reply, or nil.
func (s *Session) verify(ctx context.Context, st *Step, lost error) {
	limit := s.Wait
	if !st.change.Action.retrains() || st.hasNoPeer() {
		limit = min(settleTime, limit)
	}
	var silent error
	outcome.Await(ctx, limit, func() bool {
		after, err := s.read(ctx, st.Port, st.to)
		if silent = err; err != nil {
			return false
		}
		st.After = after
		return st.achieved(s.managed())
	})
	s.judge(ctx, st, lost, silent)
}

// achieved reports whether the port is in the wanted state. With managed, a subnet manager
// activates links.
func (st *Step) achieved(managed bool) bool {
	i := &st.After.Info
	if len(st.unchanged()) > 0 {
		return false
	}
	switch st.change.Action {
	case Enable, Reset, Down:
		return st.After.isUp() && (i.State == ib.PortActive || !managed)
	case Disable:
		return i.PhysState == ib.PhysDisabled
	case Arm:
		return i.State == ib.PortArmed || i.State == ib.PortActive // a subnet manager goes on
	case Activate:
		return i.State == ib.PortActive
	}
	return true
}

// unchanged returns the names of the settings that do not have the wanted value.
func (st *Step) unchanged() []string {
	var names []string
	for _, v := range st.values {
		if v.get(st.After) != v.v {
			names = append(names, v.Name)
		}
	}
	return names
}

// judge determines a change's outcome. lost is the error for a Set without a reply, silent
// the last read's error.
func (s *Session) judge(ctx context.Context, st *Step, lost, silent error) {
	switch {
	case ctx.Err() != nil:
		st.Outcome, st.Failure = outcome.Unverified, ctx.Err()
	case silent != nil:
		st.Outcome, st.Failure = outcome.Unverified, silent
	case st.achieved(s.managed()):
		st.Outcome = outcome.Changed
		if st.change.Action.retrains() {
			s.inspect(ctx, st)
		}
	case lost != nil:
		st.Outcome, st.Failure = outcome.NoReply, lost
	case len(st.unchanged()) > 0:
		st.Outcome, st.Failure = outcome.NoEffect, fmt.Errorf("the agent accepted the change, but did not change %s", strings.Join(st.unchanged(), ", "))
	case st.change.Action.retrains() && st.After.isUp():
		st.Outcome, st.Failure = outcome.NotActive, fmt.Errorf("the link is up, but no subnet manager activated it within %v", s.Wait)
		s.inspect(ctx, st)
	case st.change.Action.retrains() && st.hasNoPeer():
		st.Outcome, st.Failure = outcome.NotUp, errors.New("no peer responds, as before the change")
	case st.change.Action.retrains():
		i := &st.After.Info
		st.Outcome, st.Failure = outcome.NotUp, fmt.Errorf("the link is %v/%v after %v", i.State, i.PhysState, s.Wait)
	default:
		i := &st.After.Info
		st.Outcome, st.Failure = outcome.NoEffect, fmt.Errorf("the agent accepted the change, but the port is %v/%v", i.State, i.PhysState)
	}
}

// explain determines the outcome for a change that an agent rejected or that was not sent.
func (s *Session) explain(ctx context.Context, st *Step, err error) {
	st.Outcome, st.Failure = outcome.Failed, err
	var status mad.StatusError
	if !errors.As(err, &status) {
		return
	}
	st.Outcome = outcome.Rejected
	if after, err := s.read(ctx, st.Port, st.to); err == nil {
		st.After = after // an agent may carry out a part of what it rejects
	}
}

// inspect checks the link after a change. A port that was disabled has a peer only now.
func (s *Session) inspect(ctx context.Context, st *Step) {
	if !st.After.isUp() {
		return
	}
	if st.Port.Peer == nil {
		s.findPeer(ctx, st)
	}
	s.readPeer(ctx, st, &st.PeerAfter)
	end := linkinfo.NewEnd(st.linkAfter(), false)
	for _, f := range end.Findings {
		if f.Severity.IsProblem() && f.Kind != report.Uneven { // a change at a single end may intend this
			st.Findings = append(st.Findings, f)
		}
	}
}

// linkAfter returns the port and its peer with their attributes after the change.
func (st *Step) linkAfter() *fabric.Port {
	p := withStatus(st.Port, st.After)
	if st.Port.Peer != nil && st.PeerAfter != nil {
		p.Peer = withStatus(st.Port.Peer, st.PeerAfter)
		p.Peer.Peer = p
	} else {
		p.Peer = nil
	}
	return p
}

// withStatus returns a port copy with other attributes.
func withStatus(p *fabric.Port, st *Status) *fabric.Port {
	port, node := *p, *p.Node
	port.Node, port.Info, port.Ext = &node, &st.Info, st.Ext
	node.Ports = make([]*fabric.Port, max(len(p.Node.Ports), int(p.Number)+1))
	node.Ports[port.Number] = &port
	if st.external {
		node.Ports[0] = &fabric.Port{Node: &node, GUID: node.Info.PortGUID, Info: st.Caps}
	}
	return &port
}

// findPeer identifies the peer for a switch port with a link that was down during the scan.
// A node that the scan did not find stays unknown.
func (s *Session) findPeer(ctx context.Context, st *Step) {
	if !st.Port.Node.IsSwitch() || st.to.Route.Hops() >= mad.MaxHops {
		return
	}
	to := umad.Target{Route: st.to.Route.Append(st.Port.Number)}
	var info mad.NodeInfo
	if s.client.Get(ctx, to, &info) != nil {
		return
	}
	n := s.Fabric.NodeByGUID(info.NodeGUID)
	if n == nil {
		n = &fabric.Node{GUID: info.NodeGUID, Info: info, Route: to.Route}
		_ = s.client.Get(ctx, to, &n.Desc) // the name stays unknown
	}
	peer := cmp.Or(n.PortAt(info.LocalPort), &fabric.Port{Node: n, Number: info.LocalPort, GUID: info.PortGUID})
	peer.Peer, st.Port.Peer = st.Port, peer
	st.peerTo = &to
}

// update keeps the graph in step with a change.
func (s *Session) update(st *Step) {
	switch {
	case st.After != nil && st.After.isUp():
		s.graph.set(st.Port, false)
	case st.Outcome.Applied() && (st.After == nil || st.After.Info.State == ib.PortDown):
		s.graph.set(st.Port, true)
	}
}
