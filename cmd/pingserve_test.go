package cmd

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
)

// A node has at most one server. A second server reports an error.
func TestPingServeTwice(t *testing.T) {
	f := cmdtest.ServeDemo(t)
	r := program.Start(f.Env("node05"), "ping", "--serve")
	r.ErrOut.Await(t, "serving pings")
	for _, args := range [][]string{{"ping", "--serve"}, {"ibping", "-S"}} {
		want := map[string]int{"ping": cmdutil.ExitFailed, "ibping": getopt.ExitFailure}[args[0]]
		code, out, err := program.Run(t, f.Env("node05"), args...)
		if code != want || out != "" || !strings.Contains(err, "or the node has a responder") {
			t.Errorf("%q: exit code %d: %s%s", args, code, out, err)
		}
	}
	r.End()
}
