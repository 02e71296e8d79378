package sm

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// A rig is a simulated fabric with a master at LID 4, a standby manager at LID 5, and a port
// that may lose or change messages.
type rig struct {
	*sim.Fabric
	umadtest.Tamper
	o Options
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{}
	r.Fabric, r.o = demo(t)
	port(t, r.Fabric, 5).Info.CapMask |= mad.CapSM
	r.o.Source.OpenPort = r.Tamper.Opener(r.Fabric.Open)
	r.o.Limit = 10 * time.Second
	return r
}

// plan plans an operation for the manager at a LID.
func (r *rig) plan(t *testing.T, operation Operation, target string) (*Session, *Plan) {
	t.Helper()
	a, err := lookup.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	r.o.Targets = []lookup.Address{a}
	s, err := NewSession(t.Context(), r.o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // of a simulated port
	p, err := s.Plan(t.Context(), Change{Operation: operation, State: operation.Sender()})
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// apply plans and carries out an operation.
func (r *rig) apply(t *testing.T, operation Operation, target string) *Plan {
	t.Helper()
	s, p := r.plan(t, operation, target)
	if err := s.Apply(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p
}

// isSet reports whether a message is an SMInfo Set, or the reply to it.
func isSet(m *umad.Message) bool { return m.MAD.Attr() == mad.AttrSMInfo && m.MAD.Modifier() != 0 }

// check compares the outcome and the state after the change.
func check(t *testing.T, p *Plan, want outcome.Outcome, after mad.SMState) {
	t.Helper()
	if p.Outcome != want || p.After == nil || p.After.State != after || (p.Failure == nil) != want.Good() {
		t.Errorf("got %v, %+v, failure %v, want %v, %v", p.Outcome, p.After, p.Failure, want, after)
	}
}

func TestPlan_Risks(t *testing.T) {
	manager := func(s mad.SMState) *Manager { return &Manager{Info: &mad.SMInfo{State: s}} }
	master, standby, disabled := manager(mad.SMMaster), manager(mad.SMStandby), manager(mad.SMNotActive)
	silent := &Manager{Err: umad.ErrTimeout}
	for name, test := range map[string]struct {
		operation Operation
		target    *Manager
		others    []*Manager
		want      []Risk
	}{
		"only master":              {Disable, master, nil, []Risk{OnlyManager}},
		"only standby":             {Disable, standby, nil, []Risk{OnlyManager}},
		"others cannot take over":  {Disable, master, []*Manager{disabled, silent}, []Risk{OnlyManager}},
		"master, with a standby":   {Disable, master, []*Manager{standby}, []Risk{MasterLeaves}},
		"standby of a master":      {Disable, standby, []*Manager{master}, nil},
		"one of two masters":       {Disable, master, []*Manager{master}, nil},
		"standby of the master":    {Standby, master, []*Manager{standby}, []Risk{MasterLeaves}},
		"standby of a disabled":    {Standby, disabled, nil, nil},
		"discovery of the master":  {Discover, master, nil, []Risk{OnlyManager}},
		"discovery of the standby": {Discover, standby, nil, nil},
		"acknowledge":              {Acknowledge, master, []*Manager{standby}, []Risk{MasterLeaves}},
		"handover with a master":   {Handover, standby, []*Manager{master}, []Risk{SecondMaster}},
		"handover without one":     {Handover, standby, []*Manager{standby}, nil},
		"not needed":               {Handover, master, []*Manager{master}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := &Plan{Operation: test.operation, Manager: test.target, Others: test.others}
			p.addRisks()
			if !slices.Equal(p.Risks, test.want) || len(p.NotForced(test.want)) != 0 {
				t.Errorf("got %v, want %v", p.Risks, test.want)
			}
		})
	}
}

// The request states the sender that managers accept, with the master's GUID, which a
// standby manager polls.
func TestPlan_Request(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		_, p := r.plan(t, Standby, "5")
		if p.Request.State != mad.SMMaster || p.Request.GUID != port(t, r.Fabric, 4).GUID || len(p.Others) != 1 {
			t.Errorf("got %+v, %d other managers, want the master at LID 4", p.Request, len(p.Others))
		}
		_, p = r.plan(t, Standby, "4")
		if local := p.Request.GUID; local != port(t, r.Fabric, 4).GUID {
			t.Errorf("without another master: got GUID %v, want that of the local port", local)
		}
	})
}

func TestPlan_NoManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		for target, want := range map[string]error{"6": mad.StatusError(mad.StatusBadMethodAttr), "4000": umad.ErrTimeout} {
			a, err := lookup.Parse(target)
			if err != nil {
				t.Fatal(err)
			}
			r.o.Targets = []lookup.Address{a}
			s, err := NewSession(t.Context(), r.o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Plan(t.Context(), Change{Operation: Disable}); !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", target, err, want)
			}
			_ = s.Close() // of a simulated port
		}
	})
}

