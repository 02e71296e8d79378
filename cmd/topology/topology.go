// Package topology is the command that shows the nodes and cables of a fabric.
package topology

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// command is one call of topology.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags
	source fabricflag.Source
	began  time.Time
	device string // local port; "" before a scan

	format                 string
	json                   bool
	list                   bool
	cas, switches, routers bool
	ports, group           bool
	nodes                  fabricflag.NodePatterns
	check                  bool
	plan, writePlan        string
	punchList              bool
	cache                  string
	savePartial            bool
	diff                   string
	diffcheck              []string

	ibdiagnet string
	pause     time.Duration
	phy       bool
	vendorKey string
	key       mad.Key // for registers

	// Read with counters and tables.
	database *ibdiagnet.Database
	routing  *route.Routing
	unread   []error // requests without a valid response, and other reasons for a partial output
	ended    bool    // reading ended early
	damaged  bool    // the plan

	// Derived from the flags.
	checks topology.Checks
	types  []mad.NodeType // selected by -l, -H, -S, -R; nil without them
	names  *fabric.NameMap
}

// The formats.
const (
	formatTable       = "table"
	formatJSON        = "json"
	formatNetdiscover = "netdiscover"
	formatCSV         = "csv"
	formatDOT         = "dot"
	formatLST         = "lst"
	formatDatabase    = "db_csv"
	formatSlurm       = "slurm"
	formatSlurmBlock  = "slurm-block"
	formatSVG         = "svg"
	formatHTML        = "html"
)

// New returns the command topology.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "topology [flags] [NODE...]",
		Short: "Show, export and check the nodes and cables of a fabric",
		Long: strings.TrimSpace(`
topology scans an InfiniBand fabric once and shows its cables or nodes, or
writes them in the format of another program: ibnetdiscover, Graphviz, Slurm.
A NODE is a PATTERN as for --node.

A plan is a CSV file with a cable in each line, in the format of UFM or of
point-to-point sheets, the output of ibnetdiscover or of this command, a cache,
a subnet.lst of opensm, or a .topo or .db_csv file of ibdiagnet.`),
		Example: strings.Trim(`
  # all cables
  ibkit topology

  # all switches; only leaf switches; the cables of one switch
  ibkit topology --switches
  ibkit topology --switches 'leaf*'
  ibkit topology leaf1

  # a topology file for opensm, ibsim and scripts
  ibkit topology --format netdiscover > fabric.topo

  # a page with a picture, search and details of nodes
  ibkit topology --format html > fabric.html

  # topology.conf for Slurm, which a partial result does not replace
  ibkit topology --format slurm > topology.new && mv topology.new topology.conf

  # exit code 3 if LIDs, GUIDs or names are zero or not unique
  ibkit topology --check

  # the current cabling as a plan; later: wrong, missing and slow cables
  ibkit topology --write-plan plan.csv
  ibkit topology --plan plan.csv

  # the changes since a stored scan
  ibkit topology --save fabric.cache
  ibkit topology --diff fabric.cache`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.nodes = append(c.nodes, args...)
			if err := c.complete(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	cmdutil.CompleteOperands(env, cmd, fabricflag.NodeNames)
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	cmdutil.EnumFlag(cmd, &c.format, "format", formatTable,
		[]string{formatTable, formatJSON, formatNetdiscover, formatCSV, formatDOT, formatLST, formatDatabase, formatSlurm, formatSlurmBlock, formatSVG, formatHTML}, "output `FORMAT`")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.list, "nodes", false, "list the nodes")
	flags.BoolVar(&c.cas, "cas", false, "list the channel adapters")
	flags.BoolVar(&c.switches, "switches", false, "list the switches")
	flags.BoolVar(&c.routers, "routers", false, "list the routers")
	flags.BoolVar(&c.ports, "all-ports", false, "list all ports, with and without a cable")
	c.nodes.Register(c.env, cmd, "show")
	flags.BoolVar(&c.check, "check", false, "show zero or duplicate LIDs, GUIDs and names")
	flags.StringVar(&c.plan, "plan", "", "compare the cabling with the plan in `FILE`")
	flags.BoolVar(&c.punchList, "punch-list", false, "print a work list for the racks, one job per line (--plan)")
	flags.StringVar(&c.writePlan, "write-plan", "", "write the cabling as a plan to `FILE`, in CSV")
	flags.StringVar(&c.cache, "save", "", "store the fabric in `FILE`, readable by ibnetdiscover and iblinkinfo")
	flags.BoolVar(&c.savePartial, "save-partial", false, "with --save or --ibdiagnet: store a partial result, too")
	flags.StringVar(&c.ibdiagnet, "ibdiagnet", "", "write files in the form of ibdiagnet to a `DIRECTORY`")
	flags.DurationVar(&c.pause, "pause", 0, "add increases of counters within `TIME` (--ibdiagnet, db_csv)")
	flags.BoolVar(&c.phy, "phy", false, "add cables and bit error rates, as ibkit phy (--ibdiagnet, db_csv)")
	flags.StringVar(&c.vendorKey, "vs-key", "", "vendor key of requests: a `KEY`, @FILE or - (prompt)")
	c.source.Define(cmd)
	flags.StringVar(&c.diff, "diff", "", "show differences from the fabric stored in `FILE`")
	c.diffcheck = []string{"sw", "ca", "router", "port"}
	cmdutil.EnumListFlag(cmd, &c.diffcheck, "diffcheck", []string{"sw", "ca", "router", "port", "lid", "nodedesc"}, "compare a `LIST` of parts (--diff)")
	flags.BoolVarP(&c.group, "grouping", "g", false, "group nodes by chassis (--format netdiscover)")
	c.fabric.Define(c.env, cmd)
}

