// Package cmd runs the commands of ibkit. Each command has its own package, which
// parses flags, calls the package of its tool and prints the result.
package cmd

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/hook"
	"github.com/ibkit/ibkit/internal/interrupt"
)

// Main runs the command line of the process and returns its exit code. If the name of
// the program is a classic name, it runs that tool.
func Main() int {
	if code, ran := hook.Supervise(os.Args); ran {
		return code
	}
	args := os.Args[1:]
	if name := filepath.Base(os.Args[0]); registry[name].native != "" {
		args = append([]string{name}, args...)
	}
	if len(args) > 0 && registry[args[0]].tool != nil {
		return runHere(context.Background(), args) // a signal terminates the process
	}
	ctx, stop := interrupt.Notify()
	defer stop()
	return runHere(ctx, args)
}

// runHere runs one command line with the environment of the process.
func runHere(ctx context.Context, args []string) int {
	return Run(ctx, os.Getenv, os.Stdin, cmdutil.NewStandardOutput(os.Stdout), os.Stderr, args)
}

// Run runs one command line in the process of its caller, for example a test, and returns
// its exit code. args begin with the name of a command. IBKIT_ETC replaces /etc, as for
// tests. It is safe for concurrent use.
func Run(ctx context.Context, getenv func(string) string, in io.Reader, stdout, stderr io.Writer, args []string) int {
	etc := cmp.Or(getenv("IBKIT_ETC"), cmdutil.DefaultEtc)
	return run(ctx, &cmdutil.Env{In: in, Out: stdout, ErrOut: stderr, Getenv: getenv, Etc: etc}, args)
}

// run runs one command line and returns its exit code. A classic tool does not use the
// command tree, which takes longer to create than most of these tools run.
func run(ctx context.Context, env *cmdutil.Env, args []string) int {
	if len(args) > 0 {
		if newTool := registry[args[0]].tool; newTool != nil {
			return cmdutil.ExitCode(env, args[0], newTool(env).Execute(ctx, env, args[1:]))
		}
	}
	env.Commands = func() *cobra.Command { return newRoot(env, nil) }
	return cmdutil.Execute(ctx, env, newRoot(env, args), args)
}

// complete adds the parts that all native commands share.
func complete(root *cobra.Command) {
	addGroups(root)
	addRelated(root)
	cmdutil.KeepOrder(root)
	cmdutil.AddFormat(root)
}

// newRoot creates the root command. If args begin with the name of a command, newRoot
// adds only this command, because creating all of them takes as long as running one.
func newRoot(env *cmdutil.Env, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:     "ibkit",
		Short:   "Diagnostics for InfiniBand and RoCE",
		Version: buildinfo.Version(),
		Long: strings.TrimSpace(`
ibkit shows the nodes and links of InfiniBand fabrics and the RDMA devices of
hosts, and reports problems with them. It measures latency and bandwidth. It
does not require other packages.

Under the name of a classic tool, as a symbolic link or as the first argument,
it accepts the options of that tool and prints the same output.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetHelpCommand(newHelp())
	root.CompletionOptions.DisableDefaultCmd = true
	if len(args) > 0 && registry[args[0]].command != nil {
		root.AddCommand(registry[args[0]].command(env))
		complete(root)
		return root
	}
	for _, e := range registry {
		if e.command != nil {
			root.AddCommand(e.command(env))
		} else {
			root.AddCommand(e.tool(env).Command(env, e.native))
		}
	}
	complete(root)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		noFileNames(root)
	}
	return root
}
