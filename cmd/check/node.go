package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/tool/check"
)

// nodeCheck is one call of check node.
type nodeCheck struct {
	verdict
	options check.NodeOptions

	expect, writeExpect, state string
}

// newNode returns the command check node.
func newNode(env *cmdutil.Env) *cobra.Command {
	c := &nodeCheck{verdict: verdict{env: env, scope: "node"}}
	for _, s := range check.NodeStages() {
		c.stages = append(c.stages, stage{s.Name, s.About, s.Kinds})
	}
	cmd := &cobra.Command{
		Use:   "node [flags]",
		Short: "Check the RDMA devices of this node, for schedulers and monitoring",
		Long: strings.TrimSpace(`
check node compares the RDMA devices of this host with a manifest: devices,
ports, rates, PCI Express links, firmware, GIDs. It reads sysfs and netlink,
requires no privileges, and sends no packets. Without a manifest it reports
general problems, for example a port that is not active.

With a state file it compares error counters with those of the last check, and
reports ports whose link went down several times within some hours.

The exit code is 0 if there are no errors, 3 if there are, 4 if a part could not
be checked; --format nagios has the codes 0 to 3 of Nagios, --format nhc 0 or 1,
and --format npd 0 to 2 of Node Problem Detector.`),
		Example: strings.Trim(`
  # write a manifest of this host, and compare other hosts of its kind with it
  ibkit check node --write-expect /etc/ibkit/node.yaml
  ibkit check node --expect /etc/ibkit/node.yaml

  # remember counters and link flaps between checks
  ibkit check node --expect /etc/ibkit/node.yaml --state-file /var/lib/ibkit

  # while a job runs: does RoCE lose packets?
  ibkit check node --only roce,traffic --window 10s

  # a plugin of Nagios, Icinga or Naemon
  ibkit check node --expect /etc/ibkit/node.yaml --format nagios

  # a check of LBNL Node Health Check, in nhc.conf
  * || check_cmd_status -r 0 ibkit check node --format nhc`, "\n"),
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.complete(cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.expect, "expect", "", "compare the host with the manifest in `FILE`, in YAML or JSON")
	flags.StringVar(&c.writeExpect, "write-expect", "", "write the manifest of this host to `FILE`, and exit")
	flags.StringVar(&c.state, "state-file", "", "remember counters and link flaps in `FILE`")
	flags.StringSliceVar(&c.options.Ignore, "ignore-devices", nil, "do not check devices with a name like `PATTERN`: 'mlx5_bond_*'")
	cmdutil.CompleteList(env, cmd, "ignore-devices", cmdutil.DeviceNames)
	flags.DurationVar(&c.options.Window, "window", 0, "judge RoCE counters within `TIME`: losses, pauses, congestion")
	c.register(cmd)
	flags.StringVar(&c.options.Root, "root", "/", "check the host with its root file system mounted at `DIR`")
	if err := cmd.MarkFlagDirname("root"); err != nil {
		panic(err) // the flag is there
	}
	c.wrap(cmd)
	return cmd
}

// nodeRules are the relations between the flags.
var nodeRules = cmdutil.FlagRules{
	Clashes: append([]cmdutil.Clash{
		{Flags: []string{"write-expect"}, Others: []string{"expect", "state-file", "only", "skip", "list", "json", "format", "fail-severity", "limit", "thresholds", "write-thresholds", "window"}},
	}, verdictRules...),
}

// complete checks the flags and reads the files.
func (c *nodeCheck) complete(flags *pflag.FlagSet) (err error) {
	if err := nodeRules.Check(flags); err != nil {
		return err
	}
	if err := c.verdict.complete(flags); err != nil {
		return err
	}
	if err := c.checkRequirements(flags, []requirement{{"rates", []string{"expect"}}, {"flaps", []string{"state-file"}}, {"traffic", []string{"window"}}}); err != nil {
		return err
	}
	if info, err := os.Stat(c.options.Root); err != nil {
		return cmdutil.UsageErrorf("invalid --root: %w", err)
	} else if !info.IsDir() {
		return cmdutil.UsageErrorf("invalid --root: %s is not a directory", c.options.Root)
	}
	if flags.Changed("window") && c.options.Window <= 0 {
		return cmdutil.UsageErrorf("invalid --window %v: must be greater than 0", c.options.Window)
	}
	if err := check.ValidatePatterns(c.options.Ignore); err != nil {
		return cmdutil.UsageErrorf("invalid --ignore-devices: %w", err)
	}
	if c.expect != "" {
		if c.options.Expect, err = check.ReadManifest(c.expect); err != nil {
			return cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, "write a manifest: ibkit check node --write-expect FILE")
		}
	}
	if c.state != "" {
		if c.options.State, err = check.ReadState(c.state); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
	}
	c.options.Only, c.options.Skip, c.options.Limits = c.only, c.skip, c.limits
	return nil
}

// run checks the node.
func (c *nodeCheck) run(ctx context.Context) error {
	if done, err := c.prepare(); done {
		return err
	}
	if err := c.env.CheckRunningKernel("check node checks"); err != nil && c.options.Root == "/" {
		return cmdutil.WithHint(err, "select the root directory of another host: --root DIR")
	}
	if c.env.Getenv("IBKIT_SIM") != "" {
		fmt.Fprintln(c.env.ErrOut, "ibkit check node: warning: IBKIT_SIM has no effect: check node checks this host")
	}
	if c.writeExpect != "" {
		r, err := check.Devices(ctx, c.options.Root)
		if err != nil {
			return err
		}
		err = fileout.Write(c.writeExpect, check.ManifestOf(r.Devices, c.options.Ignore).Write)
		if errors.Is(err, check.ErrEmptyManifest) {
			err = fmt.Errorf("write manifest %s: %w", c.writeExpect, err)
		}
		return err
	}
	bar := render.NewProgress(c.env.ErrOut)
	defer bar.Close()
	if c.options.Window > 0 {
		bar.Wait(fmt.Sprintf("reading RoCE counters twice, %v apart", c.options.Window))
	}
	r, err := check.Node(ctx, c.options)
	bar.Close()
	if err != nil {
		return err
	}
	if c.options.State != nil {
		if err := c.options.State.Write(); err != nil {
			return err
		}
	}
	return c.print(r)
}