// rules are the relations between the flags.
var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"json"}, Others: []string{"format", "nodes", "cas", "switches", "routers", "all-ports", "diff"}},
		{Flags: []string{"all-ports"}, Others: []string{"nodes", "cas", "switches", "routers", "diff"}},
		{Flags: []string{"diff"}, Others: []string{"nodes", "cas", "switches", "routers", "check"}},
		{Flags: []string{"punch-list"}, Others: []string{"json", "check", "format"}},
		{Flags: []string{"plan"}, Others: []string{"diff"}},
		{Flags: []string{"check", "plan"}, Others: []string{"nodes", "cas", "switches", "routers", "all-ports"}},
	},
	Needs: []cmdutil.Need{
		{Flags: []string{"punch-list"}, Others: []string{"plan"}},
		{Flags: []string{"vs-key"}, Others: []string{"phy"}},
		{Flags: []string{"diffcheck"}, Others: []string{"diff"}},
		{Flags: []string{"save-partial"}, Others: []string{"save", "ibdiagnet"}},
	},
}

// complete checks the flags and derives the options.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if c.format == formatJSON {
		c.json, c.format = true, formatTable
	}
	if err := c.source.Complete([]string{"pause", "phy"}, []string{"outstanding-smps"}); err != nil {
		return err
	}
	if flags.Changed("sm-port") && !c.source.SA {
		return cmdutil.UsageErrorf("%s requires --from sa", cmdutil.FlagName(flags, "sm-port"))
	}
	if given := cmdutil.Given(flags, []string{"grouping"}); given != "" && c.format != formatNetdiscover {
		return cmdutil.UsageErrorf("%s requires --format %s", given, formatNetdiscover)
	}
	if given := cmdutil.Given(flags, []string{"check", "plan"}); given != "" && c.format != formatTable && c.format != formatSVG && c.format != formatHTML {
		return cmdutil.UsageErrorf("%s and --format %s are mutually exclusive", given, c.format)
	}
	if given := cmdutil.Given(flags, []string{"nodes", "cas", "switches", "routers", "all-ports", "diff"}); given != "" && c.format != formatNetdiscover && c.format != formatTable {
		return cmdutil.UsageErrorf("%s and --format %s are mutually exclusive", given, c.format)
	}
	if len(c.nodes) > 0 {
		if given := cmdutil.Given(flags, []string{"check", "plan", "diff"}); given != "" || c.format != formatTable {
			return cmdutil.UsageErrorf("--node and %s are mutually exclusive", cmp.Or(given, "--format "+c.format))
		}
	}
	if err := c.nodes.Check(); err != nil {
		return err
	}
	if c.phy && !c.wantsDatabase() {
		return cmdutil.UsageErrorf("--phy requires --ibdiagnet or --format %s", formatDatabase)
	}
	if c.key, err = fabricflag.OptionalKey(ctx, c.env, "vendor key", c.vendorKey); err != nil {
		return err
	}
	if c.pause != 0 && (c.pause < 0 || !c.wantsDatabase()) {
		return cmdutil.UsageErrorf("invalid --pause %v: want a time above 0 with --ibdiagnet or --format %s", c.pause, formatDatabase)
	}
	for _, t := range []struct {
		on   bool
		kind mad.NodeType
	}{{c.cas, mad.NodeTypeCA}, {c.switches, mad.NodeTypeSwitch}, {c.routers, mad.NodeTypeRouter}} {
		if t.on || c.list {
			c.types = append(c.types, t.kind)
		}
	}
	if c.checks, err = topology.ParseChecks(strings.Join(c.diffcheck, ",")); err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	c.names, err = c.fabric.CompleteNames(ctx, c.env)
	return err
}

