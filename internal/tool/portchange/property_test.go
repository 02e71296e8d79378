package portchange

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// Random case counts for TestApply_Random: by default, and with [testenv.AllCases].
const (
	someCases = 800
	allCases  = 12000
)

// A randomCase is a random fabric, with ports that are disabled while cables move and
// messages are lost.
type randomCase struct {
	*rand.Rand
	*sim.Fabric
	tamper umadtest.Tamper
	hosts  int
}

// newRandomCase builds a switch tree with hosts and some more cables.
func newRandomCase(t *testing.T, seed uint64) *randomCase {
	t.Helper()
	c := &randomCase{Rand: rand.New(rand.NewPCG(seed, 1))}
	const ports = 8
	switches := 1 + c.IntN(5)
	c.hosts = 2 + c.IntN(4)
	var net strings.Builder
	for i := range switches {
		fmt.Fprintf(&net, "Switch %d \"s%d\"\n\n", ports, i)
	}
	for i := range c.hosts {
		fmt.Fprintf(&net, "Hca 1 \"h%d\"\n\n", i)
	}
	f, err := sim.ParseNet(strings.NewReader(net.String()), "random")
	if err != nil {
		t.Fatal(err)
	}
	c.Fabric = f
	for i := 1; i < switches; i++ {
		c.connect(c.free(fmt.Sprintf("s%d", i)), c.free(fmt.Sprintf("s%d", c.IntN(i))))
	}
	for i := range c.hosts {
		c.connect(&f.Node(fmt.Sprintf("h%d", i)).Ports[1], c.free(fmt.Sprintf("s%d", c.IntN(switches))))
	}
	for range c.IntN(4) {
		c.connect(c.free(fmt.Sprintf("s%d", c.IntN(switches))), c.free(fmt.Sprintf("s%d", c.IntN(switches))))
	}
	if err := f.Configure(); err != nil {
		t.Fatal(err)
	}
	return c
}

// connect connects two ports, if there are two.
func (c *randomCase) connect(a, b *sim.Port) {
	if a != nil && b != nil && a != b {
		_ = c.Connect(a, b) // a port that is connected keeps its cable
	}
}

// free returns a switch port without a cable, or nil.
func (c *randomCase) free(name string) *sim.Port {
	n := c.Node(name)
	for i := range n.Ports {
		if p := &n.Ports[i]; p.Number > 0 && p.Peer == nil {
			return p
		}
	}
	return nil
}

// connected returns all ports with a cable.
func (c *randomCase) connected() []*sim.Port {
	var all []*sim.Port
	for _, n := range c.Nodes {
		for i := range n.Ports {
			if n.Ports[i].Peer != nil {
				all = append(all, &n.Ports[i])
			}
		}
	}
	return all
}

// disabled returns the disabled ports' names.
func (c *randomCase) disabled() []string {
	var names []string
	for _, n := range c.Nodes {
		for i := range n.Ports {
			if p := &n.Ports[i]; p.Info.PhysState == ib.PhysDisabled {
				names = append(names, fmt.Sprintf("%s %d", n.ID, p.Number))
			}
		}
	}
	return names
}

// fault moves cables, or loses messages from now on.
func (c *randomCase) fault() {
	// A port that loses its cable is not disabled any more.
	all := slices.DeleteFunc(c.connected(), func(p *sim.Port) bool {
		return p.Info.PhysState == ib.PhysDisabled || p.Peer.Info.PhysState == ib.PhysDisabled
	})
	switch c.IntN(4) {
	case 0: // exchange two cables' ends
		if len(all) < 2 {
			return
		}
		a, b := all[c.IntN(len(all))], all[c.IntN(len(all))]
		far, other := a.Peer, b.Peer
		if far == b || a == b {
			return
		}
		c.Disconnect(a)
		c.Disconnect(b)
		c.connect(a, other)
		c.connect(b, far)
	case 1: // unplug a cable
		if len(all) > 0 {
			c.Disconnect(all[c.IntN(len(all))])
		}
	case 2:
		lost := c.Float64() / 2
		c.tamper.Lose = func(*umad.Message) bool { return c.Float64() < lost }
	}
}

