//go:build oracle

package scripts

import (
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// serve starts ibkit's own simulator for the rest of the script: serve FABRIC [option...].
func serve(ts *testscript.TestScript, args []string) {
	// The command that scripts know as ibkit comes first in their PATH.
	dir, _, _ := strings.Cut(ts.Getenv("PATH"), string(filepath.ListSeparator))
	for i := range args {
		if strings.HasPrefix(args[i], "./") {
			args[i] = ts.MkAbs(args[i])
		}
	}
	sim, err := ibsimtest.StartServer(filepath.Join(dir, "ibkit"), append([]string{"sim", "serve"}, args...)...)
	ts.Check(err)
	attach(ts, sim)
}

// attach makes a simulator the script's.
func attach(ts *testscript.TestScript, sim *ibsimtest.Sim) {
	ts.Defer(func() { ts.Check(sim.Stop()) })
	ts.Value(simKey{}).(*simSlot).sim = sim
	for _, v := range append(sim.Env(), "IBKIT_SIM=ibsim") {
		name, value, _ := strings.Cut(v, "=")
		ts.Setenv(name, value)
	}
}
