package scripts

import (
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ibkit/ibkit/cmd"
)

// serialT runs scripts in sequence, and knows the current script's test: commands on
// simulated fabrics run in the test process, which has a single working directory.
type serialT struct {
	*testing.T
	current **testing.T
}

func (serialT) Parallel()     {}
func (serialT) Verbose() bool { return testing.Verbose() }

func (s serialT) Run(name string, script func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) {
		*s.current = t
		script(serialT{t, s.current})
	})
}

// isSimulated reports whether a command line, with the exit code that it is to have, runs in
// simulated time: it needs a simulated fabric only, or is a mistake, and does not wait for input,
// a client or another process.
func isSimulated(ts *testscript.TestScript, want string, args []string) bool {
	waits := slices.ContainsFunc(args, func(a string) bool {
		return a == "-" || a == "@-" || a == "ibsim" || strings.HasPrefix(a, "--serve") || strings.HasPrefix(a, "--exec") || strings.HasPrefix(a, "--listen")
	})
	simulated := slices.Contains(args, "--sim") || ts.Getenv("IBKIT_SIM") != ""
	return (simulated || want == "2") && args[0] == "ibkit" && !waits
}

// runInBubble runs an ibkit command line in the test process, in simulated time and in the
// script directory, and returns the exit code.
func runInBubble(t *testing.T, ts *testscript.TestScript, args []string) (code int) {
	dir, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(dir)) }()
	stdout, stderr := ts.Stdout(), ts.Stderr()
	synctest.Test(t, func(t *testing.T) {
		code = cmd.Run(t.Context(), ts.Getenv, strings.NewReader(""), stdout, stderr, args[1:])
	})
	return code
}

// startSignals starts the os/signal goroutine, which must not belong to a bubble.
func startSignals() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGQUIT)
	signal.Stop(signals)
}
