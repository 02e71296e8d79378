package sim

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/sim/serve"
)

// TestSimServe_Running starts a second server of a name.
func TestSimServe_Running(t *testing.T) {
	name := fmt.Sprintf("TestSimServe-%d", os.Getpid())
	f, err := sim.Build("single-switch")
	if err != nil {
		t.Fatal(err)
	}
	server, err := serve.Listen(f, serve.Options{SockName: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ended, end := context.WithCancel(context.Background())
		end()
		if err := server.Serve(ended); err != nil {
			t.Error(err)
		}
	})
	const hint = "hint: another server runs: use it, or select another --name"
	code, out, errOut := program.Run(t, nil, "sim", "serve", "--name", name, "single-switch")
	if code != cmdutil.ExitFailed || out != "" || !strings.Contains(errOut, hint) {
		t.Errorf("got exit code %d, %q, %q, want %d and %q", code, out, errOut, cmdutil.ExitFailed, hint)
	}
}
