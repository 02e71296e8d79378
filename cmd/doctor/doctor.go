// Package doctor implements the command doctor, which checks whether a host is ready
// for RDMA.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/doctor"
)

// checkNames returns the names of all checks with descriptions.
func checkNames() []string {
	var names []string
	for _, c := range doctor.Checks() {
		names = append(names, c.Name+"\t"+c.About)
	}
	return names
}

// command holds the flags of doctor.
type command struct {
	env     *cmdutil.Env
	options doctor.Options
	json    bool
	quiet   bool
	list    bool
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"json"}, Others: []string{"quiet"}},
		{Flags: []string{"list"}, Others: []string{"json", "quiet", "only", "skip", "root", "window", "reply-timeout"}},
	},
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Check whether this host is ready for RDMA, and print the fixes",
		Long: strings.TrimSpace(`
doctor checks this host: kernel modules, device nodes, limits, PCI Express
slots, addresses and the subnet manager. For each problem it prints the effect
and the command that fixes it. It does not change the host.

Checks run with your privileges; inaccessible files are listed. Checks that need
more privileges are reported as unknown, with exit code 4.

Checks:

` + checkHelp()),
		Example: strings.Trim(`
  # all checks
  ibkit doctor

  # in a job prologue: print problems only, exit code 3 if there are any
  ibkit doctor --quiet --skip governor,hugepages

  # check whether your user can register memory and open the devices
  ibkit doctor --only nodes,memlock

  # find out why RoCE is slow, while a job runs
  ibkit doctor --only lossless,traffic --window 10s

  # check the host from a container that mounts it at /host
  ibkit doctor --root /host

  # print the commands that fix all problems
  ibkit doctor --json | jq -r '.items[].fix[]'`, "\n"),
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.check(cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	cmdutil.DescribedListFlag(cmd, &c.options.Only, "only", checkNames(), "run only a `LIST` of checks (see --list)")
	cmdutil.DescribedListFlag(cmd, &c.options.Skip, "skip", checkNames(), "skip a `LIST` of checks")
	flags.BoolVarP(&c.quiet, "quiet", "q", false, "print only errors, warnings and unknown results")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.list, "list", false, "list the checks")
	flags.StringVar(&c.options.Root, "root", "/", "check the host with its root file system mounted at `DIR`")
	flags.DurationVar(&c.options.Window, "window", 0, "judge RoCE counters within `TIME`: losses, pauses, congestion")
	flags.DurationVar(&c.options.Timeout, "reply-timeout", 500*time.Millisecond, "`TIME` to wait for the subnet manager, which is queried twice")
	if err := cmd.MarkFlagDirname("root"); err != nil {
		panic(err) // the flag is there
	}
	return cmd
}

// checkHelp describes the checks, one per line.
func checkHelp() string {
	var s strings.Builder
	for _, c := range doctor.Checks() {
		fmt.Fprintf(&s, "  %-10s %s\n", c.Name, c.About)
	}
	return s.String()
}

func (c *command) check(flags *pflag.FlagSet) error {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if c.options.Timeout <= 0 {
		return cmdutil.UsageErrorf("invalid --reply-timeout %v: must be greater than 0", c.options.Timeout)
	}
	if flags.Changed("window") && c.options.Window <= 0 {
		return cmdutil.UsageErrorf("invalid --window %v: must be greater than 0", c.options.Window)
	}
	if info, err := os.Stat(c.options.Root); err != nil {
		return cmdutil.UsageErrorf("invalid --root: %w", err)
	} else if !info.IsDir() {
		return cmdutil.UsageErrorf("invalid --root: %s is not a directory", c.options.Root)
	}
	isSkipped := func(name string) bool { return slices.Contains(c.options.Skip, name) }
	if len(c.options.Only) > 0 && !slices.ContainsFunc(c.options.Only, func(name string) bool { return !isSkipped(name) }) {
		return cmdutil.UsageErrorf("no check left: --skip contains all checks of --only")
	}
	return nil
}

func (c *command) run(ctx context.Context) error {
	out := render.NewOutput(c.env.Out)
	if c.list {
		var rows [][]string
		for _, check := range doctor.Checks() {
			rows = append(rows, []string{check.Name, check.About})
		}
		return errors.Join(render.Table(out, []string{"CHECK", "SUBJECT"}, rows), out.Flush())
	}
	if err := c.env.CheckRunningKernel("doctor checks"); err != nil && c.options.Root == "/" {
		return cmdutil.WithHint(err, "select the root directory of another host: --root DIR")
	}
	if c.env.Getenv("IBKIT_SIM") != "" {
		fmt.Fprintln(c.env.ErrOut, "ibkit doctor: warning: IBKIT_SIM has no effect: doctor checks this host")
	}
	bar := render.NewProgress(c.env.ErrOut)
	defer bar.Close()
	if c.options.Window > 0 {
		bar.Wait(fmt.Sprintf("reading RoCE counters twice, %v apart", c.options.Window))
	}
	r, err := doctor.Run(ctx, c.options)
	bar.Close()
	if err != nil {
		return err
	}
	if c.json {
		render.WriteDocument(out, r)
	} else {
		v := &view{out, render.NewPalette(c.env.Out, c.env.Getenv)}
		err = v.print(r, c.quiet)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	return cmdutil.HeadError(&r.Head)
}