func TestApply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		for _, step := range []struct {
			name      string
			operation Operation
			target    string
			outcome   outcome.Outcome
			after     mad.SMState
		}{
			{"disable", Disable, "5", outcome.Changed, mad.SMNotActive},
			{"again", Disable, "5", outcome.Unneeded, mad.SMNotActive},
			{"rejected", Handover, "5", outcome.Rejected, mad.SMNotActive},
			{"standby", Standby, "5", outcome.Changed, mad.SMStandby},
			{"master rejects", Disable, "4", outcome.Rejected, mad.SMMaster},
			{"handover", Handover, "5", outcome.Changed, mad.SMMaster},
			{"the former master", Disable, "4", outcome.Changed, mad.SMNotActive},
		} {
			t.Log(step.name)
			var entries []bool
			r.o.Log = func(e Entry) error {
				entries = append(entries, e.Ended)
				return nil
			}
			check(t, r.apply(t, step.operation, step.target), step.outcome, step.after)
			if want := []bool{false, true}; step.outcome != outcome.Unneeded && !slices.Equal(entries, want) {
				t.Errorf("log: got %v, want %v", entries, want)
			}
		}
	})
}

// An agent that accepts an operation without effect is read until the time limit.
func TestApply_NoEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Alter = func(m *umad.Message) {
			if isSet(m) {
				m.MAD.SetStatus(0)
			}
		}
		p := r.apply(t, Disable, "4")
		check(t, p, outcome.NoEffect, mad.SMMaster)
		if p.Elapsed < r.o.Limit {
			t.Errorf("got result after %v, want at least %v", p.Elapsed, r.o.Limit)
		}
		r.Alter = nil
		check(t, r.apply(t, Discover, "5"), outcome.Unverified, mad.SMStandby)
	})
}

// A manager that takes some time to change its state is changed.
func TestApply_Slow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var sent time.Time
		r.Alter = func(m *umad.Message) {
			var info mad.SMInfo
			switch {
			case m.MAD.Attr() != mad.AttrSMInfo:
			case isSet(m):
				sent = time.Now()
			case !sent.IsZero() && time.Since(sent) < 5*time.Second && m.MAD.Decode(&info) == nil:
				info.State = mad.SMStandby
				_ = mad.Encode(&info, m.MAD.Data()) // which had an SMInfo
			}
		}
		p := r.apply(t, Disable, "5")
		check(t, p, outcome.Changed, mad.SMNotActive)
		if p.Elapsed < 5*time.Second || p.Elapsed > 6*time.Second {
			t.Errorf("got result after %v, want 5 s", p.Elapsed)
		}
	})
}

// A lost request, a lost reply, and a manager that does not reply any more.
func TestApply_Lost(t *testing.T) {
	for name, test := range map[string]struct {
		lose    func(m *umad.Message, sets int) bool
		outcome outcome.Outcome
	}{
		"request": {func(m *umad.Message, _ int) bool { return isSet(m) }, outcome.NoReply},
		"silence": {func(_ *umad.Message, sets int) bool { return sets > 1 }, outcome.Unverified},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				sets := 0
				r.Lose = func(m *umad.Message) bool {
					if isSet(m) || sets > 0 {
						sets++
					}
					return test.lose(m, sets)
				}
				if p := r.apply(t, Disable, "5"); p.Outcome != test.outcome || p.Failure == nil {
					t.Errorf("got %v, %v, want %v", p.Outcome, p.Failure, test.outcome)
				}
			})
		})
	}
}

// A state that has changed since the plan may have other risks: the request is not sent.
func TestApply_StateChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s, p := r.plan(t, Disable, "5")
		port(t, r.Fabric, 5).Info.SMLID = 5
		r.Lose = failOnSet(t)
		if err := s.Apply(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		check(t, p, outcome.Failed, mad.SMMaster)
	})
}

// The manager's LID may belong to another port after the plan.
func TestApply_OtherPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s, p := r.plan(t, Disable, "5")
		port(t, r.Fabric, 5).GUID = ib.GUID(7)
		r.Lose = failOnSet(t)
		if err := s.Apply(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if p.Outcome != outcome.Failed || !isWrongPort(p.Failure) {
			t.Errorf("got %v, %v, want %v because of another port", p.Outcome, p.Failure, outcome.Failed)
		}
	})
}

// Another port's state is not the manager's, also after a rejected operation.
func TestApply_OtherPortAfterRejection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s, p := r.plan(t, Disable, "4")
		r.Alter = func(m *umad.Message) {
			if isSet(m) {
				port(t, r.Fabric, 4).GUID = ib.GUID(7)
			}
		}
		if err := s.Apply(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if p.Outcome != outcome.Rejected || p.After != nil {
			t.Errorf("got %v, %+v, want %v and no state", p.Outcome, p.After, outcome.Rejected)
		}
	})
}

// An operation that cannot be recorded is not sent.
func TestApply_LogFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		full := errors.New("no space left")
		r.o.Log = func(Entry) error { return full }
		s, p := r.plan(t, Disable, "5")
		r.Lose = failOnSet(t)
		if err := s.Apply(t.Context(), p); !errors.Is(err, full) || p.Outcome != outcome.NotAttempted {
			t.Errorf("got %v, %v, want %v", err, p.Outcome, full)
		}
	})
}

func failOnSet(t *testing.T) func(*umad.Message) bool {
	return func(m *umad.Message) bool {
		if isSet(m) {
			t.Errorf("got a Set of SMInfo, want none")
		}
		return false
	}
}

func isWrongPort(err error) bool {
	_, ok := errors.AsType[*umad.WrongPortError](err)
	return ok
}
