package cc

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// A rig is a simulated fabric with a 40-port switch and three hosts.
type rig struct {
	*sim.Fabric
	umadtest.Tamper
	o Options
}

func newRig(t *testing.T) *rig {
	t.Helper()
	f, err := sim.Build("single-switch:hosts=3,radix=40")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Fabric: f}
	r.o = Options{Source: fabric.Source{OpenPort: r.Tamper.Opener(f.Open), Client: umad.ClientOptions{Timeout: time.Millisecond, Attempts: 2}}}
	return r
}

func (r *rig) session(t *testing.T) *Session {
	t.Helper()
	s, err := NewSession(t.Context(), r.o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // of a simulated port
	return s
}

func (r *rig) plan(t *testing.T, settings string) (*Session, *Plan) {
	t.Helper()
	s := r.session(t)
	plan, err := s.Plan(parse(t, settings))
	if err != nil {
		t.Fatal(err)
	}
	return s, plan
}

// apply carries out settings, and returns the outcomes by name.
func (r *rig) apply(t *testing.T, settings string) map[string]outcome.Outcome {
	t.Helper()
	s, plan := r.plan(t, settings)
	if _, err := plan.Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	return outcomes(plan)
}

func outcomes(plan *Plan) map[string]outcome.Outcome {
	all := map[string]outcome.Outcome{}
	for _, st := range plan.Steps {
		all[st.Agent.Port.Node.Desc.Clean()] = st.Outcome
	}
	return all
}

// isSet reports whether a message is a congestion control Set.
func isSet(m *umad.Message) bool {
	return m.MAD.Class() == mad.ClassCC && m.MAD.Method() == mad.MethodSet
}

// Settings are set once, and the second plan is empty.
func TestApply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var sets []string
		r.Lose = func(m *umad.Message) bool {
			if isSet(m) {
				sets = append(sets, m.MAD.Class().AttrName(m.MAD.Attr()))
			}
			return false
		}
		settings := strings.ReplaceAll(example, "leaf*", "switch1") + "[adapter]\nnode = host003\ncct = " + strings.Repeat("0:7,", 99) + "1:9\n"
		settings = strings.Replace(settings, ", 0x0002c90000800100", "", 1)
		for name, got := range r.apply(t, settings) {
			if got != outcome.Changed {
				t.Errorf("%s: got %v", name, got)
			}
		}
		// Adapters first; two blocks of ports do not both change.
		want := []string{
			"CongestionControlTable", "CongestionControlTable", "CongestionControlTable", "CongestionControlTable",
			"CACongestionSetting", "CACongestionSetting", "CACongestionSetting", "SwitchCongestionSetting", "SwitchPortCongestionSetting",
		}
		if !slices.Equal(sets, want) {
			t.Errorf("got Sets %v, want %v", sets, want)
		}
		sets = nil
		s, plan := r.plan(t, settings)
		if len(plan.Steps) != 0 || plan.Same != 4 {
			t.Errorf("second time: got %d steps, %d the same", len(plan.Steps), plan.Same)
		}
		for _, a := range s.Agents {
			if a.Port.Node.Desc.Clean() == "host003" && (len(a.Table) != 100 || a.Table[98].Multiplier != 7 || a.Table[99] != mad.CongestionControlEntry{Shift: 1, Multiplier: 9}) {
				t.Errorf("got table %s", formatTable(a.Table))
			}
			if !a.IsOn() {
				t.Errorf("%s is off", a.Port.Node.Desc.Clean())
			}
		}
	})
}

