// Package query is the command that requests attributes of management agents by name.
package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/fields"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/internal/tool/query"
	"github.com/ibkit/ibkit/mad"
)

// command is one call of query.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	list      bool
	nodes     []string
	ports     string
	modifier  string
	addresses []string
	ccKey     string
	oui       uint32
	serving   bool
	debug     bool
	source    lookup.Mode
	fromSA    bool
	smKey     string
	fields    []string
	json      bool
	csv       bool
	hex       bool
	showKeys  bool

	names   *fabric.NameMap
	options query.Options
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "query [flags] ATTRIBUTE [TARGET [PORT]]",
		Short: "Show any attribute of any port",
		Long: strings.TrimSpace(`
query requests an attribute from the management agents of nodes: of subnet
management, performance management, congestion control or NVIDIA's vendor class
0x0a. Without a TARGET, it requests the attribute of the local port.

An ATTRIBUTE is a name such as PortInfo, an alias of smpquery or ibccquery such
as PI, or a number. The prefixes smp:, pm:, cc:, vs: and sysstat: select a
class: 0x0015, pm:ClassPortInfo. A TARGET is any address that ibkit addr
accepts: a LID or a range, a GUID, a GID, a directed route, an IP address, a
name or a pattern. A PORT is a number, a list such as 1-4,7, or all. 0 is the
management port of a switch, and the port of an adapter that receives the
request. NAME[3] is port 3 of a node.

Ping, HostInfo and CPUInfo are answered by hosts that run ibkit query --serve or
ibsysstat -S, with the host name and the processors.

Tables are requested as a whole: all blocks of a P_Key, GUID or forwarding
table, and all input ports of an SL-to-VL table.

Many requests are in flight at the same time. Nodes that do not respond are
listed on standard error, and the exit code is 4. A reply with an error status
is shown field by field.`),
		Example: strings.Trim(`
  # the state of a port
  ibkit query PortInfo 7

  # one port of a switch, by its name
  ibkit query PortInfo leaf1 3

  # all ports of all leaf switches, as a table of some fields
  ibkit query PI 'leaf*' all --columns LinkState,LinkSpeedExtActive

  # the counters of a port
  ibkit query PortCountersExtended node07

  # the same port, from subnet administration
  ibkit query PortInfo leaf1 3 --sa

  # versions of the hardware and the firmware of an NVIDIA device
  ibkit query GeneralInfo leaf1

  # the names of all hosts, where ibkit query --serve runs
  ibkit query HostInfo 'node*'

  # an attribute that ibkit does not know, as bytes
  ibkit query 0xff40 7

  # the names of all attributes
  ibkit query --list`, "\n"),
		Args: cmdutil.AtMostArguments(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case c.list:
				return c.printList(cmd.Flags(), args)
			case c.serving:
				return c.serve(cmd.Context(), cmd.Flags(), args)
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
	flags.BoolVar(&c.list, "list", false, "list all attribute names, or an attribute's fields")
	flags.StringSliceVar(&c.nodes, "node", nil, "query nodes with a name like `PATTERN`, instead of a TARGET")
	cmdutil.CompleteList(c.env, cmd, "node", fabricflag.NodeNames)
	flags.StringVar(&c.ports, "ports", "", "query a `LIST` of ports such as 1-4,7, or all")
	flags.StringVar(&c.modifier, "modifier", "", "send a single request with attribute modifier `N`")
	flags.StringSliceVar(&c.addresses, "address", nil, "read the words at a `LIST` of addresses (ConfigSpace)")
	flags.StringVar(&c.ccKey, "cc-key", "", "CC_Key of requests: a `KEY`, @FILE with it, or - for a prompt")
	flags.Uint32Var(&c.oui, "oui", mad.OpenIB, "`OUI` of servers (Ping, HostInfo, CPUInfo)")
	flags.BoolVar(&c.fromSA, "sa", false, "query subnet administration instead of the nodes")
	flags.StringVar(&c.smKey, "sm-key", "", "SM_Key of requests: a `KEY`, @FILE with it, or - for a prompt (--sa)")
	cmdutil.EnumFlag(cmd, &c.source, "source", lookup.ModeAll, lookup.Modes, "`SOURCE` of targets (all: sa, else a scan of the nodes)")
	flags.StringSliceVar(&c.fields, "columns", nil, "show a `LIST` of fields as columns")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print comma-separated values")
	flags.BoolVar(&c.hex, "hex", false, "print the bytes of the attribute")
	flags.BoolVarP(&c.showKeys, "show-keys", "K", false, "show keys, printed as 0 by default")
	flags.BoolVar(&c.serving, "serve", false, "reply to Ping, HostInfo and CPUInfo queries of other hosts")
	flags.BoolVar(&c.debug, "debug", false, "log each packet (--serve)")
	c.fabric.Define(c.env, cmd)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return completeAttribute(begun), cobra.ShellCompDirectiveNoFileComp
		case 1:
			return fabricflag.NodeNames(c.env, cmd.Flags()), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeAttribute returns the names of attributes that begin with a text.
func completeAttribute(begun string) []string {
	var names []string
	for _, a := range query.Attributes() {
		names = append(names, unique(a))
	}
	return cmdutil.BeginningWith(begun, names)
}

// unique returns the name of an attribute, with the prefix of its class if it needs one.
func unique(a query.Attribute) string {
	if _, err := query.ParseAttribute(a.Name); err != nil {
		return a.Prefix() + ":" + a.Name
	}
	return a.Name
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"json"}, Others: []string{"csv", "hex", "columns"}},
		{Flags: []string{"hex"}, Others: []string{"csv", "columns"}},
		{Flags: []string{"modifier"}, Others: []string{"ports", "address"}},
		{Flags: []string{"sa"}, Others: []string{"modifier", "cc-key", "hex"}},
		{Flags: []string{"hex"}, Others: []string{"show-keys"}},
	},
	Needs: []cmdutil.Need{
		{Flags: []string{"sm-key"}, Others: []string{"sa"}},
		{Flags: []string{"debug"}, Others: []string{"serve"}},
	},
}

