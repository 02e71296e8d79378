package linkinfo

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
)

func kindNames() []string {
	var names []string
	for _, k := range linkinfo.Kinds {
		names = append(names, k.String())
	}
	return names
}

// filter selects link ends. A list selects ends that match any of its elements, an
// empty list all ends.
type filter struct {
	problems bool
	allPorts bool
	nodes    fabricflag.NodePatterns
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
	f.nodes.Register(env, cmd, "show")
	cmdutil.EnumListFlag(cmd, &f.states, "state", "", []string{"Down", "Initialize", "Armed", "Active"}, "show only ports in a `STATE`")
	cmdutil.EnumListFlag(cmd, &f.widths, "width", "", []string{"1X", "2X", "4X", "8X", "12X"}, "show only links of a `WIDTH`")
	cmdutil.EnumListFlag(cmd, &f.speeds, "speed", "", []string{"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"}, "show only links of a `SPEED`")
	cmdutil.EnumListFlag(cmd, &f.findings, "finding", "", kindNames(), "show only links with a `FINDING`")
	cmdutil.EnumListFlag(cmd, &f.fail, "fail-on", "", kindNames(), "exit with 3 for a `FINDING` (default: --finding, or all problems)")
}

// complete checks the flags.
func (f *filter) complete() (err error) {
	if err := f.nodes.Check(); err != nil {
		return err
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
	return nil
}

func parseKinds(list []string) ([]linkinfo.Kind, error) {
	var kinds []linkinfo.Kind
	for _, s := range list {
		k, err := linkinfo.ParseKind(s)
		if err != nil {
			return nil, &cmdutil.UsageError{Err: err}
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

// missing returns an error for a pattern that matches no node. before is the other fabric
// of a comparison, or nil.
func (f *filter) missing(names *fabric.NameMap, nodes []*fabric.Node, before *fabric.Fabric) error {
	if before != nil {
		nodes = append(slices.Clip(nodes), before.Nodes...)
	}
	return f.nodes.Missing(nodes, names)
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
		f.nodes.Match(e.Port.Node, names)
}

// narrows reports whether the filters may omit links.
func (f *filter) narrows() bool {
	return f.problems || len(f.nodes)+len(f.states)+len(f.widths)+len(f.speeds)+len(f.kinds) > 0
}

func anyEqual(list []string, s string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(v string) bool { return strings.EqualFold(v, s) })
}
