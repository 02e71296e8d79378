package portchange

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// A rig is a simulated fabric, and a port in it that may lose or change messages.
type rig struct {
	*sim.Fabric
	umadtest.Tamper
	o Options
}

// newRig builds a fabric: spine1 and spine2 with links to leaf1 to leaf4, which have four
// hosts each. The local node is node01 at leaf1[3], with the subnet manager.
func newRig(t *testing.T) *rig {
	t.Helper()
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Fabric: f}
	r.o = Options{
		Source:  fabric.Source{OpenPort: r.Tamper.Opener(func(name string) (umad.Port, error) { return r.Fabric.Open(name) }), Client: umad.ClientOptions{Timeout: time.Millisecond, Attempts: 2}},
		Resolve: lookup.Options{Simulated: true},
		Wait:    20 * time.Millisecond,
	}
	return r
}

// port returns a simulator port.
func (r *rig) port(node string, number uint8) *sim.Port { return &r.Node(node).Ports[number] }

// isSet reports whether a message is a Set or the reply to it: replies have the request's
// modifier, which has this bit in a Set.
func isSet(m *umad.Message) bool {
	return m.MAD.Method() == mad.MethodSet || m.MAD.Attr() == mad.AttrPortInfo && m.MAD.Modifier()&supportsExtendedSpeeds != 0
}

// target parses "leaf1 3", or a node's name for its only port.
func target(t *testing.T, text string) Target {
	t.Helper()
	name, number, hasNumber := strings.Cut(text, " ")
	a, err := lookup.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Address: a, Number: AddressedPort}
	if hasNumber {
		target.Number = int(number[0] - '0')
	}
	return target
}

// plan plans a change such as "disable" for ports such as "leaf1 3".
func (r *rig) plan(t *testing.T, change string, ports ...string) (*Session, *Plan) {
	t.Helper()
	s, err := NewSession(t.Context(), r.o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // of a simulated port
	c, err := ParseChange(strings.Fields(change))
	if err != nil {
		t.Fatal(err)
	}
	var targets []Target
	for _, p := range ports {
		targets = append(targets, target(t, p))
	}
	plan, err := s.Plan(t.Context(), c, targets)
	if err != nil {
		t.Fatal(err)
	}
	return s, plan
}

// apply plans and carries out a change.
func (r *rig) apply(t *testing.T, change string, ports ...string) *Plan {
	t.Helper()
	s, plan := r.plan(t, change, ports...)
	if err := plan.Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), plan, nil); err != nil {
		t.Fatal(err)
	}
	return plan
}

// activate makes the simulated links active when the links change, as a subnet manager
// does.
func (r *rig) activate() {
	r.Alter = func(m *umad.Message) {
		for _, n := range r.Nodes {
			for i := range n.Ports {
				if p := &n.Ports[i]; p.Info.State == ib.PortInit || p.Info.State == ib.PortArmed {
					p.Info.State = ib.PortActive
				}
			}
		}
	}
}

