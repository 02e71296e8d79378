// Package sa is the command that queries subnet administration for records.
package sa

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/fields"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/sa"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// command is one call of sa.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	list     bool
	smKey    string
	wait     time.Duration
	fields   []string
	json     bool
	csv      bool
	hex      bool
	showKeys bool

	conditions []string
	options    sa.Options
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:     "sa [flags] RECORD [FIELD=VALUE...]",
		Aliases: []string{"records"},
		Short:   "Show records of subnet administration",
		Long: strings.TrimSpace(`
sa requests records from subnet administration: all of a kind, or those whose
fields have the given values.

A RECORD is a name such as NodeRecord or Node, or an alias of saquery such as
NR. A FIELD is the name of a column or of JSON; --list with a RECORD lists them.
A VALUE is a number, the name of a value such as Switch, a GID, a GUID, or a
text. Instead of a LID, it can be any address that ibkit addr accepts. MTU, rate
and packet lifetime can be compared: rate>7. A capability mask selects ports
that have at least these capabilities: cap_mask=IsSM.

Long replies are transferred in segments, and lost segments are requested
again.`),
		Example: strings.Trim(`
  # all nodes
  ibkit sa NodeRecord

  # the ports of a switch that are down
  ibkit sa PortInfoRecord lid=leaf1 state=Down

  # the path between two hosts
  ibkit sa PathRecord from=node01 to=node07 numb_path=1

  # the multicast groups
  ibkit sa MCMemberRecord

  # the members of a group, which subnet managers show to trusted clients
  ibkit sa MCMemberRecord mlid=0xc010 --sm-key @/etc/opensm/smkey

  # the ports with a subnet manager
  ibkit sa PortInfoRecord cap_mask=IsSM

  # the fields of a record
  ibkit sa --list PathRecord`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.list {
				return c.printList(cmd.Flags(), args)
			}
			if err := c.complete(cmd.Context(), cmd.Flags(), args); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&c.list, "list", false, "list all record names, or a record's fields")
	flags.StringVar(&c.smKey, "sm-key", "", "SM_Key of requests: a `KEY`, @FILE with it, or - for a prompt")
	flags.DurationVar(&c.wait, "reply-timeout", 0, "maximum `TIME` for the whole reply (default 30s)")
	flags.StringSliceVar(&c.fields, "columns", nil, "show a `LIST` of fields as columns")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print comma-separated values")
	flags.BoolVar(&c.hex, "hex", false, "print the bytes of the records")
	flags.BoolVarP(&c.showKeys, "show-keys", "K", false, "show keys, printed as 0 by default")
	c.fabric.Define(c.env, cmd)
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return completeKind(begun), cobra.ShellCompDirectiveNoFileComp
		}
		return completeField(args[0], begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func completeKind(begun string) []string {
	var names []string
	for _, k := range sa.Kinds() {
		names = append(names, k.Name)
	}
	return cmdutil.BeginningWith(begun, names)
}

func completeField(kind, begun string) []string {
	k, err := sa.ParseKind(kind)
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range k.Fields() {
		names = append(names, f+"=")
	}
	return cmdutil.BeginningWith(begun, names)
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"json"}, Others: []string{"csv", "hex", "columns"}},
		{Flags: []string{"hex"}, Others: []string{"csv", "columns", "show-keys"}},
	},
}

// listFields is the hint for a field that does not exist, without the kind of the record.
const listFields = "list all fields: ibkit sa --list "

func parseKind(name string) (sa.Kind, error) {
	kind, err := sa.ParseKind(name)
	if err != nil {
		return kind, cmdutil.WithHint(&cmdutil.UsageError{Err: err}, "list all names: ibkit sa --list")
	}
	return kind, nil
}

