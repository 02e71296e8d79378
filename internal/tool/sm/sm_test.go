package sm

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

func demo(t *testing.T) (*sim.Fabric, Options) {
	t.Helper()
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	return f, Options{
		Source:  fabric.Source{OpenPort: f.Opener(""), Client: umad.ClientOptions{Timeout: 50 * time.Millisecond}},
		Wait:    time.Millisecond,
		Resolve: lookup.Options{Simulated: true},
	}
}

// port returns the port with a LID.
func port(t *testing.T, f *sim.Fabric, lid ib.LID) *sim.Port {
	t.Helper()
	for _, n := range f.Nodes {
		for i := range n.Ports {
			if n.Ports[i].Info.LID == lid && n.Info.NodeType == mad.NodeTypeCA {
				return &n.Ports[i]
			}
		}
	}
	t.Fatalf("no adapter has LID %d", lid)
	return nil
}

// kinds returns all findings' kinds.
func kinds(r *Result) []report.Kind {
	var all []report.Kind
	for _, f := range r.Findings {
		all = append(all, f.Kind)
	}
	for _, m := range r.Managers {
		for _, f := range m.Findings {
			all = append(all, f.Kind)
		}
	}
	slices.Sort(all)
	return all
}

func TestRun(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(t *testing.T, f *sim.Fabric)
		managers int
		want     []report.Kind
	}{
		"one master": {func(*testing.T, *sim.Fabric) {}, 1, nil},
		"a standby":  {func(t *testing.T, f *sim.Fabric) { port(t, f, 5).Info.CapMask |= mad.CapSM }, 2, []report.Kind{report.EqualPriority}},
		"two masters": {func(t *testing.T, f *sim.Fabric) {
			p := port(t, f, 5)
			p.Info.CapMask |= mad.CapSM
			p.Info.SMLID = 5
		}, 2, []report.Kind{report.EqualPriority, report.TwoMasters}},
		"no master": {func(t *testing.T, f *sim.Fabric) {
			port(t, f, 4).Info.CapMask &^= mad.CapSM
			port(t, f, 5).Info.CapMask |= mad.CapSM
		}, 1, []report.Kind{report.NoMaster}},
		"another subnet manager": {func(t *testing.T, f *sim.Fabric) { port(t, f, 4).Info.SMLID = 5 }, 1, []report.Kind{report.NoMaster}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, o := demo(t)
				test.change(t, f)
				r, err := Run(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if got := kinds(r); len(r.Managers) != test.managers || !slices.Equal(got, test.want) {
					t.Errorf("got %d managers with %v, want %d with %v; %v", len(r.Managers), got, test.managers, test.want, r.Warnings)
				}
			})
		})
	}
}

// A single-packet reply makes the result partial.
func TestRun_Clipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := demo(t)
		f.NoRMPP = true
		o.Mode = lookup.ModeSA
		for _, n := range f.Nodes {
			if n.Info.NodeType == mad.NodeTypeCA {
				n.Ports[1].Info.CapMask |= mad.CapSM
			}
		}
		r, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Error(), "PortInfoRecords is a single packet") || !r.Report(nil).Partial {
			t.Errorf("got %d managers, warnings %v, want one about a single packet", len(r.Managers), r.Warnings)
		}
	})
}

// Subnet managers' states determine the findings.
func TestCheck(t *testing.T) {
	info := func(state mad.SMState, priority uint8, count uint32) *mad.SMInfo {
		return &mad.SMInfo{State: state, Priority: priority, ActCount: count}
	}
	for name, test := range map[string]struct {
		managers []*Manager
		local    ib.LID
		want     []report.Kind
	}{
		"no manager":       {nil, 0, []report.Kind{report.NoMaster}},
		"master, standby":  {[]*Manager{{Info: info(mad.SMMaster, 5, 1), Later: info(mad.SMMaster, 5, 2)}, {Info: info(mad.SMStandby, 4, 1)}}, 0, nil},
		"hanging standby":  {[]*Manager{{Info: info(mad.SMMaster, 5, 1)}, {Err: umad.ErrTimeout}}, 0, []report.Kind{report.NoReply}},
		"standby vanishes": {[]*Manager{{Info: info(mad.SMMaster, 5, 1)}, {Info: info(mad.SMStandby, 1, 1), Err: umad.ErrTimeout}}, 0, []report.Kind{report.NoReply}},
		"stalled":          {[]*Manager{{Info: info(mad.SMMaster, 5, 1), Later: info(mad.SMMaster, 5, 1)}}, 0, []report.Kind{report.Stalled}},
		"equal, disabled":  {[]*Manager{{Info: info(mad.SMMaster, 5, 1)}, {Info: info(mad.SMNotActive, 5, 1)}}, 0, nil},
		"wrong state":      {[]*Manager{{Info: info(mad.SMMaster, 5, 1)}, {Info: info(mad.SMStandby, 4, 1), Record: info(mad.SMDiscovering, 4, 1)}}, 0, []report.Kind{report.WrongState}},
		"no manager at the port": {[]*Manager{
			{Info: info(mad.SMMaster, 5, 1)}, {Err: mad.StatusError(mad.StatusBadMethodAttr)},
		}, 0, []report.Kind{report.NoManager}},
		"other master": {[]*Manager{{To: umad.Target{LID: 3}, Info: info(mad.SMMaster, 5, 1)}}, 7, []report.Kind{report.OtherMaster}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{result: &Result{Managers: test.managers, Local: umad.PortAttr{SMLID: test.local}}}
			r.check()
			if got := kinds(r.result); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// A target without a subnet manager is no finding, unless it claims to have a manager.
func TestRun_Targets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := demo(t)
		port(t, f, 6).Info.CapMask |= mad.CapSM
		a, err := lookup.Parse("4-7")
		if err != nil {
			t.Fatal(err)
		}
		o.Targets = []lookup.Address{a}
		r, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Managers) != 2 || len(r.Without) != 2 || len(kinds(r)) != 0 {
			t.Errorf("got %d managers, %d ports without one, findings %v; want 2, 2, none", len(r.Managers), len(r.Without), kinds(r))
		}
	})
}

// Only Apply sends a Set.
func TestRun_GetsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, o := demo(t)
		o.Source.Client.Trace = func(e umad.Event) {
			if e.Kind == umad.EventSent && e.Method == mad.MethodSet {
				t.Errorf("got %v", e)
			}
		}
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	})
}
