//go:build oracle

package scripts

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestIbsim runs the scripts that look at simulated fabrics. They have these commands
// beside testscript's:
//
//	ibsim FILE [option...]         start ibsim on a net file for the rest of the script
//	serve FABRIC [option...]       start ibkit's own simulator instead
//	console COMMAND                run a command on ibsim's console
//	opensm HOST                    configure the subnet once
//	ctool HOST TOOL [argument...]  run a C tool; look at its output with stdout
//	code N COMMAND [argument...]   run a command and check its exit code
//
// $NETS is the net file directory.
func TestIbsim(t *testing.T) {
	nets, err := filepath.Abs("../nets")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/ibsim",
		Setup: func(env *testscript.Env) error {
			env.Setenv("NETS", nets)
			env.Values[simKey{}] = &simSlot{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":    code,
			"ibsim":   withArgs(1, "ibsim FILE [option...]", startIbsim),
			"serve":   withArgs(1, "serve FABRIC [option...]", serve),
			"console": withArgs(1, "console COMMAND", console),
			"opensm":  withArgs(1, "opensm HOST", opensm),
			"ctool":   withArgs(2, "ctool HOST TOOL [argument...]", ctool),
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// A script keeps its simulator in a simSlot, under simKey.
type (
	simKey  struct{}
	simSlot struct{ sim *ibsimtest.Sim }
)

func simOf(ts *testscript.TestScript) *ibsimtest.Sim {
	sim := ts.Value(simKey{}).(*simSlot).sim
	if sim == nil {
		ts.Fatalf("no simulator: start one with ibsim FILE or serve FABRIC")
	}
	return sim
}

// withArgs makes a script command that takes at least n arguments and cannot be negated.
func withArgs(n int, usage string, f func(*testscript.TestScript, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < n {
			ts.Fatalf("usage: %s", usage)
		}
		f(ts, args)
	}
}

func startIbsim(ts *testscript.TestScript, args []string) {
	sim, err := ibsimtest.Start(ts.MkAbs(args[0]), args[1:]...)
	ts.Check(err)
	attach(ts, sim)
}

func console(ts *testscript.TestScript, args []string) {
	_, err := simOf(ts).Command(strings.Join(args, " "))
	ts.Check(err)
}

func opensm(ts *testscript.TestScript, args []string) {
	ts.Check(simOf(ts).ConfigureSubnet(context.Background(), args[0]))
}

func ctool(ts *testscript.TestScript, args []string) {
	// The files that a script names are in its own directory.
	for i := range args[2:] {
		if strings.HasPrefix(args[i+2], "./") {
			args[i+2] = ts.MkAbs(args[i+2])
		}
	}
	r, err := simOf(ts).RunC(context.Background(), args[0], args[1], args[2:]...)
	ts.Check(err)
	_, err = io.WriteString(ts.Stdout(), r.Stdout)
	ts.Check(err)
	if r.Code != 0 {
		ts.Fatalf("%v: got exit code %d, want 0: %s", args[1:], r.Code, r.Stderr)
	}
}
