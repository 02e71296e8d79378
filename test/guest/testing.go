package guest

import (
	"context"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
)

// New is [Boot] for tests: errors fail the test, and the guest ends with it.
func New(tb testing.TB, spec Spec) *Guest {
	tb.Helper()
	// The test context is canceled before cleanup functions run, which must not look like
	// an early end of the guest.
	g, err := Boot(context.WithoutCancel(tb.Context()), forTest(tb, spec))
	if err != nil {
		tb.Fatal(err)
	}
	g.closeWith(tb)
	return g
}

// NewPair is [BootPair] for tests.
func NewPair(tb testing.TB, a, b Spec) (*Guest, *Guest) {
	tb.Helper()
	pair, err := BootPair(context.WithoutCancel(tb.Context()), forTest(tb, a), forTest(tb, b))
	if err != nil {
		tb.Fatal(err)
	}
	for _, g := range pair {
		g.closeWith(tb)
	}
	return pair[0], pair[1]
}

// NewSwitched is [BootSwitched] for tests. The switch ends with the test.
func NewSwitched(tb testing.TB, s *Switch, specs ...Spec) []*Guest {
	tb.Helper()
	for i := range specs {
		specs[i] = forTest(tb, specs[i])
	}
	tb.Cleanup(s.Close)
	all, err := BootSwitched(context.WithoutCancel(tb.Context()), s, specs...)
	if err != nil {
		tb.Fatal(err)
	}
	for _, g := range all {
		g.closeWith(tb)
	}
	return all
}

// Module is [Kernel.BuildModule] for tests, for the kernel of a release.
func Module(tb testing.TB, r *debian.Release, dir string) string {
	tb.Helper()
	k, err := FindKernel(tb.Context(), r)
	if err != nil {
		tb.Fatal(err)
	}
	path, err := k.BuildModule(tb.Context(), dir)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// TreeModule is [Kernel.BuildTreeModule] for tests, for the kernel of a release.
func TreeModule(tb testing.TB, r *debian.Release, dir, config string) string {
	tb.Helper()
	k, err := FindKernel(tb.Context(), r)
	if err != nil {
		tb.Fatal(err)
	}
	path, err := k.BuildTreeModule(tb.Context(), dir, config)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// MustStart starts a command. The command and the processes that it starts end with the
// test.
func (g *Guest) MustStart(tb testing.TB, args ...string) *Process {
	tb.Helper()
	return g.MustStartCommand(tb, Command{Args: args})
}

// MustStartCommand is [Guest.MustStart] for a command with an environment, a directory, an
// input, or a user.
func (g *Guest) MustStartCommand(tb testing.TB, c Command) *Process {
	tb.Helper()
	c.test = tb.Name()
	p, err := g.start(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.end(context.WithoutCancel(tb.Context())); err != nil {
			tb.Error(err)
		}
	})
	return p
}

// MustRun is [Guest.Run] for tests.
func (g *Guest) MustRun(tb testing.TB, args ...string) Result {
	tb.Helper()
	r, err := g.Run(tb.Context(), Command{Args: args, test: tb.Name()})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// Must is [Guest.Check] for tests.
func (g *Guest) Must(tb testing.TB, args ...string) string {
	tb.Helper()
	r := g.MustRun(tb, args...)
	if r.Code != 0 {
		tb.Fatal(&ExitError{args, r})
	}
	return r.Stdout
}

// forTest sets the name and the log for a test.
func forTest(tb testing.TB, spec Spec) Spec {
	if spec.Name == "" {
		spec.Name = tb.Name()
	}
	if spec.Log == nil {
		spec.Log = tb.Output()
	}
	return spec
}

func (g *Guest) closeWith(tb testing.TB) {
	tb.Cleanup(func() {
		if err := g.Close(); err != nil {
			tb.Error(err)
		}
	})
}
