package sweep_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/sweep"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// A fixture is a simulated fabric with a sweeper.
type fixture struct {
	*sweep.Sweeper
	sim    *sim.Fabric
	client *umad.Client
}

func begin(t *testing.T, description string) *fixture {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Open("node01")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	limits := counters.Limits{Thresholds: counters.RecommendedThresholds()}
	x := &fixture{sim: f, client: umad.NewClient(p, umad.ClientOptions{Timeout: 500 * time.Millisecond, Attempts: 1})}
	x.Sweeper = sweep.New(x.client, sweep.Options{Counters: limits.WindowOptions()})
	if before, err := x.Scan(t.Context()); err != nil || before != nil {
		t.Fatalf("got fabric %v, error %v", before, err)
	}
	return x
}

// apply applies a command to the simulated fabric, some time after the last pass.
func (x *fixture) apply(t *testing.T, command string) {
	t.Helper()
	time.Sleep(time.Second)
	c, err := x.sim.ParseCommand("test", 1, command)
	if err == nil {
		err = x.sim.Do(c, io.Discard)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (x *fixture) changed(t *testing.T, want bool) (sent int) {
	t.Helper()
	before := x.client.Stats().Sent
	if _, got, err := x.Changed(t.Context()); err != nil || got != want {
		t.Errorf("got changed %v, error %v, want %v", got, err, want)
	}
	return x.client.Stats().Sent - before
}

func (x *fixture) port(t *testing.T, name string, number uint8) *fabric.Port {
	t.Helper()
	for _, n := range x.Fabric().Nodes {
		if n.Desc.String() == name {
			return n.Ports[number]
		}
	}
	t.Fatalf("no node %s", name)
	return nil
}

func TestSweeper_Changed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := begin(t, "demo")
		switches := 0
		for _, n := range x.Fabric().Nodes {
			if n.Switch != nil {
				switches++
			}
		}
		// One request per switch, and a request for the local port.
		if sent := x.changed(t, false); sent != switches+1 {
			t.Errorf("got %d requests, want %d", sent, switches+1)
		}
		for _, command := range []string{"unlink leaf2[1]", "link leaf2[1]", "down node06", "up node06"} {
			t.Log(command)
			x.apply(t, command)
			x.changed(t, true)
			if before, err := x.Scan(t.Context()); err != nil || before == nil {
				t.Errorf("got fabric %v, error %v", before, err)
			}
			x.changed(t, false)
		}
	})
}

// A node that did not respond to the scan is found when it responds.
func TestSweeper_ChangedMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := begin(t, "demo")
		x.apply(t, "hang node06")
		x.changed(t, false) // switches do not notice it
		if _, err := x.Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		x.changed(t, false)
		x.apply(t, "resume node06")
		x.changed(t, true)
	})
}

// A switch without responses is reported once, and once when it responds again.
func TestSweeper_ChangedSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := begin(t, "demo")
		x.apply(t, "hang leaf2")
		x.changed(t, true)
		x.changed(t, false)
		x.apply(t, "resume leaf2")
		x.changed(t, true)
		x.changed(t, false)
	})
}

// A switch without a state table is checked by PortInfo.
func TestSweeper_ChangedWithoutTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := begin(t, "demo")
		p := x.port(t, "leaf2", 0)
		p.Info.CapMask2 = 0
		if sent := x.changed(t, false); sent < int(p.Node.Info.NumPorts) {
			t.Errorf("got %d requests, want one per port of leaf2", sent)
		}
		x.apply(t, "unlink leaf2[1]")
		x.changed(t, true)
	})
}

// Counter windows continue over a scan.
func TestSweeper_Read(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := begin(t, "demo")
		read := func() *counters.Port {
			t.Helper()
			if err := x.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			return x.Port(x.port(t, "leaf2", 1))
		}
		if p := read(); p.Delta() != nil {
			t.Error("got a window after one pass")
		}
		x.apply(t, "counter leaf2[1] SymbolErrorCounter 1000")
		if c, ok := read().Delta().Change(counters.SymbolErrors); !ok || c.Increase == 0 {
			t.Errorf("got change %v, %v", c, ok)
		}
		if _, err := x.Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		x.apply(t, "counter leaf2[1] SymbolErrorCounter 1005")
		if c, ok := read().Delta().Change(counters.SymbolErrors); !ok || c.Increase != 5 {
			t.Errorf("got change %+v, %v after a scan, want 5", c, ok)
		}
		for _, n := range x.Nodes() {
			for _, p := range n.Ports {
				if p.Info == nil || p.Info.State == ib.PortDown && p.Number != 0 {
					t.Errorf("%v port %d was read although it is down", n.Desc, p.Number)
				}
			}
		}
	})
}

// A link that went down between two passes is flapped if it is up in the second pass, also
// if a scan took place in between, and if it went down after the scan.
func TestSweeper_LinkDown(t *testing.T) {
	limits := counters.Limits{Thresholds: counters.RecommendedThresholds()}
	for _, test := range []struct {
		name          string
		before, after []string // the scan
		want          report.Kind
	}{
		{"flap before the scan", []string{"unlink leaf2[3]", "link leaf2[3]"}, nil, report.Flapped},
		{"flap after the scan", nil, []string{"unlink leaf2[3]", "link leaf2[3]"}, report.Flapped},
		{"down after the scan", nil, []string{"unlink leaf2[3]"}, report.Increased},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := begin(t, "demo")
				if err := x.Read(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, command := range test.before {
					x.apply(t, command)
				}
				if _, err := x.Scan(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, command := range test.after {
					x.apply(t, command)
				}
				if err := x.Read(t.Context()); err != nil {
					t.Fatal(err)
				}
				var got []report.Kind
				for _, f := range limits.Findings(x.Port(x.port(t, "leaf2", 3))) {
					if f.Counter == counters.LinkDowned {
						got = append(got, f.Kind)
					}
				}
				if len(got) != 1 || got[0] != test.want {
					t.Errorf("got findings %v, want %v", got, test.want)
				}
			})
		})
	}
}
