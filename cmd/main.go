// Package cmd has ibkit's commands: flags, the view of what a tool found, and
// the exit code. What is found is the business of the packages below.
package cmd

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// Main runs the command that the process was started as and returns its exit
// code. A program name that is a classic tool's picks that tool.
func Main() int {
	env := &cmdutil.Env{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr, Getenv: os.Getenv}
	args := os.Args[1:]
	if name := filepath.Base(os.Args[0]); registry[name].native != "" {
		args = append([]string{name}, args...)
	}
	if len(args) > 0 && registry[args[0]].tool != nil {
		return run(context.Background(), env, args) // a signal ends it
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends what does not look at the first
	return run(ctx, env, args)
}

// run runs one command line and returns its exit code. A classic tool does without
// the tree of commands, which takes longer to make than most of these tools run.
func run(ctx context.Context, env *cmdutil.Env, args []string) int {
	if len(args) > 0 {
		if newTool := registry[args[0]].tool; newTool != nil {
			return cmdutil.ExitCode(env, args[0], newTool(env).Execute(ctx, env, args[1:]))
		}
	}
	return cmdutil.Execute(ctx, env, newRoot(env, args), args)
}

// newRoot makes the root command and those below it: of the others only the one
// that args begin with, if they do, as a command of a few milliseconds has no
// time to make them all.
func newRoot(env *cmdutil.Env, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:     "ibkit",
		Short:   "Diagnostics for InfiniBand and RoCE",
		Version: buildinfo.Version(),
		Long: strings.TrimSpace(`
ibkit shows what an InfiniBand or RoCE network consists of, what its links run
at, and what is wrong. It needs nothing else installed.

Started under a classic tool's name, by a symbolic link or as the first
argument, it takes that tool's options and prints in that tool's form.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmdutil.UsageErrorf("no command given: see ibkit --help")
		},
	}
	root.SetHelpCommand(newHelp())
	root.CompletionOptions.DisableDefaultCmd = true
	if len(args) > 0 && registry[args[0]].command != nil {
		root.AddCommand(registry[args[0]].command(env))
		return root
	}
	for _, e := range registry {
		if e.command != nil {
			root.AddCommand(e.command(env))
		} else {
			root.AddCommand(e.tool(env).Command(env, e.native))
		}
	}
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		noFileNames(root)
	}
	return root
}