func TestApply(t *testing.T) {
	for _, test := range []struct {
		before       func(*rig)
		change, port string
		outcome      outcome.Outcome
		state        ib.PortState
		phys         ib.PhysState
	}{
		{nil, "disable", "leaf2 1", outcome.Changed, ib.PortDown, ib.PhysDisabled},
		{nil, "disable", "leaf1 4", outcome.Changed, ib.PortDown, ib.PhysDisabled},
		{(*rig).disabled, "disable", "leaf2 1", outcome.Unneeded, ib.PortDown, ib.PhysDisabled},
		{(*rig).disabled, "enable", "leaf2 1", outcome.Changed, ib.PortActive, ib.PhysLinkUp},
		{(*rig).disabled, "enable width=4X", "leaf2 1", outcome.Changed, ib.PortActive, ib.PhysLinkUp},
		{(*rig).disabled, "reset", "leaf2 1", outcome.Changed, ib.PortActive, ib.PhysLinkUp},
		{(*rig).activate, "enable", "leaf2 1", outcome.Unneeded, ib.PortActive, ib.PhysLinkUp},
		{(*rig).activate, "reset", "leaf2 1", outcome.Changed, ib.PortActive, ib.PhysLinkUp},
		{(*rig).activate, "down", "leaf2 1", outcome.Changed, ib.PortActive, ib.PhysLinkUp},
		{(*rig).withoutManager, "reset", "leaf2 1", outcome.NotActive, ib.PortInit, ib.PhysLinkUp},
		{nil, "reset", "leaf2 1", outcome.Changed, ib.PortActive, ib.PhysLinkUp},
		{nil, "reset", "leaf1 9", outcome.NotUp, ib.PortDown, ib.PhysPolling},
		{nil, "down", "leaf1 9", outcome.NotUp, ib.PortDown, ib.PhysPolling},
		{nil, "arm", "leaf2 1", outcome.Changed, ib.PortArmed, ib.PhysLinkUp},
		{(*rig).initialized, "arm", "leaf2 1", outcome.Changed, ib.PortArmed, ib.PhysLinkUp},
		{nil, "active", "leaf2 1", outcome.Unneeded, ib.PortActive, ib.PhysLinkUp},
		{nil, "mtu=2048 vls=2", "leaf2 1", outcome.Changed, ib.PortActive, ib.PhysLinkUp},
		{nil, "mtu=4096", "leaf2 1", outcome.Unneeded, ib.PortActive, ib.PhysLinkUp},
		{(*rig).activate, "espeed=FDR,EDR speed=all width=1X,2X reset", "leaf2 1", outcome.Changed, ib.PortActive, ib.PhysLinkUp},
		{nil, "lid=76 smlid=5 lmc=2 mkeylease=9 mkeyprot=1", "node02", outcome.Changed, ib.PortActive, ib.PhysLinkUp},
		{nil, "lid=78", "leaf2 0", outcome.Changed, ib.PortActive, ib.PhysLinkUp},
	} {
		t.Run(test.change+" "+test.port, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				if test.before != nil {
					test.before(r)
				}
				st := r.apply(t, test.change, test.port).Steps[0]
				if st.Outcome != test.outcome || st.After == nil || st.After.Info.State != test.state || st.After.Info.PhysState != test.phys {
					t.Errorf("got %v, %v, %+v", st.Outcome, st.Failure, st.After)
				}
				if (st.Failure == nil) != st.Outcome.Good() {
					t.Errorf("%v: got failure %v", st.Outcome, st.Failure)
				}
			})
		})
	}
}

// disabled disables the port, and activates links that come up.
func (r *rig) disabled() {
	r.port("leaf2", 1).Info.PhysState, r.port("leaf2", 1).Info.State = ib.PhysDisabled, ib.PortDown
	peer := r.port("leaf2", 1).Peer
	peer.Info.PhysState, peer.Info.State = ib.PhysPolling, ib.PortDown
	r.activate()
}

// withoutManager keeps the link from being activated.
func (r *rig) withoutManager() {
	r.Alter = func(*umad.Message) { r.initialized() }
}

func (r *rig) initialized() { r.port("leaf2", 1).Info.State = ib.PortInit }

