// Package scripts tests command lines with scripts that contain commands and their
// expected output, in a txtar archive in testdata for each subject.
package scripts

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ibkit/ibkit/cmd"
	"github.com/ibkit/ibkit/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.SetEtc(testenv.NoEtc)
	main := func() { os.Exit(cmd.Main()) }
	// Most commands wait for replies, not for a processor.
	testenv.SetParallel(8)
	testscript.Main(m, map[string]func(){
		"ibkit":      main,
		"iblinkinfo": main,
	})
}

// TestPlain runs the scripts that need no fabric.
func TestPlain(t *testing.T) {
	dir, err := filepath.Abs("testdata/plain")
	if err != nil {
		t.Fatal(err)
	}
	startSignals()
	var current *testing.T
	testscript.RunT(serialT{t, &current}, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			env.Setenv(testenv.Etc, testenv.NoEtc)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": func(ts *testscript.TestScript, neg bool, args []string) {
			if len(args) > 1 && isSimulated(ts, args[0], args[1:]) {
				checkCode(ts, args, runInBubble(current, ts, args[1:]))
				return
			}
			code(ts, neg, args)
		}},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// code runs a command and checks its exit code: code 2 ibkit --no-such-flag. stdout and
// stderr check its output, as after exec.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command [argument...]")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	checkCode(ts, args, got)
}

// checkCode compares an exit code with the first argument to code.
func checkCode(ts *testscript.TestScript, args []string, got int) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got != want {
		ts.Fatalf("%v: got exit code %d, want %d", args[1:], got, want)
	}
}
