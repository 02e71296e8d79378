package mesh

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/tool/mesh"
)

// analyze is one call of mesh analyze.
type analyze struct {
	env    *cmdutil.Env
	source source

	file    string
	nodes   fabricflag.NodePatterns
	verdict verdictFlags

	hostsOnly bool
}

// newAnalyze returns the command mesh analyze.
func newAnalyze(env *cmdutil.Env) *cobra.Command {
	c := &analyze{env: env, source: source{env: env}}
	cmd := &cobra.Command{
		Use:   "analyze [flags] FILE",
		Short: "Judge measured bandwidths and latencies between hosts",
		Long: strings.TrimSpace(`
mesh analyze reads measurements between many hosts and names the host, cable,
switch port or switch that makes flows slow. Flows are compared within classes:
the same rail, port rate and number of links. A good flow clears all parts of
its path, as the forwarding tables direct it. The remaining parts that explain
most slow flows are the findings; parts that no flow tells apart are named
together.

FILE has results of ClusterKit (JSON), mpiGraph, SuperBench ib-traffic, of
ibkit mesh --sim, of ibkit ping --mesh, or comma-separated values with this
header; names are of hosts or nodes, either figure may be empty, other columns
are ignored:

  src,dst,bandwidth_gbps,latency_us

FILE - is the standard input.

--from FILE or DIRECTORY reads a stored fabric: with its tables a file of
ibkit check routes --save, or the dumps of opensm or ibdiagnet. Without tables,
and with adaptive routing, a path has only the links that all shortest paths
share. With --hosts-only there is no fabric: hosts are judged, links are not.

Hosts that a finding blames, and not a link, are drained in Slurm by the printed
commands; --apply slurm runs them unless there are more than --max-drain. The
exit code is that of the verdict even if a command fails.

--format map, svg and html show the flows between all hosts, ordered by leaf
switch: senders are rows, receivers columns.`),
		Example: strings.Trim(`
  # the fabric at this host; exit code 3 if there are findings
  ibkit mesh analyze results.csv

  # without hardware
  ibkit mesh --sim demo | ibkit mesh analyze - --sim demo

  # offline, with a stored fabric
  ibkit check routes --save routes.tables
  ibkit mesh analyze bandwidth.json --from routes.tables

  # a heat map for a browser, ordered by leaf switch, with the findings
  ibkit mesh analyze results.csv --format html > mesh.html

  # changes since an earlier run
  ibkit mesh analyze results.csv --baseline accepted.csv

  # the subjects of all findings for scripts
  ibkit mesh analyze mpiGraph.out --json | jq -r '.findings[].subject'`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags(), args); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.nodes.Register(env, cmd, "expect")
	cmd.Flags().BoolVar(&c.hostsOnly, "hosts-only", false, "judge hosts without a fabric, as with RoCE")
	c.verdict.define(cmd)
	c.source.define(cmd)
	return cmd
}

func (c *analyze) complete(ctx context.Context, flags *pflag.FlagSet, args []string) error {
	switch {
	case len(args) == 0:
		return cmdutil.Missing("FILE")
	case len(args) > 1:
		return cmdutil.WithHint(cmdutil.UsageErrorf("unexpected argument %q: got a file already", args[1]), "compare with an earlier run: --baseline FILE")
	}
	c.file = args[0]
	if err := analyzeRules.Check(flags); err != nil {
		return err
	}
	if err := c.verdict.complete(c.env, flags); err != nil {
		return err
	}
	if err := c.nodes.Check(); err != nil {
		return err
	}
	return c.source.complete(ctx, flags)
}

// analyzeRules are the relations between the flags.
var analyzeRules = cmdutil.FlagRules{Clashes: []cmdutil.Clash{{Flags: []string{"hosts-only"}, Others: append([]string{"from", "node"}, fabricflag.ScanFlags...)}}}

// run reads the results and the fabric, and prints the verdict.
func (c *analyze) run(ctx context.Context) error {
	results, err := c.read()
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return err
		}
		return cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, "simulate results: ibkit mesh --sim demo > FILE")
	}
	failures := c.source.fabric.Failures(c.env, "warning")
	for _, err := range results.Damage {
		failures.Print(err)
	}
	failures.Close()
	w, began := mesh.NewUnwired(results.Adapters()), time.Now()
	if !c.hostsOnly {
		if w, err = c.source.wiring(ctx); err != nil {
			return err
		}
		began = c.source.routing.Began
	}
	if err := w.CheckNodes(c.nodes); err != nil {
		return err
	}
	if err := w.CheckResults(results); err != nil {
		return cmdutil.WithHint(err, "select the fabric of the measurement: --from FILE, --sim FABRIC, or -C and -P; node names: --node-name-map FILE")
	}
	r := mesh.Analyze(results, w, mesh.Options{Began: began, Nodes: c.nodes, Baseline: c.verdict.before})
	if err := c.verdict.print(ctx, c.env, "ibkit mesh analyze", r); err != nil {
		return err
	}
	c.source.fabric.PrintStats(c.env)
	return cmdutil.HeadError(&r.Head)
}

// read reads the results.
func (c *analyze) read() (*mesh.Results, error) {
	if c.file == "-" {
		return mesh.Parse(interrupt.Reader(c.env.In), "standard input")
	}
	return mesh.Read(c.file)
}