func parseAttribute(name string) (query.Attribute, error) {
	a, err := query.ParseAttribute(name)
	if err != nil {
		return a, cmdutil.WithHint(&cmdutil.UsageError{Err: err}, "the attribute is first: ibkit query PortInfo TARGET; list all names: ibkit query --list")
	}
	return a, nil
}

// inOrder puts the attribute in front of the target: "leaf1 PortInfo" and "3 PortInfo" have
// only one meaning.
func inOrder(args []string) []string {
	if len(args) < 2 {
		return args
	}
	first, err := query.ParseAttribute(args[0])
	if err == nil && args[0] != strconv.Itoa(int(first.ID)) {
		return args // another word than a number, which may be a LID
	}
	second, err := query.ParseAttribute(args[1])
	if err != nil || first.Class != 0 && !strings.EqualFold(second.Name, args[1]) || !second.Known() || strings.Trim(args[1], "0123456789") == "" {
		return args
	}
	return append([]string{args[1], args[0]}, args[2:]...)
}

// complete validates the command line.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if len(args) == 0 {
		return cmdutil.WithHint(cmdutil.Missing("attribute"), "list all attributes: ibkit query --list")
	}
	o := &c.options
	args = inOrder(args)
	if o.Attribute, err = parseAttribute(args[0]); err != nil {
		return err
	}
	args = args[1:]
	var targets []string
	switch {
	case len(c.nodes) > 0 && len(args) > 0:
		return cmdutil.UsageErrorf("--node and the target %q are mutually exclusive", args[0])
	case len(c.nodes) > 0:
		for _, n := range c.nodes {
			targets = append(targets, lookup.Name.String()+":"+n)
		}
	case len(args) > 0:
		targets = args[:1]
	}
	if o.Targets, err = cmdutil.ParseTargets(c.env, targets, false, false, ""); err != nil {
		return err
	}
	if len(targets) == 0 {
		o.Targets = []lookup.Address{lookup.Self()}
	}
	if len(args) > 1 {
		if c.ports != "" {
			return cmdutil.UsageErrorf("--ports and the port %q are mutually exclusive", args[1])
		}
		if c.ports = args[1]; c.ports == "" {
			return cmdutil.UsageErrorf("parse ports %q: no port", c.ports)
		}
	}
	if err := c.completeRequest(flags); err != nil {
		return err
	}
	if c.names, err = c.fabric.CompleteNames(ctx, c.env); err != nil {
		return err
	}
	o.Source = c.fabric.Source(c.env)
	o.Packets = c.hex
	o.Identify = o.Targets[0].Kind == lookup.Route && !c.hex || c.json || c.csv || len(c.fields) > 0 || len(o.Targets) > 1 || o.Targets[0].Kind == lookup.LID && o.Targets[0].First != o.Targets[0].Last
	if o.FromSA = c.fromSA; c.fromSA {
		if o.SMKey, err = c.fabric.SMKey(ctx, c.env, c.smKey); err != nil {
			return err
		}
	}
	if o.CCKey, err = fabricflag.OptionalKey(ctx, c.env, "CC_Key", c.ccKey); err != nil {
		return err
	}
	o.Resolve = c.fabric.Resolve(c.env, c.names)
	o.Resolve.Mode = c.source
	return nil
}

