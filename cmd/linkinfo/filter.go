package linkinfo

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
)

func findingKinds(*cmdutil.Env, *pflag.FlagSet) []string {
	var kinds []string
	for _, k := range linkinfo.Kinds {
		kinds = append(kinds, k.String())
	}
	return kinds
}

// filter selects link ends. A list selects ends that match any of its elements, an
// empty list all ends.
type filter struct {
	problems bool
	allPorts bool
	nodes    []string
	states   []string
	widths   []string
	speeds   []string
	findings []string
	fail     []string

	kinds  []linkinfo.Kind // findings, parsed
	failOn []linkinfo.Kind // fail, parsed; findings if there are none; empty: all problems
}

func (f *filter) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.problems, "problems", false, "show only links with a problem")
	flags.BoolVar(&f.allPorts, "all-ports", false, "include ports without a link")
	flags.StringSliceVar(&f.nodes, "node", nil, "show only nodes with a name or GUID like `PATTERN`: 'leaf-*'")
	cmdutil.CompleteList(env, cmd, "node", fabricflag.NodeNames)
	flags.StringSliceVar(&f.states, "state", nil, "show only ports in a `STATE`: Down, Initialize, Armed, Active")
	cmdutil.CompleteList(env, cmd, "state", cmdutil.Constant("Down", "Initialize", "Armed", "Active"))
	flags.StringSliceVar(&f.widths, "width", nil, "show only links of a `WIDTH`: 1X, 2X, 4X, 8X, 12X")
	cmdutil.CompleteList(env, cmd, "width", cmdutil.Constant("1X", "2X", "4X", "8X", "12X"))
	flags.StringSliceVar(&f.speeds, "speed", nil, "show only links of a `SPEED`: SDR to XDR")
	cmdutil.CompleteList(env, cmd, "speed", cmdutil.Constant("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"))
	flags.StringSliceVar(&f.findings, "finding", nil, "show only links with a `FINDING`: "+joinKinds())
	cmdutil.CompleteList(env, cmd, "finding", findingKinds)
	flags.StringSliceVar(&f.fail, "fail-on", nil, "exit with 3 for a `FINDING` of this list (default: --finding, or all problems)")
	cmdutil.CompleteList(env, cmd, "fail-on", findingKinds)
}

func joinKinds() string {
	var s []string
	for _, k := range linkinfo.Kinds {
		s = append(s, k.String())
	}
	return strings.Join(s, ", ")
}

// complete checks the flags.
func (f *filter) complete() (err error) {
	for _, pattern := range f.nodes {
		if _, err := path.Match(pattern, ""); err != nil {
			return cmdutil.UsageErrorf("invalid pattern %q: %w", pattern, err)
		}
	}
	if f.kinds, err = parseKinds(f.findings); err != nil {
		return err
	}
	if f.failOn, err = parseKinds(f.fail); err != nil {
		return err
	}
	if len(f.failOn) == 0 {
		f.failOn = f.kinds
	}
	for _, l := range []struct {
		name          string
		given, values []string
	}{
		{"state", f.states, []string{"Down", "Initialize", "Armed", "Active"}},
		{"width", f.widths, []string{"1X", "2X", "4X", "8X", "12X"}},
		{"speed", f.speeds, []string{"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"}},
	} {
		for _, s := range l.given {
			if !slices.ContainsFunc(l.values, func(v string) bool { return strings.EqualFold(v, s) }) {
				return cmdutil.UsageErrorf("unknown %s %q (known: %s)", l.name, s, strings.Join(l.values, ", "))
			}
		}
	}
	return nil
}

func parseKinds(list []string) ([]linkinfo.Kind, error) {
	var kinds []linkinfo.Kind
	for _, s := range list {
		k, err := linkinfo.ParseKind(s)
		if err != nil {
			return nil, cmdutil.UsageErrorf("%w (known: %s)", err, joinKinds())
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// fails reports whether an end makes the command exit with code 3.
func (f *filter) fails(e linkinfo.End) bool {
	if len(f.failOn) == 0 {
		return e.HasProblem()
	}
	return slices.ContainsFunc(f.failOn, e.Has)
}

// missing returns an error for a pattern that matches no node: a node that vanished
// must not pass a health check. before is the other fabric of a comparison, or nil.
func (f *filter) missing(names *fabric.NameMap, nodes []*fabric.Node, before *fabric.Fabric) error {
	if before != nil {
		nodes = append(slices.Clip(nodes), before.Nodes...)
	}
	for _, pattern := range f.nodes {
		one := []string{pattern}
		if !slices.ContainsFunc(nodes, func(n *fabric.Node) bool { return matchesNode(one, n, names) }) {
			return fmt.Errorf("select nodes: no node matches %q", pattern)
		}
	}
	return nil
}

// wants reports whether an end passes the filters. A port that is not in use passes
// with withDown, --all-ports or --state.
func (f *filter) wants(e *linkinfo.End, names *fabric.NameMap, withDown bool) bool {
	if e.Down() && e.Port.Peer == nil && len(e.Findings) == 0 && !withDown && !f.allPorts && len(f.states) == 0 {
		return false
	}
	if f.problems && !e.HasProblem() {
		return false
	}
	if len(f.kinds) > 0 && !slices.ContainsFunc(f.kinds, e.Has) {
		return false
	}
	state := ""
	if e.Port.Info != nil {
		state = e.Port.Info.State.String()
	}
	return anyEqual(f.states, state) && anyEqual(f.widths, render.Text(e.Width)) && anyEqual(f.speeds, render.Text(e.Speed)) &&
		matchesNode(f.nodes, e.Port.Node, names)
}

// narrows reports whether the filters may omit links.
func (f *filter) narrows() bool {
	return f.problems || len(f.nodes)+len(f.states)+len(f.widths)+len(f.speeds)+len(f.kinds) > 0
}

func anyEqual(list []string, s string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(v string) bool { return strings.EqualFold(v, s) })
}

func matchesNode(patterns []string, n *fabric.Node, names *fabric.NameMap) bool {
	if len(patterns) == 0 {
		return true
	}
	name, guid := names.Name(n), n.GUID.String()
	return slices.ContainsFunc(patterns, func(p string) bool {
		byName, _ := path.Match(p, name)
		byGUID, _ := path.Match(p, guid)
		return byName || byGUID
	})
}
