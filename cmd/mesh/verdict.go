package mesh

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/mesh"
)

// The output formats.
const (
	formatCSV   = "csv"
	formatTable = "table"
	formatJSON  = "json"
	formatLines = "json-lines"
	formatMap   = "map"
	formatSVG   = "svg"
	formatHTML  = "html"
)

// verdictFlags are the flags that select the form of a verdict.
type verdictFlags struct {
	limit  int
	format string
	json   bool

	baseline string // file
	before   *mesh.Results
	hosts    hostFlags
}

func (o *verdictFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&o.limit, "limit", 10, "print at most `N` findings of each kind; 0: all")
	cmdutil.EnumFlag(cmd, &o.format, "format", formatTable, []string{formatTable, formatJSON, formatMap, formatSVG, formatHTML}, "output `FORMAT`")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.StringVar(&o.baseline, "baseline", "", "compare with the results of an earlier run in `FILE`")
	o.hosts.define(cmd)
}

func (o *verdictFlags) complete(env *cmdutil.Env, flags *pflag.FlagSet) error {
	if o.limit < 0 {
		return cmdutil.UsageErrorf("invalid --limit %d: want at least 0", o.limit)
	}
	if err := rules.Check(flags); err != nil {
		return err
	}
	if err := o.hosts.complete(env, flags); err != nil {
		return err
	}
	if o.json {
		o.format = formatJSON
	}
	if o.baseline == "" {
		return nil
	}
	var err error
	if o.before, err = mesh.Read(o.baseline); err != nil {
		err = &cmdutil.UsageError{Err: fmt.Errorf("invalid --baseline: %w", err)}
		return cmdutil.WithFileHint(err, "the results of another run, as mesh run --results writes them")
	}
	return nil
}

// print acts on a verdict and prints it.
func (o *verdictFlags) print(ctx context.Context, env *cmdutil.Env, from string, r *mesh.Result) (err error) {
	acted := o.hosts.act(ctx, env, from, r)
	out := render.NewOutput(env.Out)
	v := &view{env: env, out: out, limit: o.limit, scheduler: o.hosts.scheduler(env)}
	switch o.format {
	case formatJSON:
		render.WriteLine(out, r)
	case formatMap:
		v.heat(r)
	case formatSVG:
		err = r.WriteSVG(out)
	case formatHTML:
		err = r.WriteHTML(out)
	default:
		v.table(r)
	}
	return cmp.Or(err, out.Flush(), acted)
}