// run scans and prints.
func (c *command) run(ctx context.Context) error {
	c.began = time.Now()
	var before *fabric.Fabric
	if c.diff != "" {
		var err error
		if before, err = fabric.ReadCacheFile(c.diff); before == nil {
			return &cmdutil.UsageError{Err: cmdutil.WithFileHint(err, cmdutil.CacheHint("topology"))}
		}
		links.PrintStored(c.env, &c.fabric.Settings, c.diff, before, c.names)
	}
	var plan *topology.Plan
	if c.plan != "" {
		var err error
		if plan, err = topology.ReadPlan(c.plan); err != nil {
			return &cmdutil.UsageError{Err: cmdutil.WithFileHint(err, cmdutil.PlanHint)}
		}
	}
	if err := c.makeDirectory(); err != nil {
		return err
	}
	f, err := c.scan(ctx)
	if f == nil {
		return err
	}
	if err := c.storePlan(f); err != nil {
		return err
	}
	if err := c.storeIbdiagnet(f); err != nil {
		return err
	}
	if err := c.nodes.Missing(f, slices.DeleteFunc(slices.Clone(f.Nodes), func(n *fabric.Node) bool { return !c.hasType(n) }), c.names); err != nil {
		return err
	}
	c.reportDamage(plan)
	out := render.NewOutput(c.env.Out)
	code := c.print(out, f, before, plan)
	if err := out.Flush(); err != nil {
		return err
	}
	if f.Aborted != nil && errors.Is(f.Aborted, umad.ErrDeviceRemoved) {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return code
}

// reportDamage prints the damage in the plan.
func (c *command) reportDamage(plan *topology.Plan) {
	if plan == nil || len(plan.Damage) == 0 {
		return
	}
	c.fabric.PrintFailed(c.env, plan.Damage)
	c.unread, c.damaged = append(c.unread, plan.Damage...), true
	unjudged := ""
	if plan.Incomplete {
		unjudged = ", unexpected cables are not reported"
	}
	fmt.Fprintf(c.env.ErrOut, "warning: the result is partial: parts of the plan could not be read%s\n", unjudged)
}

// scan returns the fabric and stores it.
func (c *command) scan(ctx context.Context) (*fabric.Fabric, error) {
	f, err := c.source.Stored("save", "ibdiagnet")
	if f == nil && err == nil {
		bar := render.NewProgress(c.env.ErrOut)
		if c.pause > 0 {
			bar.Wait(fmt.Sprintf("reading counters twice, %v apart (--pause)", c.pause))
		}
		f, err = c.discover(ctx, bar.Update)
		bar.Close()
	}
	if f == nil {
		return nil, fabricflag.WithHint(err)
	}
	links.PrintWarnings(c.env, &linkinfo.Result{Fabric: f}, c.names, c.fabric.Verbose > 0)
	if err != nil {
		cmdutil.PrintError(c.env, "error", err)
		c.ended = true
	}
	if err := links.StoreCache(c.env, c.cache, f, c.savePartial); err != nil {
		return nil, err
	}
	return f, nil
}

// discover reads the fabric from the local port.
func (c *command) discover(ctx context.Context, progress func(fabric.Progress)) (*fabric.Fabric, error) {
	source := c.source.Fabric(&c.fabric.Settings, c.env)
	source.Progress = progress
	c.noteDevice(&source)
	if c.wantsDatabase() {
		return c.scanDatabase(ctx, source)
	}
	return topology.Run(ctx, topology.Options{Source: source, Labels: !c.source.SA && c.showsLabels()})
}

// showsLabels reports whether the output contains the labels of ports.
func (c *command) showsLabels() bool {
	return c.writePlan != "" || slices.Contains([]string{formatTable, formatCSV, formatSVG, formatHTML}, c.format)
}

// storePlan writes the cabling as a plan.
func (c *command) storePlan(f *fabric.Fabric) error {
	switch {
	case c.writePlan == "":
		return nil
	case f.Partial():
		fmt.Fprintf(c.env.ErrOut, "warning: %s was not written, because the result is partial\n", cmdutil.Visible(c.writePlan))
		return nil
	}
	var plan bytes.Buffer
	if err := topology.WriteCSV(&plan, topology.Cables(f), c.names); err != nil {
		return err
	}
	return fileout.WriteNew(c.writePlan, plan.Bytes())
}

// print writes the selected view and returns the exit code as an error.
func (c *command) print(out *render.Output, f, before *fabric.Fabric, plan *topology.Plan) error {
	var findings []report.Finding
	if c.check {
		findings = topology.Check(f, c.names)
	}
	if plan != nil {
		differences := plan.Compare(f, c.names)
		if c.check { // has these findings for all nodes
			differences = slices.DeleteFunc(differences, func(f report.Finding) bool { return f.Kind == report.DuplicateName })
		}
		findings = append(findings, differences...)
	}
	var err error
	differs := false
	text := &topology.Text{Names: c.names, Time: time.Now(), Group: c.group, OmitUnread: true}
	switch {
	case before != nil:
		differs, err = text.WriteDiff(out, before, f, c.checks)
		if n := linkinfo.Unreached(before, f, nil); n > 0 {
			fmt.Fprintf(c.env.ErrOut, "warning: not compared: %s that a scan did not reach\n", plural.Count(n, "node", "nodes"))
		}
	case c.punchList:
		c.printPunchList(out, f, findings)
	case c.json:
		c.writeJSON(out, c.report(f, findings), f)
	case c.format == formatNetdiscover:
		err = c.printText(out, text, f)
	case c.format == formatCSV:
		err = topology.WriteCSV(out, topology.Cables(f), c.names)
	case c.format == formatDOT:
		err = topology.WriteDOT(out, f, c.names)
	case c.format == formatDatabase:
		err = c.database.Write(out)
	case c.format == formatLST:
		err = ibdiagnet.WriteList(out, f, c.names)
	case c.format == formatSlurm:
		err = c.printHosts(out, f, topology.WriteSlurm)
	case c.format == formatSlurmBlock:
		err = c.printHosts(out, f, topology.WriteSlurmBlocks)
	case c.format == formatSVG:
		err = c.picture(f, findings).WriteSVG(out)
	case c.format == formatHTML:
		err = c.picture(f, findings).WriteHTML(out)
	default:
		c.printTable(out, f, findings)
	}
	if err != nil {
		return err
	}
	return cmdutil.ResultError(c.isPartial(f) || before != nil && before.Partial(), differs || len(findings) > 0)
}

// printHosts writes a file with host names. The result is partial without the adapters that
// do not identify a host.
func (c *command) printHosts(out *render.Output, f *fabric.Fabric, write func(io.Writer, *fabric.Fabric, *fabric.NameMap) error) error {
	nameless := topology.Nameless(f, c.names)
	c.fabric.PrintFailed(c.env, nameless)
	if len(nameless) > 0 {
		fmt.Fprintf(c.env.ErrOut, "warning: the result is partial: %s without the name of a host (a node name map can assign it: --node-name-map)\n",
			plural.Count(len(nameless), "adapter", "adapters"))
	}
	c.unread = append(c.unread, nameless...)
	return write(out, f, c.names)
}

// picture returns a picture with the findings about links, from checks and from plans.
func (c *command) picture(f *fabric.Fabric, findings []report.Finding) *topology.Picture {
	p := topology.NewPicture(f, c.names, marks(f, findings))
	p.Source = c.sourceText()
	for _, finding := range findings {
		isLinked := func(port *fabric.Port) bool { return port.Peer != nil }
		if !slices.ContainsFunc(topology.PortsOf(finding), isLinked) {
			p.Others = append(p.Others, finding)
		}
	}
	return p
}

// marks returns the findings of ports for a picture: those of checks and plans, and
// problems of links.
func marks(f *fabric.Fabric, findings []report.Finding) map[*fabric.Port]topology.Mark {
	marks := map[*fabric.Port]topology.Mark{}
	for _, end := range linkinfo.Ends(f, f.Nodes) {
		for _, finding := range end.Findings {
			if _, marked := marks[end.Port]; finding.Severity.IsProblem() && !marked {
				marks[end.Port] = topology.Mark{Kind: finding.Kind, Severity: finding.Severity, Text: finding.Brief()}
			}
		}
	}
	for _, finding := range findings {
		for _, p := range topology.PortsOf(finding) {
			marks[p] = topology.Mark{Kind: finding.Kind, Severity: finding.Severity, Text: finding.Brief()}
		}
	}
	return marks
}

// printText writes one of the formats of ibnetdiscover.
func (c *command) printText(out *render.Output, text *topology.Text, f *fabric.Fabric) error {
	switch {
	case c.ports:
		return text.WritePorts(out, f)
	case c.types != nil:
		return text.WriteList(out, f, c.types...)
	}
	return text.WriteTopology(out, f)
}