// A Set selects the fields that change, and has all other values.
func TestApply_OtherFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.apply(t, "[switch]\nthreshold = 15\npacket_size = 8\nmarking_rate = 7\nvictim_mask = 1-3\n[port]\nports=33\ncontrol=congestion\nthreshold = 4\n[sl]\nccti_timer = 9\nccti_increase=2")
		var got []mad.Attribute
		r.Lose = func(m *umad.Message) bool {
			if isSet(m) {
				a := m.MAD.Class().NewAttribute(m.MAD.Attr())
				if err := m.MAD.Decode(a); err != nil {
					t.Error(err)
				}
				got = append(got, a)
			}
			return false
		}
		r.apply(t, "[switch]\nthreshold = 3\n[port]\nports=34\ncontrol=congestion\n[sl]\nnode=host002\nsls = 2\nccti_timer = 8")
		if len(got) != 3 {
			t.Fatalf("got %d Sets, want 3", len(got))
		}
		sl := got[0].(*mad.CACongestionSetting)
		if sl.ControlMap != 1<<2 || sl.SLs[2] != (mad.SLCongestionSetting{Timer: 8, Increase: 2}) || sl.SLs[1].Timer != 9 {
			t.Errorf("got %+v", sl)
		}
		marks := got[1].(*mad.SwitchCongestionSetting)
		if want := (mad.SwitchCongestionSetting{ControlMap: mad.CongestionSetThreshold, Threshold: 3, PacketSize: 8, MarkingRate: 7, VictimMask: mad.PortMask{31: 0xe}}); *marks != want {
			t.Errorf("got %+v, want %+v", marks, want)
		}
		ports := got[2].(*mad.SwitchPortCongestionSetting)
		if ports.Ports[1] != (mad.PortCongestionSetting{Valid: 1, Threshold: 4}) || ports.Ports[2] != (mad.PortCongestionSetting{Valid: 1}) {
			t.Errorf("got %+v", ports.Ports[:4])
		}
	})
}

// A failure on an agent does not stop the others.
func TestApply_Failures(t *testing.T) {
	const settings = "[adapter]\ncct = 0:0,0:1\n[sl]\nccti_timer = 5\n"
	for name, test := range map[string]struct {
		lose    func(m *umad.Message, toHost2 bool, sets int) bool
		alter   func(*umad.Message)
		outcome outcome.Outcome
		failure string
	}{
		"no reply": {
			func(m *umad.Message, toHost2 bool, _ int) bool { return toHost2 && isSet(m) }, nil,
			outcome.NoReply, "no reply in time",
		},
		"silent after the change": {
			func(m *umad.Message, toHost2 bool, sets int) bool { return toHost2 && sets > 0 && !isSet(m) }, nil,
			outcome.Unverified, "no reply in time",
		},
		"rejected": {
			nil, func(m *umad.Message) { m.MAD.SetStatus(mad.StatusBadValue) },
			outcome.Rejected, "invalid value in attribute or attribute modifier",
		},
		"no effect": {
			func(m *umad.Message, toHost2 bool, _ int) bool {
				if toHost2 && isSet(m) && m.MAD.Attr() == mad.AttrCACongestionSetting {
					clear(m.MAD.Data()) // a ControlMap of 0
				}
				return false
			}, nil,
			outcome.NoEffect, "the agent accepted the change, but did not change sl 0-15 ccti_timer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				host2 := r.Node("host002").Ports[1].Info.LID
				sets := 0
				s, plan := r.plan(t, settings)
				r.Lose = func(m *umad.Message) bool {
					toHost2 := m.Addr.LID == host2
					lost := test.lose != nil && test.lose(m, toHost2, sets)
					if isSet(m) {
						sets++
					}
					return lost
				}
				r.Alter = func(m *umad.Message) {
					if test.alter != nil && m.Addr.LID == host2 && m.MAD.Attr() == mad.AttrCongestionControlTable && sets > 0 {
						test.alter(m)
					}
				}
				if err := s.Apply(t.Context(), plan); err != nil {
					t.Fatal(err)
				}
				for _, st := range plan.Steps {
					name := st.Agent.Port.Node.Desc.Clean()
					switch {
					case name != "host002":
						if st.Outcome != outcome.Changed || st.Failure != nil {
							t.Errorf("%s: got %v, %v", name, st.Outcome, st.Failure)
						}
					case st.Outcome != test.outcome || st.Failure == nil || !strings.Contains(st.Failure.Error(), test.failure):
						t.Errorf("%s: got %v, %v, want %v, %s", name, st.Outcome, st.Failure, test.outcome, test.failure)
					}
				}
			})
		})
	}
}

