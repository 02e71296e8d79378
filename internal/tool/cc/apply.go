package cc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// An Entry is an event for the change log: a change that begins, or that has ended.
type Entry struct {
	Step  *Step
	Ended bool
}

// phases are the Sets in their order: adapters can slow down before switches mark packets.
var phases = []func(*Step) []set{(*Step).tables, (*Step).adapter, (*Step).switches, (*Step).ports}

// Apply carries out a plan's steps, many at the same time, reads the agents again and
// compares them. A failure on an agent does not stop the others. The steps have the
// outcomes. The error comes from the log or ctx: a step that was not attempted before has
// not changed.
func (s *Session) Apply(ctx context.Context, plan *Plan) error {
	for _, st := range plan.Steps {
		if err := s.log(Entry{Step: st}); err != nil {
			return err
		}
	}
	err := s.set(ctx, plan)
	if err == nil {
		err = s.readBack(ctx, plan)
	}
	var logged error
	for _, st := range plan.Steps {
		st.judge(err)
		logged = cmp.Or(logged, s.log(Entry{Step: st, Ended: true}))
	}
	return errors.Join(err, logged)
}

func (s *Session) log(e Entry) error {
	if s.Log == nil {
		return nil
	}
	if err := s.Log(e); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	return nil
}

// set sends the Sets, a phase after the other. An agent that fails has no Sets in later
// phases.
func (s *Session) set(ctx context.Context, plan *Plan) error {
	for _, sets := range phases {
		for _, st := range plan.Steps {
			if st.lost != nil || st.failed != nil {
				continue
			}
			for _, one := range sets(st) {
				s.submit(st, one)
			}
		}
		if err := s.client.Run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// submit submits a Set.
func (s *Session) submit(st *Step, one set) {
	s.send(st.Agent, mad.MethodSet, one.attr, one.modifier, func(err error) {
		if failed, ok := errors.AsType[*umad.Error](err); !ok || failed.Attempts > 0 {
			st.attempt = true
		}
		if errors.Is(err, umad.ErrTimeout) {
			st.lost = cmp.Or(st.lost, err)
		} else {
			st.failed = cmp.Or(st.failed, err)
		}
	})
}

// readBack reads the agents to which a Set was sent.
func (s *Session) readBack(ctx context.Context, plan *Plan) error {
	for _, st := range plan.Steps {
		if st.attempt {
			st.After = &State{}
			s.readState(st.Agent, st.After, func(err error) { st.silent = cmp.Or(st.silent, err) })
		}
	}
	return s.client.Run(ctx)
}

// judge determines the outcome. ended is the error that ended the change early, or nil.
func (st *Step) judge(ended error) {
	if st.After != nil && !st.After.isComplete() {
		st.After = nil
	}
	var missing []Edit
	if st.After != nil {
		missing = difference(st.After.elements(kinds), st.want.elements(kinds))
	}
	var status mad.StatusError
	switch {
	case !st.attempt && ended != nil:
		st.Outcome, st.Failure = outcome.NotAttempted, ended
	case !st.attempt:
		st.Outcome, st.Failure = outcome.Failed, st.failed
	case errors.As(st.failed, &status):
		st.Outcome, st.Failure = outcome.Rejected, st.failed
	case st.After != nil && len(missing) == 0:
		st.Outcome = outcome.Changed
	case st.lost != nil && st.After != nil:
		st.Outcome, st.Failure = outcome.NoReply, st.lost
	case st.After != nil:
		var names []string
		for _, e := range missing {
			names = append(names, e.Name)
		}
		st.Outcome, st.Failure = outcome.NoEffect, fmt.Errorf("the agent accepted the change, but did not change %s", strings.Join(names, ", "))
	default:
		st.Outcome, st.Failure = outcome.Unverified, cmp.Or(st.silent, st.failed, st.lost, ended)
	}
}