// A setting change keeps all other PortInfo fields, and the reserved bits.
func TestApply_OtherFields(t *testing.T) {
	fill := func(p *sim.Port) {
		i := &p.Info
		i.DiagCode, i.HOQLife, i.VLStallCount, i.VLHighLimit = 3, 17, 5, 99
		i.LocalPhysErrors, i.OverrunErrors, i.LinkDownDefault = 7, 9, mad.LinkDownSleep
		i.PartEnforceInbound, i.PartEnforceOutbound, i.MKeyViolations = 1, 1, 12
		i.NeighborMTU, i.OperVLs, i.SubnetTimeout, i.ClientReregister = ib.MTU2048, ib.VLs2, 17, 1
		i.LinkWidthEnabled, i.LinkSpeedEnabled, i.LinkSpeedExtEnabled = ib.Width4X, 5, 6
		if p.Number == 0 || !p.Node.IsSwitch() {
			i.GIDPrefix, i.SMSL, i.MKeyLeasePeriod, i.LMC = 0x1122, 3, 60, 1
		}
	}
	for _, port := range []string{"leaf2 1", "node02 1", "leaf2 0"} {
		for _, change := range []string{"speed=SDR", "espeed=HDR", "espeed=none", "width=all", "mtu=1024", "vls=4", "lid=98", "smlid=6", "lmc=0", "mkey=0x5", "mkeylease=1", "mkeyprot=2"} {
			t.Run(port+" "+change, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, err := ParseChange([]string{change})
					if err != nil {
						t.Fatal(err)
					}
					if c.values[0].managed && port == "leaf2 1" {
						return
					}
					r := newRig(t)
					name, number, _ := strings.Cut(port, " ")
					p := r.port(name, number[0]-'0')
					fill(p)
					want := p.Info
					r.apply(t, change, port)
					got := &Status{Info: p.Info}
					got.Caps = &got.Info
					if change != "espeed=none" && c.values[0].get(got) != c.values[0].v && c.values[0].v != everything {
						t.Errorf("%s: got %d", change, c.values[0].get(got))
					}
					// The changed fields, and the command in ClientReregister, which agents
					// with LIDs have carried out.
					if c.values[0].Name == "espeed" {
						got.Info.LinkSpeedExtEnabled = want.LinkSpeedExtEnabled
					} else {
						c.values[0].put(got, c.values[0].get(&Status{Info: want, Caps: &want}))
					}
					if p.Number == 0 || !p.Node.IsSwitch() {
						want.ClientReregister = 0
					}
					if d := cmp.Diff(want, got.Info); d != "" {
						t.Errorf("before (-), after (+)\n%s", d)
					}
				})
			})
		}
	}
}

// Reserved bits in the data go back to the agent as they were read.
func TestApply_ReservedBits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var sent []byte
		r.Alter = func(m *umad.Message) {
			if m.MAD.Attr() == mad.AttrPortInfo && m.MAD.Method() == mad.MethodGetResp {
				m.MAD.Data()[34] |= 0x18
			}
		}
		r.Lose = func(m *umad.Message) bool {
			if m.MAD.Method() == mad.MethodSet {
				sent = append([]byte(nil), m.MAD.Data()...)
			}
			return false
		}
		r.apply(t, "mtu=1024", "leaf2 1")
		if sent == nil || sent[34]&0x18 != 0x18 {
			t.Errorf("got data % x", sent)
		}
	})
}

func TestPlan_Risks(t *testing.T) {
	for _, test := range []struct {
		change, ports string
		risks         []Risk
		cut, paused   int // nodes
	}{
		{"disable", "leaf2 1", nil, 0, 0},
		{"reset", "leaf2 1", nil, 0, 0},
		{"disable", "leaf2 1,leaf2 2", []Risk{OwnLink, LastLink}, 5, 0},
		{"disable", "leaf1 4", []Risk{LastLink}, 1, 0},
		{"reset", "leaf1 4", []Risk{LastLink}, 0, 1},
		{"reset", "leaf1 9", nil, 0, 0},
		{"disable", "leaf1 9", nil, 0, 0},
		{"reset", "node02", []Risk{OwnLink, LastLink}, 0, 1},
		{"disable", "node02", []Risk{OwnLink, LastLink}, 1, 0},
		{"disable", "leaf1 3", []Risk{OwnLink, SMLink, LastLink}, 21, 0},
		{"disable", "node01", []Risk{OwnLink, SMLink, LastLink}, 21, 0},
		{"down", "node01", []Risk{OwnLink, SMLink, LastLink}, 0, 21},
		{"reset", "leaf1 3", []Risk{OwnLink, SMLink, LastLink}, 0, 21},
		{"espeed=none speed=SDR", "leaf2 1", nil, 0, 0},
		{"arm", "leaf2 1", nil, 0, 0},
		{"arm", "leaf1 3", []Risk{OwnLink, SMLink, LastLink}, 21, 0},
		{"enable", "leaf1 4", nil, 0, 0},
		{"mtu=256", "leaf1 4", []Risk{Mismatch}, 0, 0},
		{"mtu=256", "leaf1 9", nil, 0, 0},
		{"vls=1", "leaf1 4", []Risk{Mismatch}, 0, 0},
		{"lid=77", "node01", []Risk{OwnLID, SMLID}, 0, 0},
		{"lid=77", "node02", []Risk{PortLID}, 0, 0},
		{"lid=77", "leaf2 0", []Risk{PortLID}, 0, 0},
		{"lid=77 smlid=9", "node01", []Risk{OwnLID, SMLID, SAAccess}, 0, 0},
		{"smlid=9", "node02", []Risk{SAAccess}, 0, 0},
		{"mkey=0x1234", "node02", []Risk{MKey}, 0, 0},
		{"mkeyprot=1", "leaf2 0", []Risk{MKey}, 0, 0},
	} {
		t.Run(test.change+" "+test.ports, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				_, plan := r.plan(t, test.change, strings.Split(test.ports, ",")...)
				last := plan.Steps[len(plan.Steps)-1]
				if got := plan.NotForced(nil); !slices.Equal(got, test.risks) || len(last.CutsOff) != test.cut || len(last.Interrupts) != test.paused {
					t.Errorf("got %v, %d cut off, %d interrupted, want %v, %d, %d", got, len(last.CutsOff), len(last.Interrupts), test.risks, test.cut, test.paused)
				}
				if len(plan.NotForced(test.risks)) > 0 {
					t.Errorf("got %v in spite of a force", plan.NotForced(test.risks))
				}
			})
		})
	}
}

