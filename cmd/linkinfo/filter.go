package linkinfo

import (
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

// filter picks link ends. Each list is "any of these"; an empty one picks
// everything.
type filter struct {
	problems bool
	allPorts bool
	nodes    []string
	states   []string
	widths   []string
	speeds   []string
	findings []string
	kinds    []linkinfo.Kind // the findings, parsed
}

func (f *filter) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.problems, "problems", false, "show only links with a problem")
	flags.BoolVar(&f.allPorts, "all-ports", false, "show ports without a link too")
	flags.StringSliceVar(&f.nodes, "node", nil, "show only nodes whose name or GUID matches a `PATTERN` such as 'leaf-*'")
	cmdutil.CompleteList(env, cmd, "node", fabricflag.NodeNames)
	flags.StringSliceVar(&f.states, "state", nil, "show only ports in a `STATE`: Down, Initialize, Armed, Active")
	cmdutil.CompleteList(env, cmd, "state", cmdutil.Constant("Down", "Initialize", "Armed", "Active"))
	flags.StringSliceVar(&f.widths, "width", nil, "show only links of a `WIDTH`: 1X, 2X, 4X, 8X, 12X")
	cmdutil.CompleteList(env, cmd, "width", cmdutil.Constant("1X", "2X", "4X", "8X", "12X"))
	flags.StringSliceVar(&f.speeds, "speed", nil, "show only links of a `SPEED`: SDR to XDR")
	cmdutil.CompleteList(env, cmd, "speed", cmdutil.Constant("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"))
	flags.StringSliceVar(&f.findings, "finding", nil, "show only links with a `FINDING`: "+joinKinds())
	cmdutil.CompleteList(env, cmd, "finding", findingKinds)
}

func joinKinds() string {
	var s []string
	for _, k := range linkinfo.Kinds {
		s = append(s, k.String())
	}
	return strings.Join(s, ", ")
}

// resolve checks what the flags say.
func (f *filter) resolve() error {
	for _, pattern := range f.nodes {
		if _, err := path.Match(pattern, ""); err != nil {
			return cmdutil.UsageErrorf("invalid pattern %q: %w", pattern, err)
		}
	}
	for _, k := range f.findings {
		kind, err := linkinfo.ParseKind(k)
		if err != nil {
			return cmdutil.UsageErrorf("%w (known: %s)", err, joinKinds())
		}
		f.kinds = append(f.kinds, kind)
	}
	for _, l := range []struct {
		what          string
		given, values []string
	}{
		{"state", f.states, []string{"Down", "Initialize", "Armed", "Active"}},
		{"width", f.widths, []string{"1X", "2X", "4X", "8X", "12X"}},
		{"speed", f.speeds, []string{"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"}},
	} {
		for _, s := range l.given {
			if !slices.ContainsFunc(l.values, func(v string) bool { return strings.EqualFold(v, s) }) {
				return cmdutil.UsageErrorf("unknown %s %q (known: %s)", l.what, s, strings.Join(l.values, ", "))
			}
		}
	}
	return nil
}

// wants reports whether a port is to be shown. Ports that are simply not in use
// are not, unless withDown is set or they are asked for.
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

// narrows reports whether links were to be left out.
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
