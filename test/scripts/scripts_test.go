// Package scripts tests command lines with scripts of commands and their expected
// output, one txtar archive in testdata for each subject.
package scripts

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ibkit/ibkit/cmd"
	"github.com/ibkit/ibkit/internal/testenv"
)

func TestMain(m *testing.M) {
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
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/plain",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"code": code},
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
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%v: got exit code %d, want %d", args[1:], got, want)
	}
}
