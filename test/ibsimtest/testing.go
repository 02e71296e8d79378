package ibsimtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/netgen"
	"github.com/ibkit/ibkit/test/releases"
)

// New is [Start] for tests: errors fail the test, and the server ends with it.
func New(tb testing.TB, netFile string, args ...string) *Sim {
	tb.Helper()
	s, err := Start(netFile, args...)
	return s.forTest(tb, err)
}

// NewLiveServer is [StartServer] for tests: errors fail the test, and the server ends with
// it. C tools run on it in each process form.
func NewLiveServer(tb testing.TB, path string, args ...string) *Sim {
	tb.Helper()
	s, err := StartServer(path, args...)
	return s.forTest(tb, err)
}

// NewServer starts a server for a test and ends it with the test. The process form decides
// whether C tools run on it.
func NewServer(tb testing.TB, path string, args ...string) *Sim {
	tb.Helper()
	if form == Alone {
		return NewLiveServer(tb, path, args...)
	}
	rec := newRecording(tb, temporaryWords(args).hide(strings.Join(args, " ")))
	var s *Sim
	var err error
	if form == Recorded {
		s, err = program.serve(args)
	} else {
		s, err = StartServer(path, args...)
	}
	s.forTest(tb, err).rec = rec
	return s
}

// forTest makes a simulator end with a test, or fails the test if it did not start.
func (s *Sim) forTest(tb testing.TB, err error) *Sim {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// MustCommand is [Sim.Command] for tests.
func (s *Sim) MustCommand(tb testing.TB, line string) string {
	tb.Helper()
	out, err := s.Command(line)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// MustRunC is [Sim.RunC] for tests, with the output of the release that ibkit follows. On a
// fabric that ibkit serves, the result may come from a recording.
func (s *Sim) MustRunC(tb testing.TB, host, tool string, args ...string) Result {
	tb.Helper()
	r := s.mustRunC(tb, host, tool, args...)
	r.Stdout, r.Stderr = releases.Upgrade(tool, r.Stdout), releases.Upgrade(tool, r.Stderr)
	return r
}

func (s *Sim) mustRunC(tb testing.TB, host, tool string, args ...string) Result {
	tb.Helper()
	run := func() Result {
		tb.Helper()
		r, err := s.RunC(testContext(tb), host, tool, args...)
		if err != nil {
			tb.Fatal(err)
		}
		return r
	}
	if s.rec == nil {
		return run()
	}
	return s.rec.run(tb, host, tool, args, run)
}

// MustRunRelease is [Sim.RunRelease] for tests.
func (s *Sim) MustRunRelease(tb testing.TB, release *debian.Release, host, tool string, args ...string) Result {
	tb.Helper()
	r, err := s.RunRelease(testContext(tb), release, host, tool, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// MustRun is [Sim.Run] for tests.
func (s *Sim) MustRun(tb testing.TB, host, path string, args ...string) Result {
	tb.Helper()
	if s.inProcess {
		return program.run(tb.Context(), s.getenv(host), path, args)
	}
	r, err := s.Run(testContext(tb), host, path, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// OpenSM is [Sim.ConfigureSubnet] for tests.
func (s *Sim) OpenSM(tb testing.TB, host string) {
	tb.Helper()
	if err := s.ConfigureSubnet(tb.Context(), host); err != nil {
		tb.Fatal(err)
	}
}

// NewSM is [Sim.StartSM] for tests: opensm ends with the test.
func (s *Sim) NewSM(tb testing.TB, host string, options ...string) {
	tb.Helper()
	sm, err := s.StartSM(host, options...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := sm.Stop(); err != nil {
			tb.Error(err)
		}
	})
}

// Command returns a command that ends with the test, whatever failed before, or with
// the test process.
func Command(tb testing.TB, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(tb.Context(), name, args...)
	dieWithParent(cmd)
	return cmd
}

// testContext limits how long a tool runs, so that the error names it.
func testContext(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(tb.Context(), toolTimeout)
	tb.Cleanup(cancel)
	return ctx
}

// WriteNet writes a fat tree's net file and returns the path.
func WriteNet(tb testing.TB, name string, tree netgen.FatTree) string {
	tb.Helper()
	net, err := tree.Build()
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), name+".net")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if err := net.Write(f); err != nil {
		tb.Fatal(err)
	}
	return path
}
