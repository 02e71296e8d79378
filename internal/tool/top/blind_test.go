package top

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/sweep"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// A blind scan does not replace the layout from an earlier scan, and is repeated until the
// link is up. Nodes that left are missing until they return.
func TestSampler_Blind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		simulated, err := sim.Build("demo")
		if err != nil {
			t.Fatal(err)
		}
		port, err := simulated.Open("node01")
		if err != nil {
			t.Fatal(err)
		}
		defer port.Close()
		client := umad.NewClient(port, umad.ClientOptions{Timeout: 50 * time.Millisecond, Attempts: 1})
		s := &sampler{Options: Options{Rescan: time.Hour}, client: client, sweeper: sweep.New(client, sweep.Options{})}
		if err := s.scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			command string
			err     error
			nodes   int
			missing string
		}{
			{"unlink leaf2[4]", nil, 21, "node06"},
			{"unlink leaf1[3]", fabric.ErrLinkDown, 21, "node06"},
			{"describe node05 other", fabric.ErrLinkDown, 21, "node06"},
			{"link leaf1[3]", nil, 21, "node06"},
			{"link leaf2[4]", nil, 22, ""},
		} {
			c, err := simulated.ParseCommand("command", 1, step.command)
			if err == nil {
				err = simulated.Do(c, io.Discard)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.update(t.Context()); !errors.Is(err, step.err) {
				t.Errorf("%s: got error %v, want %v", step.command, err, step.err)
			}
			missing := ""
			for _, m := range s.layout.Missing {
				missing += m.Name
			}
			if nodes := len(s.layout.Nodes); nodes != step.nodes || missing != step.missing {
				t.Errorf("%s: got %d nodes, missing %q, want %d and %q", step.command, nodes, missing, step.nodes, step.missing)
			}
		}
	})
}