// A reply that is lost does not make a change a failure.
func TestApply_LostReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s, plan := r.plan(t, "[switch]\nthreshold = 3")
		r.Alter = func(m *umad.Message) {
			if m.MAD.Attr() == mad.AttrSwitchCongestionSetting && m.MAD.Data()[3] != 0 {
				r.Alter = nil
				m.MAD.SetTID(0)
			}
		}
		if err := s.Apply(t.Context(), plan); err != nil || plan.Steps[0].Outcome != outcome.Changed {
			t.Errorf("got %v, %v, error %v", plan.Steps[0].Outcome, plan.Steps[0].Failure, err)
		}
	})
}

// An interruption leaves steps that were not attempted, and others that are not verified.
func TestApply_Interrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.o.Source.Client.MaxWindow = 1
		s, plan := r.plan(t, "[sl]\nccti_timer = 5")
		ctx, cancel := context.WithCancel(t.Context())
		r.Lose = func(m *umad.Message) bool {
			if isSet(m) {
				cancel()
			}
			return false
		}
		if err := s.Apply(ctx, plan); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v", err)
		}
		var got []outcome.Outcome
		for _, st := range plan.Steps {
			got = append(got, st.Outcome)
			if !errors.Is(st.Failure, context.Canceled) {
				t.Errorf("got failure %v", st.Failure)
			}
		}
		if want := []outcome.Outcome{outcome.Unverified, outcome.NotAttempted, outcome.NotAttempted}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// Nothing is changed that cannot be recorded.
func TestApply_NoLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.o.Log = func(Entry) error { return errors.New("disk full") }
		s, plan := r.plan(t, "[switch]\nthreshold = 3")
		r.Lose = func(m *umad.Message) bool {
			if isSet(m) {
				t.Error("a Set was sent")
			}
			return false
		}
		if err := s.Apply(t.Context(), plan); err == nil || err.Error() != "write log: disk full" {
			t.Errorf("got error %v", err)
		}
	})
}

// Without the right CC_Key, agents do not reply to a Set.
func TestApply_Key(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s := r.session(t)
		for _, a := range s.Agents {
			if a.IsSwitch() {
				s.send(a, mad.MethodSet, &mad.CongestionKeyInfo{Key: 0x77}, 0, func(err error) {
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
		if err := s.client.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.apply(t, "[switch]\nthreshold = 3"); got["switch1"] != outcome.NoReply {
			t.Errorf("without the key: got %v", got)
		}
		r.o.Key = 0x77
		if got := r.apply(t, "[switch]\nthreshold = 3"); got["switch1"] != outcome.Changed {
			t.Errorf("with the key: got %v", got)
		}
	})
}

func TestPlan_Errors(t *testing.T) {
	for settings, want := range map[string]string{
		"[port]\nports = 41\ncontrol = switch":                    "line 1: ports = 41: the switch has the ports 0 to 40",
		"[adapter]\ncct = " + strings.Repeat("0:1,", 128) + "0:1": "set cct: got 129 entries, the adapter has room for 128",
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, plan := newRig(t).plan(t, settings)
				if _, err := plan.Err(); err == nil || err.Error() != want {
					t.Errorf("got error %v, want %s", err, want)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		_, err := newRig(t).session(t).Plan(parse(t, "\n[sl]\nnode = host*, switch1\nccti_timer=1"))
		if want := `apply [sl] of line 2: no adapter matches "switch1"`; err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	})
}

// Agents that do not reply, or reply with a status, are left out.
func TestFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		host2, host3 := r.Node("host002").Ports[1].Info.LID, r.Node("host003").Ports[1].Info.LID
		r.Alter = func(m *umad.Message) {
			if m.MAD.Class() == mad.ClassCC && m.Addr.LID == host2 {
				m.MAD.SetStatus(mad.StatusBadMethodAttr)
			}
		}
		r.Lose = func(m *umad.Message) bool {
			return m.MAD.Class() == mad.ClassCC && m.Addr.LID == host3 && m.MAD.Attr() == mad.AttrCACongestionSetting
		}
		s, plan := r.plan(t, "[sl]\nccti_timer = 4\nccti_increase = 1\n[adapter]\ncct = 0:0,0:1\n")
		got := map[string]string{}
		for _, a := range s.Agents {
			for _, f := range a.Findings {
				got[a.Port.Node.Desc.Clean()] += string(f.Kind)
			}
			for range a.Failures {
				got[a.Port.Node.Desc.Clean()] += "failure"
			}
		}
		if len(got) != 2 || got["host002"] != string(report.CCMissing) || got["host003"] != "failure" || !s.Partial() {
			t.Errorf("got %v", got)
		}
		if len(plan.Without) != 2 || len(plan.Steps) != 1 || !plan.IsPartial() {
			t.Errorf("got %d steps, %d left out", len(plan.Steps), len(plan.Without))
		}
	})
}

