package ping_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// Pings the subnet management agents of two nodes in a simulated fabric.
func ExampleRun() {
	simulated, err := sim.Build("demo")
	if err != nil {
		log.Fatal(err)
	}
	port, err := simulated.Open("node01")
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()
	var targets []*ping.Target
	for _, name := range []string{"node02", "node03"} {
		to := umad.Target{LID: simulated.Node(name).Ports[1].Info.LID}
		targets = append(targets, &ping.Target{Name: name, Agent: ping.AgentSMA, To: to})
	}
	if _, err := ping.Run(context.Background(), port, targets, ping.Options{Count: 3}); err != nil {
		log.Fatal(err)
	}
	for _, t := range targets {
		fmt.Printf("%s: %d of %d probes were answered\n", t.Name, t.Stats.Received, t.Stats.Sent)
	}
	// Output:
	// node02: 3 of 3 probes were answered
	// node03: 3 of 3 probes were answered
}