// Ends without a common speed cannot train.
func TestPlan_NoCommonRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		peer := r.port("leaf1", 4).Peer
		peer.Enable(peer.Info.LinkWidthSupported, ib.NDR)
		_, plan := r.plan(t, "espeed=EDR reset", "leaf1 4")
		if got := plan.NotForced(nil); !slices.Equal(got, []Risk{LastLink}) || len(plan.Steps[0].CutsOff) != 1 {
			t.Errorf("got %v, %d nodes", got, len(plan.Steps[0].CutsOff))
		}
	})
}

// Requests go around the link that is changed.
func TestPlan_Route(t *testing.T) {
	for port, want := range map[string]string{
		"spine1 1": "0,1,2,2,1", // spine1 by leaf2 rather than by its port 1
		"leaf2 1":  "0,1,2,2",
		"leaf1 3":  "0,1",
		"node02":   "0,1,4",
		"node01":   "0",
	} {
		t.Run(port, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, plan := newRig(t).plan(t, "reset", port)
				if got := plan.Steps[0].to.Route.String(); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		})
	}
}

// A link is changed once, at a switch.
func TestPlan_OncePerLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, plan := newRig(t).plan(t, "reset", "node02", "leaf1 4", "leaf1 4", "leaf1 1", "spine1 1")
		var got []string
		for _, st := range plan.Steps {
			got = append(got, st.Port.Node.Desc.Clean())
		}
		if want := []string{"leaf1", "leaf1"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestPlan_Errors(t *testing.T) {
	for _, test := range []struct{ change, port, want string }{
		{"lid=5", "leaf2 1", "set lid: of the ports of a switch, only port 0 has it"},
		{"fdr10=on", "leaf2 1", "set fdr10: the port does not support FDR10"},
		{"espeed=XDR", "leaf2 1", "set espeed: the port does not support XDR"},
		{"width=12X", "leaf2 1", "set width: the port does not support 12X"},
		{"disable", "leaf2 0", "disable port 0: the management port of a switch has no link"},
		{"active", "leaf1 9", "set state of the port to Active: it is Down"},
		{"vls=15", "leaf2 1", "set vls: got 15, but the port supports at most 4"},
		{"lid=1", "node02", "set LIDs: LID 1 belongs to spine1[0]"},
		{"lid=1", "leaf2 0", "set LIDs: LID 1 belongs to spine1[0]"},
		{"lmc=7", "node02", "set LIDs: 5 is not a multiple of 128, the number of LIDs"},
		{"lid=77 lmc=2", "node02", "set LIDs: 77 is not a multiple of 4, the number of LIDs"},
	} {
		t.Run(test.change, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, plan := newRig(t).plan(t, test.change, test.port)
				if err := plan.Err(); err == nil || err.Error() != test.want {
					t.Errorf("got error %v, want %s", err, test.want)
				}
			})
		})
	}
	for port, want := range map[string]string{
		"leaf2":    "find leaf2: the address of a switch requires a port number",
		"node* 1":  "find node*: several nodes have this address",
		"node9":    "no node has this name",
		"node02 2": "find node02[2]: the ports of node02 have the numbers 1 to 1",
	} {
		t.Run(port, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				s, err := NewSession(t.Context(), r.o)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				if _, err = s.Plan(t.Context(), Change{Action: Reset}, []Target{target(t, port)}); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got error %v, want %s", err, want)
				}
			})
		})
	}
}