// completeRequest derives the ports and the modifier.
func (c *command) completeRequest(flags *pflag.FlagSet) (err error) {
	o := &c.options
	if c.ports != "" {
		if o.Ports, err = query.ParsePorts(c.ports); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
		if !o.Attribute.HasPorts() {
			return cmdutil.UsageErrorf("%v has no ports to select", o.Attribute)
		}
	}
	if flags.Changed("modifier") {
		if o.Ports.Given() {
			return cmdutil.UsageErrorf("--modifier and the port %q are mutually exclusive", c.ports)
		}
		modifier, err := strconv.ParseUint(c.modifier, 0, 32)
		if err != nil {
			return cmdutil.UsageErrorf("invalid --modifier %q: want a number of 32 bits", c.modifier)
		}
		m := uint32(modifier)
		o.Modifier = &m
	}
	for _, text := range c.addresses {
		address, err := strconv.ParseUint(strings.TrimSpace(text), 0, 32)
		if err != nil {
			return cmdutil.UsageErrorf("invalid --address %q: want a number of 32 bits", text)
		}
		o.Addresses = append(o.Addresses, uint32(address))
	}
	switch hasAddresses := o.Attribute.HasAddresses(); {
	case hasAddresses && len(o.Addresses) == 0 && o.Modifier == nil:
		return cmdutil.UsageErrorf("%v requires --address", o.Attribute)
	case !hasAddresses && len(o.Addresses) > 0:
		return cmdutil.UsageErrorf("%v has no addresses to select", o.Attribute)
	}
	switch {
	case c.oui >= 1<<24:
		return errOUI(c.oui)
	case flags.Changed("oui") && !o.Attribute.IsText():
		return cmdutil.UsageErrorf("--oui has no effect on %v", o.Attribute)
	case c.ccKey != "" && o.Attribute.Prefix() != "cc":
		return cmdutil.UsageErrorf("--cc-key has no effect on %v", o.Attribute)
	}
	o.OUI = c.oui
	if c.fromSA && !o.Attribute.HasRecord() {
		return cmdutil.UsageErrorf("subnet administration has no records of %v", o.Attribute)
	}
	if !o.Attribute.Known() && (len(c.fields) > 0 || c.csv && !o.Attribute.IsText()) {
		return cmdutil.UsageErrorf("attribute %v has no known fields", o.Attribute)
	}
	if len(c.fields) > 0 {
		v := &view{result: &query.Result{Attribute: o.Attribute}, fields: c.fields}
		_, err = v.selected()
		err = cmdutil.WithHint(err, "list all fields: ibkit query --list "+unique(o.Attribute))
	}
	return err
}

