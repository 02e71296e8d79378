package sm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// An Entry is an event for the change log: a change that begins, or that has ended.
type Entry struct {
	Plan  *Plan
	Ended bool
}

// Apply sends a plan's operation, and reads SMInfo until the manager is in the wanted state
// or the time limit ends. The plan has the outcome. The error comes from the log, or from
// ctx before the change.
func (s *Session) Apply(ctx context.Context, p *Plan) error {
	start := time.Now()
	defer func() { p.Elapsed = time.Since(start) }()
	now, err := s.info(ctx, p)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		p.Outcome, p.Failure = outcome.Failed, err
		return nil
	case now.State == p.Operation.LeadsTo():
		p.Outcome, p.After = outcome.Unneeded, now
		return nil
	case now.State != p.Manager.Info.State: // may have other risks
		p.Outcome, p.After = outcome.Failed, now
		p.Failure = fmt.Errorf("the state has changed since the plan: got %v, want %v", now.State, p.Manager.Info.State)
		return nil
	}
	if err := s.log(p, false); err != nil {
		return err
	}
	var status mad.StatusError
	switch err := s.set(ctx, p); {
	case err == nil || errors.Is(err, umad.ErrTimeout):
		s.verify(ctx, p, err)
	case errors.As(err, &status):
		p.Outcome, p.Failure = outcome.Rejected, err
		p.After, _ = s.info(ctx, p) // nil: not known
	default:
		p.Outcome, p.Failure = outcome.Failed, err
	}
	return s.log(p, true)
}

func (s *Session) log(p *Plan, ended bool) error {
	if s.Log == nil {
		return nil
	}
	if err := s.Log(Entry{p, ended}); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	return nil
}

// set sends the operation.
func (s *Session) set(ctx context.Context, p *Plan) error {
	request := p.Request // the reply does not belong to the plan
	return s.Client.Set(ctx, p.Manager.To, &request, umad.Modifier(uint32(p.Operation)), umad.Expect(p.identity()))
}

// identity returns the manager's port in the plan.
func (p *Plan) identity() umad.Identity { return umad.IdentityOf(p.Manager.Node, 0) }

// info reads the manager's NodeInfo and SMInfo.
func (s *Session) info(ctx context.Context, p *Plan) (*mad.SMInfo, error) {
	node, info := new(mad.NodeInfo), new(mad.SMInfo)
	for _, a := range []mad.Attribute{node, info} {
		if err := s.Client.Get(ctx, p.Manager.To, a); err != nil {
			return nil, err
		}
	}
	if err := p.identity().Check(p.Manager.To, node); err != nil {
		return nil, err
	}
	return info, nil
}

// verify reads the manager until it is in the wanted state, or until it is too late. lost
// is the error for a Set without a reply, or nil.
func (s *Session) verify(ctx context.Context, p *Plan, lost error) {
	before := p.Manager.Info.State
	var silent error
	achieved := false
	outcome.Await(ctx, s.Limit, func() bool {
		var now *mad.SMInfo
		if now, silent = s.info(ctx, p); silent != nil {
			_, other := errors.AsType[*umad.WrongPortError](silent)
			return other
		}
		p.After = now
		achieved = p.Operation.achieved(before, now.State)
		return achieved
	})
	switch {
	case achieved:
		p.Outcome = outcome.Changed
	case ctx.Err() != nil:
		p.Outcome, p.Failure = outcome.Unverified, ctx.Err()
	case silent != nil:
		p.Outcome, p.Failure = outcome.Unverified, silent
	case lost != nil:
		p.Outcome, p.Failure = outcome.NoReply, lost
	case p.Operation == Discover:
		p.Outcome, p.Failure = outcome.Unverified, fmt.Errorf("the manager accepted the operation and is %v: the discovery may have ended before it was seen", p.After.State)
	default:
		p.Outcome, p.Failure = outcome.NoEffect, fmt.Errorf("the manager accepted the operation, but is %v after %v", p.After.State, s.Limit)
	}
}
