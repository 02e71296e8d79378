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
		Short: "Look at what RDMA needs of this host, and say how to mend what is wrong",
		Long: strings.TrimSpace(`
doctor looks at this host: modules, device nodes, limits, slots, addresses, the
subnet manager. It says what is right, what is wrong and why that matters, and
prints the command that mends it. It changes nothing.

It looks as who calls it: what is closed to you is named. Without root a part
may stay unknown, and the exit code is 4 then.

Checks:

` + doctorCheckHelp()),
		Example: strings.Trim(`
  # all checks
  ibkit doctor

  # for a job's prologue: print only what is wrong, exit code 3 if anything is
  ibkit doctor --quiet --skip governor,hugepages

  # may my user register memory and open the devices?
  ibkit doctor --only nodes,memlock

  # the host, from a container that has it at /host
  ibkit doctor --root /host

  # the commands that mend what is wrong
  ibkit doctor --json | jq -r '.items[].mend[]'`, "\n"),
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
	flags.StringSliceVar(&c.options.Only, "only", nil, "do only a `CHECK`, or several: see --list")
	flags.StringSliceVar(&c.options.Skip, "skip", nil, "leave out a `CHECK`, or several")
	flags.BoolVarP(&c.quiet, "quiet", "q", false, "print only what is wrong or unknown")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.list, "list", false, "list the checks")
	flags.StringVar(&c.options.Root, "root", "/", "look at the host whose files are below `DIR`: what only its kernel can be asked is unknown")
	flags.DurationVar(&c.options.Timeout, "timeout", 500*time.Millisecond, "wait for a subnet manager's answer for a `TIME`, twice")
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
		return errors.Join(render.Table(out, []string{"CHECK", "LOOKS AT"}, rows), out.Flush())
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

// doctorSchema names the form of doctor's JSON, which schema/doctor.json
// describes.
const doctorSchema = "ibkit-doctor-1"

func printDoctorJSON(out *output, r *doctor.Result) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false) // commands have > and &
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Schema string `json:"schema"`
		*doctor.Result
	}{doctorSchema, r})
}
