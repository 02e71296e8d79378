package cmdtest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/sim/serve"
)

// A servedFabric is a simulated fabric behind ibsim's sockets.
type servedFabric struct {
	name string
	LIDs map[string]string // of nodes
}

// ServeDemo serves the fabric demo for the duration of a test.
func ServeDemo(t *testing.T) *servedFabric {
	t.Helper()
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	s := &servedFabric{name: fmt.Sprintf("cmd-%d-%s", os.Getpid(), t.Name()), LIDs: map[string]string{}}
	for _, node := range []string{"node05", "node07"} {
		p, err := f.Place(node)
		if err != nil {
			t.Fatal(err)
		}
		s.LIDs[node] = fmt.Sprint(p.Info.LID)
	}
	server, err := serve.Listen(f, serve.Options{SockName: s.name})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// Env returns the environment of a program at a node, with more in it.
func (s *servedFabric) Env(node string, more ...string) map[string]string {
	env := map[string]string{"IBKIT_SIM": "ibsim", "IBSIM_SOCKNAME": s.name, "SIM_HOST": node}
	for i := 0; i < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return env
}