// complete validates the command line.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if len(args) == 0 {
		return cmdutil.WithHint(cmdutil.Missing("record"), "list all records: ibkit sa --list")
	}
	kind, err := parseKind(args[0])
	if err != nil {
		return err
	}
	o := &c.options
	o.Filter = sa.NewFilter(kind)
	c.conditions = args[1:]
	for _, condition := range c.conditions {
		err := o.Filter.Add(condition)
		if errors.Is(err, sa.ErrNoField) || errors.Is(err, sa.ErrNoCondition) {
			hint := listFields + kind.Name
			if len(c.conditions) == 2 && kind.Name == "PathRecord" && errors.Is(err, sa.ErrNoCondition) {
				hint = fmt.Sprintf("the paths between two ports: ibkit route %s %s; %s", c.conditions[0], c.conditions[1], hint)
			}
			err = cmdutil.WithHint(err, hint)
		}
		if err != nil {
			return &cmdutil.UsageError{Err: err}
		}
	}
	if len(c.fields) > 0 {
		if _, err := fields.Select(kind.New(), c.fields, nil); err != nil {
			return cmdutil.WithHint(err, listFields+kind.Name)
		}
	}
	switch {
	case c.csv && len(fields.Names(kind.New())) == 0:
		return cmdutil.UsageErrorf("%v has no named fields for --csv", kind)
	case c.hex && kind.Name == "ClassPortInfo":
		return cmdutil.UsageErrorf("ClassPortInfo is not a record: --hex is not possible")
	case c.wait < 0 || c.wait == 0 && flags.Changed("reply-timeout"):
		return cmdutil.UsageErrorf("invalid --reply-timeout %v: want a time above 0", c.wait)
	}
	names, err := c.fabric.CompleteNames(ctx, c.env)
	if err != nil {
		return err
	}
	if o.SMKey, err = c.fabric.SMKey(ctx, c.env, c.smKey); err != nil {
		return err
	}
	o.Source, o.Timeout, o.Resolve = c.fabric.Source(c.env), c.wait, c.fabric.Resolve(c.env, names)
	return nil
}

func (c *command) run(ctx context.Context) error {
	result, err := sa.Run(ctx, c.options)
	var status mad.StatusError
	switch {
	case errors.As(err, &status) && c.options.SMKey == 0 && c.options.Filter.Kind.Name == "P_KeyTableRecord":
		return cmdutil.WithHint(err, "P_Key tables require the SM_Key of the subnet manager: --sm-key")
	case err != nil:
		return fabricflag.WithHint(err)
	}
	v := &view{result: result, fields: c.fields, showKeys: c.showKeys}
	out := render.NewOutput(c.env.Out)
	switch {
	case c.json:
		err = v.json(out)
	case c.hex:
		v.hex(out)
	case c.csv:
		err = v.csv(out)
	default:
		err = v.text(out)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if c.fabric.Verbose > 0 {
		fmt.Fprintf(c.env.ErrOut, "%s in %v; %s\n",
			plural.Count(result.Len(), "record", "records"), result.Elapsed.Round(time.Microsecond),
			fabricflag.FormatStats(result.Stats))
	}
	if result.Clipped() {
		fmt.Fprintln(c.env.ErrOut, "warning: the result may be partial: the reply is a single packet")
	}
	if result.Len() == 0 && len(c.conditions) > 0 {
		err := fmt.Errorf("query subnet administration: no %v matches %s", c.options.Filter.Kind, strings.Join(c.conditions, " "))
		return cmdutil.WithHint(err, fmt.Sprintf("all records: ibkit sa %v", c.options.Filter.Kind))
	}
	return cmdutil.ResultError(result.Clipped(), false)
}

// listFlags are the flags that apply to --list.
var listFlags = map[string]bool{"list": true, "json": true, "help": true}

// printList prints the names of all records, or of the fields of one.
func (c *command) printList(flags *pflag.FlagSet, args []string) error {
	if err := cmdutil.CheckMode(flags, "list", listFlags); err != nil {
		return err
	}
	kinds := sa.Kinds()
	switch len(args) {
	case 0:
	case 1:
		kind, err := parseKind(args[0])
		if err != nil {
			return err
		}
		kinds = []sa.Kind{kind}
	default:
		return cmdutil.UsageErrorf("unexpected argument %q", args[1])
	}
	out := render.NewOutput(c.env.Out)
	switch {
	case c.json:
		render.WriteLine(out, newReportList(kinds))
	case len(args) == 0:
		render.Columns(out, []render.Column[sa.Kind]{
			render.TextColumn("ID", func(k sa.Kind) string { return fmt.Sprintf("0x%04x", uint16(k.ID)) }),
			render.TextColumn("NAME", func(k sa.Kind) string { return k.Name }),
			render.TextColumn("ALIASES", func(k sa.Kind) string { return strings.Join(k.Aliases, ", ") }),
		}, kinds)
	default:
		for _, name := range kinds[0].Fields() {
			out.WriteString(name + "\n")
		}
	}
	return out.Flush()
}

// newReportList returns the document of --list.
func newReportList(kinds []sa.Kind) *sa.ReportList {
	r := &sa.ReportList{Head: report.NewHead(sa.ListSchema, time.Now())}
	for _, k := range kinds {
		r.Records = append(r.Records, sa.ReportListed{
			ReportRecord: sa.ReportRecord{ID: int(k.ID), Name: k.Name},
			Aliases:      append([]string{}, k.Aliases...), Fields: append([]string{}, k.Fields()...),
		})
	}
	return r
}
