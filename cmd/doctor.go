package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/doctor"
	"github.com/ibkit/ibkit/internal/render"
)

// doctorCommand is one call of doctor.
type doctorCommand struct {
	env     *environment
	options doctor.Options
	json    bool
	quiet   bool
	list    bool
}

// doctorRules are what doctor's flags have to do with each other.
var doctorRules = flagRules{
	clashes: []clash{
		{[]string{"json"}, []string{"quiet"}},
		{[]string{"list"}, []string{"json", "quiet", "only", "skip", "root", "timeout"}},
	},
}

func newDoctor(env *environment, _ dialect) *cobra.Command {
	c := &doctorCommand{env: env}
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Check whether this host is ready for RDMA, and print the fixes",
		Long: strings.TrimSpace(`
doctor checks this host: kernel modules, device nodes, limits, PCI Express slots,
addresses and the subnet manager. For each problem it prints the effect and the
command that fixes it. It changes nothing.

Checks run with your privileges; inaccessible files are listed. Checks that need
more privileges are reported as unknown, with exit code 4.

Checks:

` + doctorCheckHelp()),
		Example: strings.Trim(`
  # all checks
  ibkit doctor

  # in a job prologue: print problems only, exit code 3 if there are any
  ibkit doctor --quiet --skip governor,hugepages

  # check whether your user can register memory and open the devices
  ibkit doctor --only nodes,memlock

  # check the host from a container that mounts it at /host
  ibkit doctor --root /host

  # print the commands that fix all problems
  ibkit doctor --json | jq -r '.items[].fix[]'`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageErrorf("unexpected argument %q", args[0])
			}
			return nil
		},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.check(cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&c.options.Only, "only", nil, "run only this `CHECK`, or a comma-separated list (see --list)")
	flags.StringSliceVar(&c.options.Skip, "skip", nil, "skip this `CHECK`, or a comma-separated list")
	flags.BoolVarP(&c.quiet, "quiet", "q", false, "print only errors, warnings and unknown results")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.list, "list", false, "list the checks")
	flags.StringVar(&c.options.Root, "root", "/", "check the host whose root file system is mounted at `DIR`")
	flags.DurationVar(&c.options.Timeout, "timeout", 500*time.Millisecond, "wait this `TIME` for a reply of the subnet manager, twice")
	if err := cmd.MarkFlagDirname("root"); err != nil {
		panic(err) // the flag is there
	}
	return cmd
}

// doctorCheckHelp describes the checks, one a line.
func doctorCheckHelp() string {
	var s strings.Builder
	for _, c := range doctor.Checks {
		fmt.Fprintf(&s, "  %-10s %s\n", c.Name, c.About)
	}
	return s.String()
}

func (c *doctorCommand) check(flags *pflag.FlagSet) error {
	if err := doctorRules.check(flags); err != nil {
		return err
	}
	if c.options.Timeout <= 0 {
		return usageErrorf("invalid --timeout %v: it is to be more than 0", c.options.Timeout)
	}
	if info, err := os.Stat(c.options.Root); err != nil {
		return usageErrorf("look below --root: %w", err)
	} else if !info.IsDir() {
		return usageErrorf("look below --root: %s is no folder", c.options.Root)
	}
	return nil
}

func (c *doctorCommand) run(ctx context.Context) error {
	out := bufferedOut(c.env)
	if c.list {
		var rows [][]string
		for _, check := range doctor.Checks {
			rows = append(rows, []string{check.Name, check.About})
		}
		return errors.Join(render.Table(out, []string{"CHECK", "SUBJECT"}, rows), out.Flush())
	}
	r, err := doctor.Run(ctx, c.options)
	var unknown doctor.UnknownCheckError
	if errors.As(err, &unknown) {
		return usageErrorf("%w (known: %s)", err, strings.Join(doctor.Names(), ", "))
	}
	if err != nil {
		return err
	}
	if c.json {
		err = printDoctorJSON(out, r)
	} else {
		v := &doctorView{out, render.NewPalette(c.env.out, c.env.getenv)}
		err = v.print(r, c.quiet)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return outcomeOf(r.Count(doctor.Unknown) > 0, r.Count(doctor.Warning)+r.Count(doctor.Error) > 0)
}

func printDoctorJSON(out *output, r *doctor.Result) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false) // commands have > and &
	e.SetIndent("", "  ")
	return e.Encode(r)
}