func (c *command) run(ctx context.Context) error {
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Resolve.Progress = bar.Update
	result, err := query.Run(ctx, c.options)
	bar.Close()
	if result == nil {
		return err
	}
	if err != nil {
		cmdutil.PrintError(c.env, "error", err)
	}
	if c.showKeys {
		for i := range result.Replies {
			if r := &result.Replies[i]; r.Attr != nil {
				r.Attr = mad.WithKeys(r.Attr)
			}
		}
	}
	v := &view{env: c.env, names: c.names, result: result, fields: c.fields}
	out := render.NewOutput(c.env.Out)
	switch {
	case c.json:
		v.json(out)
	case c.hex:
		v.hex(out)
	case c.csv:
		err = errors.Join(err, v.csv(out))
	default:
		err = errors.Join(err, v.text(out))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	failedCode := c.warn(result)
	if c.fromSA && c.options.SMKey == 0 && result.Failed > 0 && c.options.Attribute.Name == "P_KeyTable" {
		fmt.Fprintln(c.env.ErrOut, "hint: P_Key tables require the SM_Key of the subnet manager: --sm-key")
	}
	var usage *cmdutil.UsageError
	switch {
	case errors.As(err, &usage):
		return usage
	case result.Failed == len(result.Replies):
		return &cmdutil.ExitError{Code: failedCode}
	case err != nil && !errors.Is(err, context.Canceled): // an interrupt leaves a partial result
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return cmdutil.ResultError(result.Partial(), false)
}

// warn prints the errors of replies and, with -v, the statistics. It returns the exit code for
// a result without other replies.
func (c *command) warn(r *query.Result) int {
	from := "warning"
	if r.Failed == len(r.Replies) {
		from = "ibkit query"
	}
	failures := c.fabric.Failures(c.env, from)
	for i := range r.Replies {
		reply := &r.Replies[i]
		if reply.Err == nil {
			continue
		}
		err := reply.Err
		if r.Attribute.IsText() {
			err = withServerHint(err)
		}
		err = withPortHint(fabricflag.WithSourceHint(err, c.options.Resolve.Mode), reply)
		failures.Print(withSwitchHint(err, r.Attribute, reply))
	}
	failures.Close()
	c.fabric.PrintMissed(c.env, r.Missed)
	if c.fabric.Verbose > 0 {
		fmt.Fprintf(c.env.ErrOut, "%s, at most %d in flight\n", fabricflag.FormatStats(r.Stats), r.Stats.Window)
	}
	return failures.Code()
}

// withPortHint adds a hint if the node rejected the number of a port that it does not have.
func withPortHint(err error, r *query.Reply) error {
	status, ok := errors.AsType[mad.StatusError](err)
	if !ok || mad.Status(status) != mad.StatusBadValue || r.Number <= 0 || r.Port == nil {
		return err
	}
	if node := r.Port.Node; node != nil && r.Number > int(node.NumPorts) {
		return cmdutil.WithHint(err, fabric.NumbersOf(r.Target.Text, int(node.NumPorts)))
	}
	return cmdutil.WithHint(err, "show the number of ports: ibkit query NodeInfo "+r.Target.Text)
}

// withSwitchHint adds a hint if a node that is not a switch rejected a switch attribute.
func withSwitchHint(err error, a query.Attribute, r *query.Reply) error {
	_, refused := errors.AsType[mad.StatusError](err)
	if !refused || !a.OfSwitch() || r.Port == nil || r.Port.Node == nil || r.Port.Node.IsSwitch() {
		return err
	}
	return cmdutil.WithHint(err, cmdutil.Visible(r.Target.Text)+" is not a switch")
}

// listFlags are the flags that apply to --list.
var listFlags = map[string]bool{"list": true, "json": true, "help": true}

// printList prints the names of all attributes, or of the fields of one.
func (c *command) printList(flags *pflag.FlagSet, args []string) error {
	if err := cmdutil.CheckMode(flags, "list", listFlags); err != nil {
		return err
	}
	all := query.Attributes()
	slices.SortStableFunc(all, func(a, b query.Attribute) int { return int(a.Class) - int(b.Class) })
	switch len(args) {
	case 0:
	case 1:
		a, err := parseAttribute(args[0])
		if err != nil {
			return err
		}
		if len(fieldNames(a)) == 0 {
			return cmdutil.UsageErrorf("%v has no fields with names", a)
		}
		all = []query.Attribute{a}
	default:
		return cmdutil.UsageErrorf("unexpected argument %q", args[1])
	}
	out := render.NewOutput(c.env.Out)
	switch {
	case c.json:
		render.WriteLine(out, newReportList(all))
	case len(args) == 0:
		listAttributes(out, all)
	default:
		for _, name := range fieldNames(all[0]) {
			out.WriteString(name + "\n")
		}
	}
	return out.Flush()
}

// fieldNames returns the names of the fields of an attribute, nil if they are not known.
func fieldNames(a query.Attribute) []string {
	if !a.Known() {
		return nil
	}
	return fields.Names(a.Class.NewAttribute(a.ID))
}

func listAttributes(out *render.Output, all []query.Attribute) {
	render.Columns(out, []render.Column[query.Attribute]{
		render.TextColumn("CLASS", query.Attribute.Prefix),
		render.TextColumn("ID", func(a query.Attribute) string { return fmt.Sprintf("0x%04x", uint16(a.ID)) }),
		render.TextColumn("NAME", func(a query.Attribute) string { return a.Name }),
		render.TextColumn("ALIASES", func(a query.Attribute) string { return strings.Join(a.Aliases, ", ") }),
	}, all)
}