// An M_Key that the port shows is compared before a request; a hidden M_Key is noticed by
// the missing reply.
func TestApply_MKey(t *testing.T) {
	for name, test := range map[string]struct {
		protect uint8
		key     mad.Key
		err     error
		outcome outcome.Outcome
	}{
		"right key":              {0, 7, nil, outcome.Changed},
		"visible key, wrong one": {0, 0, ErrMKey, outcome.NotAttempted},
		"hidden key, right one":  {1, 7, nil, outcome.Changed},
		"hidden key, wrong one":  {1, 8, nil, outcome.NoReply},
		"no reply without key":   {2, 0, umad.ErrTimeout, outcome.NotAttempted},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.o.Source.Client.MKey = test.key
				s, err := NewSession(t.Context(), r.o)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				p0 := r.port("leaf2", 0)
				p0.Info.MKey, p0.Info.MKeyProtect = 7, test.protect
				plan, err := s.Plan(t.Context(), Change{Action: Disable}, []Target{target(t, "leaf2 1")})
				if err != nil {
					t.Fatal(err)
				}
				if !errors.Is(plan.Err(), test.err) {
					t.Fatalf("got error %v, want %v", plan.Err(), test.err)
				}
				if plan.Err() != nil {
					return
				}
				if err := s.Apply(t.Context(), plan, nil); err != nil {
					t.Fatal(err)
				}
				if st := plan.Steps[0]; st.Outcome != test.outcome {
					t.Errorf("got %v, %v, want %v", st.Outcome, st.Failure, test.outcome)
				}
			})
		})
	}
}

// Agents and networks that fail have an outcome each.
func TestApply_Failures(t *testing.T) {
	answered := false
	for name, test := range map[string]struct {
		lose    func(*umad.Message) bool
		alter   func(*umad.Message)
		outcome outcome.Outcome
		failure string
	}{
		"rejected": {nil, func(m *umad.Message) {
			if isSet(m) {
				m.MAD.SetStatus(mad.StatusBadValue)
			}
		}, outcome.Rejected, "invalid value in attribute or attribute modifier"},
		"no effect": {nil, func(m *umad.Message) {
			if m.MAD.Attr() == mad.AttrPortInfo {
				m.MAD.Data()[33] = 5<<4 | 2 // LinkUp
			}
		}, outcome.NoEffect, "the agent accepted the change, but the port is Down/LinkUp"},
		"lost request": {isSet, nil, outcome.NoReply, "no reply in time"},
		"silent after the change": {func(m *umad.Message) bool {
			silent := answered
			answered = answered || isSet(m)
			return silent
		}, nil, outcome.Unverified, "no reply in time"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				s, plan := r.plan(t, "disable", "leaf2 1")
				answered = false
				r.Lose, r.Alter = test.lose, test.alter
				if err := s.Apply(t.Context(), plan, nil); err != nil {
					t.Fatal(err)
				}
				st := plan.Steps[0]
				if st.Outcome != test.outcome || st.Failure == nil || !strings.Contains(st.Failure.Error(), test.failure) {
					t.Errorf("got %v, %v, want %v, %s", st.Outcome, st.Failure, test.outcome, test.failure)
				}
			})
		})
	}
}

// A reply that is lost does not make a change a failure.
func TestApply_LostReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s, plan := r.plan(t, "disable", "leaf2 1")
		r.Alter = func(m *umad.Message) {
			if isSet(m) {
				m.MAD.SetTID(0)
			}
		}
		if err := s.Apply(t.Context(), plan, nil); err != nil || plan.Steps[0].Outcome != outcome.Changed {
			t.Errorf("got %v, %v, error %v", plan.Steps[0].Outcome, plan.Steps[0].Failure, err)
		}
	})
}