// TestApply_Random disables random ports in random fabrics, while cables move and messages
// are lost between the steps: the ports that are disabled in the end are exactly the ports
// that are reported as changed.
func TestApply_Random(t *testing.T) {
	for seed := range uint64(testenv.Rounds(someCases, allCases)) {
		synctest.Test(t, func(t *testing.T) { disableRandomPorts(t, seed) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func disableRandomPorts(t *testing.T, seed uint64) {
	c := newRandomCase(t, seed)
	s, err := NewSession(t.Context(), Options{
		Source:  fabric.Source{OpenPort: c.tamper.Opener(func(string) (umad.Port, error) { return c.Open(fmt.Sprintf("h%d", c.IntN(c.hosts))) }), Client: umad.ClientOptions{Timeout: 10 * time.Millisecond, Attempts: 2}},
		Resolve: lookup.Options{Simulated: true}, Wait: time.Second,
	})
	if err != nil {
		return // the local port has no link
	}
	defer s.Close()
	var targets []Target
	for range 1 + c.IntN(5) {
		all := c.connected()
		p := all[c.IntN(len(all))]
		if s.Fabric.NodeByGUID(p.Node.Info.NodeGUID) == nil {
			continue
		}
		address, err := lookup.Parse("guid:" + p.Node.Info.NodeGUID.String())
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, Target{Address: address, Number: int(p.Number)})
	}
	before := c.disabled()
	plan, err := s.Plan(t.Context(), Change{Action: Disable}, targets)
	if err != nil || plan.Err() != nil {
		if plan != nil && plan.CutOff {
			checkOrder(t, s, plan)
		}
		checkDisabled(t, c, before, nil, nil)
		return
	}
	c.fault()
	_ = s.Apply(t.Context(), plan, func(*Step) { c.fault() }) // the outcomes have the errors
	var changed, unknown []string
	for _, st := range plan.Steps {
		name := fmt.Sprintf("%s %d", c.nameOf(st.Port.Node), st.Port.Number)
		switch {
		case st.Outcome == outcome.Unverified:
			unknown = append(unknown, name)
		case st.Outcome == outcome.Changed:
			changed = append(changed, name)
		}
	}
	checkDisabled(t, c, before, changed, unknown)
}

func (c *randomCase) nameOf(n *fabric.Node) string {
	for _, simulated := range c.Nodes {
		if simulated.Info.NodeGUID == n.GUID {
			return simulated.ID
		}
	}
	return n.GUID.String()
}

// checkDisabled compares the ports that are disabled with the ports reported as changed.
// Ports that are reported as unverified may be disabled.
func checkDisabled(t *testing.T, c *randomCase, before, changed, unknown []string) {
	t.Helper()
	now := c.disabled()
	for _, name := range now {
		if !slices.Contains(before, name) && !slices.Contains(changed, name) && !slices.Contains(unknown, name) {
			t.Errorf("%s is disabled, and not reported as changed: got %q", name, changed)
		}
	}
	for _, name := range changed {
		if !slices.Contains(now, name) {
			t.Errorf("%s is reported as changed, and is not disabled", name)
		}
	}
}

// checkOrder checks that a plan's proposed order reaches each port.
func checkOrder(t *testing.T, s *Session, plan *Plan) {
	t.Helper()
	g := s.graph.clone()
	for _, st := range plan.Order {
		if _, ok := g.route(st.Port); !ok {
			t.Errorf("port %d of 0x%016x cannot be reached in the proposed order", st.Port.Number, uint64(st.Port.Node.GUID))
		}
		g.set(st.Port, true)
	}
}

// TestPlan_CutOff is a plan that disables a switch's links, and then a port behind them.
func TestPlan_CutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.o.Source.OpenPort = r.Tamper.Opener(func(string) (umad.Port, error) { return r.Open("node02") })
		_, plan := r.plan(t, "disable", "leaf1 1", "leaf1 2", "leaf2 1")
		last := plan.Steps[2]
		if !plan.CutOff || !errors.Is(last.Err, errCutOff) || last.Before == nil || last.Before.Info.State != ib.PortActive {
			t.Errorf("got error %v, state %+v, want %v, and the state of leaf2[1]", last.Err, last.Before, errCutOff)
		}
		var order []string
		for _, st := range plan.Order {
			order = append(order, fmt.Sprintf("%s %d", st.Port.Node.Desc.Clean(), st.Port.Number))
		}
		if want := []string{"leaf1 1", "leaf2 1", "leaf1 2"}; !slices.Equal(order, want) {
			t.Errorf("got order %q, want %q", order, want)
		}
		_, plan = r.plan(t, "disable", "spine1 4", "spine2 4", "node16 1")
		if last := plan.Steps[2]; !errors.Is(last.Err, errCutOff) {
			t.Errorf("node16 behind leaf4: got %v, want %v", last.Err, errCutOff)
		}
	})
}

// TestApply_WrongPort moves a host's cable to another host after the plan: the port that is
// there now is not changed.
func TestApply_WrongPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s, plan := r.plan(t, "disable", "node16")
		a, b := r.port("node16", 1), r.port("node15", 1)
		far, other := a.Peer, b.Peer
		r.Disconnect(a)
		r.Disconnect(b)
		for _, ends := range [][2]*sim.Port{{a, other}, {b, far}} {
			if err := r.Connect(ends[0], ends[1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Apply(t.Context(), plan, nil); err != nil {
			t.Fatal(err)
		}
		st := plan.Steps[0]
		if st.Outcome != outcome.Failed || !strings.Contains(fmt.Sprint(st.Failure), "another port is at") {
			t.Errorf("got %v, %v, want %v because of another port", st.Outcome, st.Failure, outcome.Failed)
		}
		for _, p := range []*sim.Port{a, b} {
			if p.Info.PhysState == ib.PhysDisabled {
				t.Errorf("%v is disabled", p)
			}
		}
	})
}

// TestApply_WrongPortAtSet exchanges the cables right before the Set, after the port was read
// again: NodeInfo is read once more before each Set.
func TestApply_WrongPortAtSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s, plan := r.plan(t, "disable", "node16")
		a, b := r.port("node16", 1), r.port("node15", 1)
		nodeInfos := 0
		r.Lose = func(m *umad.Message) bool {
			if m.MAD.Attr() == mad.AttrNodeInfo {
				if nodeInfos++; nodeInfos == 2 {
					far, other := a.Peer, b.Peer
					r.Disconnect(a)
					r.Disconnect(b)
					_, _ = r.Connect(a, other), r.Connect(b, far)
				}
			}
			return false
		}
		if err := s.Apply(t.Context(), plan, nil); err != nil {
			t.Fatal(err)
		}
		if st := plan.Steps[0]; st.Outcome != outcome.Failed || b.Info.PhysState == ib.PhysDisabled || a.Info.PhysState == ib.PhysDisabled {
			t.Errorf("got %v, %v, states %v and %v", st.Outcome, st.Failure, a.Info.PhysState, b.Info.PhysState)
		}
	})
}
