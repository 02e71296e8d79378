// Package cmd has ibkit's commands: flags, the view of what a tool found, and
// the exit code. What is found is the business of the packages below.
package cmd

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// environment is what a command reads from and writes to.
type environment struct {
	out, err io.Writer
	getenv   func(string) string
}

// commands makes the commands, by their native names.
var commands = map[string]func(*environment, dialect) *cobra.Command{
	"addr":       newAddr,
	"completion": newCompletion,
	"devinfo":    newDevinfo,
	"doctor":     newDoctor,
	"linkinfo":   newLinkinfo,
	"perf":       newPerf,
	"ping":       newPing,
	"sim":        newSim,
	"version":    newVersion,
}

// classicNames are the classic tools that a command can stand in for.
var classicNames = map[string]string{
	"iblinkinfo": "linkinfo",
}

// dialect is the name that a command goes by. The classic name picks the
// classic view and the classic exit codes, nothing else.
type dialect int

const (
	native dialect = iota
	classic
)

// Main runs the command that the process was started as and returns its exit
// code. A program name that is a classic tool's picks that tool.
func Main() int {
	env := &environment{out: os.Stdout, err: os.Stderr, getenv: os.Getenv}
	args := os.Args[1:]
	if name := filepath.Base(os.Args[0]); classicNames[name] != "" || classicTools[name] != nil {
		args = append([]string{name}, args...)
	}
	if len(args) > 0 && classicTools[args[0]] != nil {
		return runClassic(context.Background(), env, args[0], args[1:]) // a signal ends it
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends what does not look at the first
	return run(ctx, env, args)
}

// run runs one command line and returns its exit code.
func run(ctx context.Context, env *environment, args []string) int {
	if len(args) > 0 && classicTools[args[0]] != nil {
		return runClassic(ctx, env, args[0], args[1:])
	}
	root := newRoot(env, args)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return report(env, cmd, err)
}

// newRoot makes the root command and those below it: of the others only the one
// that args begin with, if they do, as a command of a few milliseconds has no
// time to make them all.
func newRoot(env *environment, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:     "ibkit",
		Short:   "Diagnostics for InfiniBand and RoCE",
		Version: version(),
		Long: strings.TrimSpace(`
ibkit shows what an InfiniBand or RoCE network consists of, what its links run
at, and what is wrong. It needs nothing else installed.

Started under a classic tool's name, by a symbolic link or as the first
argument, it takes that tool's options and prints in that tool's form.`),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageErrorf("no command given: see ibkit --help")
		},
	}
	root.SetOut(env.out)
	root.SetErr(env.err)
	root.SetHelpCommand(newHelp())
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	classicCommand := func(name string) *cobra.Command {
		c := commands[classicNames[name]](env, classic)
		c.Use, c.Hidden = name+" [flags]", true
		return c
	}
	switch {
	case len(args) > 0 && commands[args[0]] != nil:
		root.AddCommand(commands[args[0]](env, native))
	case len(args) > 0 && classicNames[args[0]] != "":
		root.AddCommand(classicCommand(args[0]))
	default:
		for _, newCommand := range commands {
			root.AddCommand(newCommand(env, native))
		}
		for name := range classicNames {
			root.AddCommand(classicCommand(name))
		}
	}
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		addCompletions(env, root)
	}
	return root
}