// A plan ends at the first failure, or when it is interrupted; the log has all changes.
func TestApply_Several(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var log []string
		r.o.Log = func(e Entry) error {
			log = append(log, map[bool]string{true: "end ", false: "begin "}[e.Ended]+e.Step.Port.Node.Desc.Clean())
			return nil
		}
		r.Lose = func(m *umad.Message) bool { return isSet(m) && m.MAD.Modifier()&0xff == 2 }
		plan := r.apply(t, "disable", "leaf2 1", "leaf3 2", "leaf4 1")
		var got []outcome.Outcome
		for _, st := range plan.Steps {
			got = append(got, st.Outcome)
		}
		if want := []outcome.Outcome{outcome.Changed, outcome.NoReply, outcome.NotAttempted}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if want := []string{"begin leaf2", "end leaf2", "begin leaf3", "end leaf3"}; !slices.Equal(log, want) {
			t.Errorf("log: got %q, want %q", log, want)
		}
		if r.port("leaf4", 1).Info.PhysState == ib.PhysDisabled {
			t.Error("a port after the failure was changed")
		}
	})
}

func TestApply_Interrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s, plan := r.plan(t, "disable", "leaf2 1", "leaf3 1")
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Apply(ctx, plan, func(*Step) { cancel() })
		if !errors.Is(err, context.Canceled) || plan.Steps[0].Outcome != outcome.Changed || plan.Steps[1].Outcome != outcome.NotAttempted {
			t.Errorf("got %v, %v, error %v", plan.Steps[0].Outcome, plan.Steps[1].Outcome, err)
		}
	})
}

// A change that cannot be recorded is not made.
func TestApply_NoLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.o.Log = func(Entry) error { return errors.New("disk full") }
		s, plan := r.plan(t, "disable", "leaf2 1")
		if err := s.Apply(t.Context(), plan, nil); err == nil || err.Error() != "write log: disk full" {
			t.Errorf("got error %v", err)
		}
		if r.port("leaf2", 1).Info.PhysState == ib.PhysDisabled {
			t.Error("the port was changed")
		}
	})
}

// A scan of a node and its neighbours finds the same link as a full scan.
func TestShow(t *testing.T) {
	for text, want := range map[string]string{
		"leaf1 1": "spine1 1 narrow", "leaf1 3": "node01 1", "node01": "leaf1 3", "node07": "leaf2 5 slow", "leaf1 9": "", "8 5": "node07 1 slow",
	} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				links, err := Show(t.Context(), newRig(t).o, target(t, text))
				if err != nil || len(links) != 1 {
					t.Fatalf("got %d links, error %v, want 1", len(links), err)
				}
				l, got := links[0], ""
				if l.Peer != nil {
					p := l.Peer.Port
					got = p.Node.Desc.Clean() + " " + string(rune('0'+p.Number))
				}
				for _, f := range l.End.Findings {
					got += " " + string(f.Kind)
				}
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
	for text, want := range map[string]string{"leaf1 0": "", "40 1": "", "nosuch 1": "no node has this name"} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := Show(t.Context(), newRig(t).o, target(t, text))
				if text == "leaf1 0" {
					if err != nil {
						t.Errorf("got error %v", err)
					}
				} else if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got error %v, want %q", err, want)
				}
			})
		})
	}
}

// TestShow_Switch checks that a switch without a port number stands for all of its ports.
func TestShow_Switch(t *testing.T) {
	for _, text := range []string{"leaf1", "3"} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				links, err := Show(t.Context(), newRig(t).o, target(t, text))
				if err != nil {
					t.Fatal(err)
				}
				for i, l := range links {
					if int(l.Port.Number) != i+1 || l.Port.Info == nil || (l.Peer == nil) != (l.Port.Peer == nil) {
						t.Errorf("port %d: got port %d, PortInfo %v, peer %v", i+1, l.Port.Number, l.Port.Info, l.Peer)
					}
				}
				if want := int(links[0].Port.Node.Info.NumPorts); len(links) != want {
					t.Errorf("got %d ports, want %d", len(links), want)
				}
			})
		})
	}
}

