// Package cmdtest runs commands in tests.
package cmdtest

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/internal/testenv"
)

// A Program runs a command line, which begins with the name of a command, and
// returns its exit code.
type Program func(ctx context.Context, env *cmdutil.Env, args []string) int

// Native returns a program that has one native command.
func Native(newCommand func(*cmdutil.Env) *cobra.Command) Program {
	return func(ctx context.Context, env *cmdutil.Env, args []string) int {
		root := &cobra.Command{Use: "ibkit"}
		root.AddCommand(newCommand(env))
		return cmdutil.Execute(ctx, env, root, args)
	}
}

// Classic returns a program that is a classic tool.
func Classic(newTool func(*cmdutil.Env) *getopt.Tool) Program {
	return func(ctx context.Context, env *cmdutil.Env, args []string) int {
		return cmdutil.ExitCode(env, args[0], newTool(env).Execute(ctx, env, args[1:]))
	}
}

// Run runs a command line with the given environment variables and no others, and
// without input.
func (p Program) Run(t *testing.T, env map[string]string, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	e := &cmdutil.Env{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr, Getenv: func(k string) string { return env[k] }, Etc: env[testenv.Etc]}
	code = p(t.Context(), e, args)
	return code, stdout.String(), stderr.String()
}

// RunInBubble runs a command line as [Program.Run] in simulated time. The command must not wait
// for another process or for the kernel.
func (p Program) RunInBubble(t *testing.T, env map[string]string, args ...string) (code int, out, err string) {
	t.Helper()
	OutsideBubbles()
	synctest.Test(t, func(t *testing.T) { code, out, err = p.Run(t, env, args...) })
	return code, out, err
}

// OutsideBubbles starts the goroutine of package os/signal, which must not belong to a bubble.
var OutsideBubbles = sync.OnceFunc(func() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGQUIT)
	signal.Stop(signals)
})

// WriteFile writes a file that lasts as long as the test, and returns its path.
func WriteFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