func TestFindings_Differences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		const on = "[adapter]\ncct = 0:0,0:1\n[sl]\nccti_timer = 4\nccti_increase = 1\n"
		r.apply(t, on+"[switch]\nthreshold = 9\n[port]\nports = 5\ncontrol = congestion\nthreshold=0\n")
		r.apply(t, "[sl]\nnode = host003\nsls = 3,4\nccti_timer = 5\n")
		details := func() (all []string) {
			for _, a := range r.session(t).Agents {
				for _, f := range a.Findings {
					all = append(all, a.Port.Node.Desc.Clean()+" "+string(f.Kind)+": "+f.Detail)
				}
			}
			slices.Sort(all)
			return all
		}
		want := []string{
			"host003 setting-differs: sl 3-4 ccti_timer is 5, on most others 4",
			"switch1 congestion-control-off: port 5 has the threshold 0, the switch 9",
		}
		if got := details(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		r.apply(t, "[adapter]\nnode = host003\ncct = 0:0\n[sl]\nnode = host002\nccti_increase=0\n")
		want = []string{
			"host002 congestion-control-off: no service level increases its index into the table: 1 of 3 are on",
			"host003 congestion-control-off: the table has one entry: 1 of 3 are on",
			"switch1 congestion-control-off: port 5 has the threshold 0, the switch 9",
		}
		if got := details(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// A table that an agent cannot have is not accepted.
func TestRead_InvalidTable(t *testing.T) {
	for name, limit := range map[string]byte{"more than any": 0xff, "more than the capacity": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				host2 := r.Node("host002").Ports[1].Info.LID
				r.Alter = func(m *umad.Message) {
					if m.MAD.Attr() == mad.AttrCongestionControlTable && m.MAD.Class() == mad.ClassCC && m.Addr.LID == host2 {
						m.MAD.Data()[0] = limit
						m.MAD.SetStatus(0)
					}
				}
				for _, a := range r.session(t).Agents {
					if a.Port.Node.Desc.Clean() == "host002" && (len(a.Failures) != 1 || !strings.Contains(a.Failures[0].Error(), "invalid CongestionControlTable")) {
						t.Errorf("got failures %v", a.Failures)
					}
				}
			})
		})
	}
}

// Only selected nodes are read.
func TestNewSession_Selected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.o.Selected = func(n *fabric.Node) bool { return n.Desc.Clean() == "host002" }
		if s := r.session(t); len(s.Agents) != 1 {
			t.Errorf("got %d agents, want 1", len(s.Agents))
		}
	})
}