func TestParseChange(t *testing.T) {
	for text, want := range map[string]string{
		"disable":                     "disable",
		"RESET speed=sdr,qdr":         "reset speed=SDR,QDR",
		"espeed=xdr,ndr":              "espeed=NDR,XDR",
		"espeed=NONE fdr10=off":       "espeed=none fdr10=off",
		"width=4x,1X mtu=2048 vls=8":  "width=1X,4X mtu=2048 vls=8",
		"width=all espeed=all":        "width=all espeed=all",
		"lid=0x10 smlid=1 lmc=7":      "lid=16 smlid=1 lmc=7",
		"mkey=0xdead mkeylease=65535": "mkey=*** mkeylease=65535",
		"nosuch":                      `error: unknown action "nosuch": want one of enable, disable, reset, down, arm, active, or SETTING=VALUE`,
		"enable disable":              "error: enable and disable are mutually exclusive",
		"disable disable":             "error: disable is given twice",
		"mtu=1 mtu=2":                 `error: invalid mtu "1": want 256, 512, 1024, 2048 or 4096`,
		"mtu=256 mtu=512":             "error: mtu is given twice",
		"speed=HDR":                   "espeed=HDR",
		"speed=qdr speed=ndr,hdr":     "speed=QDR espeed=HDR,NDR",
		"speed=NDR espeed=HDR":        "error: espeed is given twice",
		"speed=QDR,NDR":               `error: invalid speed "QDR,NDR": want two settings: speed=QDR espeed=NDR`,
		"speed=400":                   `error: invalid speed "400": want a list of SDR, DDR, QDR, or all`,
		"width=4":                     "width=4X",
		"width=1,12X":                 "width=1X,12X",
		"width=3":                     `error: invalid width "3": want a list of 1X, 2X, 4X, 8X, 12X, or all`,
		"espeed=":                     `error: invalid espeed "": want a list of FDR, EDR, HDR, NDR, XDR, or all`,
		"width=3X":                    `error: invalid width "3X": want a list of 1X, 2X, 4X, 8X, 12X, or all`,
		"vls=3":                       `error: invalid vls "3": want 1, 2, 4, 8 or 15 data lanes`,
		"lid=49152":                   `error: invalid lid "49152": want a LID from 1 to 49151`,
		"mkey=secret":                 "error: invalid mkey: want a number of 64 bits",
		"lmc=8":                       `error: invalid lmc "8": want a number from 0 to 7`,
		"color=red":                   `error: unknown setting "color": want one of speed, espeed, fdr10, width, mtu, vls, lid, smlid, lmc, mkey, mkeylease, mkeyprot`,
	} {
		t.Run(text, func(t *testing.T) {
			c, err := ParseChange(strings.Fields(text))
			got := c.String()
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Extended speeds are two fields of PortInfo, and FDR10 another attribute.
func TestApply_Speeds(t *testing.T) {
	const old = ib.SDR | ib.DDR | ib.QDR
	for _, test := range []struct {
		port, change string
		want         ib.Speed // of the link
		enabled      ib.Speed
	}{
		{"xdr-leaf 3", "espeed=all reset", ib.XDR, old | extendedSpeeds},
		{"xdr-leaf 3", "espeed=NDR reset", ib.NDR, old | ib.NDR},
		{"xdr-leaf 3", "espeed=XDR reset", ib.XDR, old | ib.XDR},
		{"xdr-leaf 3", "espeed=none speed=SDR,DDR reset", ib.DDR, ib.SDR | ib.DDR},
		{"fdr10-leaf 1", "fdr10=off reset", ib.QDR, old},
		{"fdr10-leaf 1", "fdr10=on reset", ib.FDR10, old | ib.FDR10},
		{"hdr-leaf 3", "espeed=FDR,EDR width=1X,2X reset", ib.EDR, old | ib.FDR | ib.EDR},
	} {
		t.Run(test.port+" "+test.change, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				f, err := sim.Build("mixed")
				if err != nil {
					t.Fatal(err)
				}
				r.Fabric = f
				r.activate()
				st := r.apply(t, test.change, test.port).Steps[0]
				if st.Outcome != outcome.Changed || st.After.ActiveSpeed() != test.want || st.After.Info.EnabledSpeeds(st.After.Caps, st.After.Ext) != test.enabled {
					t.Errorf("got %v, %v, %v with %v enabled", st.Outcome, st.Failure, st.After.ActiveSpeed(), st.After.Info.EnabledSpeeds(st.After.Caps, st.After.Ext))
				}
			})
		})
	}
}
