package ping

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

func TestRun(t *testing.T) {
	for _, agent := range []Agent{AgentServer, AgentSMA, AgentPMA} {
		t.Run(agent.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				testRun(t, agent)
			})
		})
	}
}

// testRun pings a node in a simulated fabric and a LID that no node has.
func testRun(t *testing.T, agent Agent) {
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	port, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	served, err := f.Place("node05")
	if err != nil {
		t.Fatal(err)
	}
	served.Node.PingServer = "a-host"
	targets := []*Target{{Agent: agent, To: umad.Target{LID: served.Info.LID}}, {Agent: agent, To: umad.Target{LID: 0xbff0}}}
	hosts, nodes := 0, 0
	r, err := Run(t.Context(), port, targets, Options{OUI: OUI, Count: 3, Timeout: 20 * time.Millisecond, Done: func(p *Probe) {
		if string(p.Host) == "a-host" {
			hosts++
		}
		if p.Node == served.Node.Info.NodeGUID {
			nodes++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	up, down := targets[0].Stats, targets[1].Stats
	if up.Sent != 3 || up.Received != 3 || up.Loss() != 0 || up.Quantile(99) < up.Min || up.Quantile(99) > up.Max {
		t.Errorf("node: got %+v, want 3 replies", up)
	}
	if down.Sent != 3 || down.Lost != 3 || down.Loss() != 1 || down.Quantile(99) != 0 {
		t.Errorf("unused LID: got %+v, want 3 lost probes", down)
	}
	if r.Total.Sent != 6 || r.Total.Loss() != 0.5 {
		t.Errorf("total: got %+v, want 6 probes and a loss of 0.5", r.Total)
	}
	if agent == AgentServer && hosts != 3 || agent == AgentSMA && nodes != 3 {
		t.Errorf("got %d replies with the host and %d with the node, want 3", hosts, nodes)
	}
}
