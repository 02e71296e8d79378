package linkinfo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
)

// filter selects link ends. A list selects ends that match any of its elements, an
// empty list all ends.
type filter struct {
	problems bool
	allPorts bool
	nodes    fabricflag.NodePatterns
	states   []ib.PortState
	widths   []ib.LinkWidth
	speeds   []ib.Speed
	kinds    []report.Kind // findings
	failOn   []report.Kind // kinds if there are none; empty: all problems
}

func (f *filter) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.problems, "problems", false, "show only links with a problem")
	flags.BoolVar(&f.allPorts, "all-ports", false, "include ports without a link")
	f.nodes.Register(env, cmd, "show")
	cmdutil.EnumListFlag(cmd, &f.states, "state", []ib.PortState{ib.PortDown, ib.PortInit, ib.PortArmed, ib.PortActive}, "show only ports in a `STATE`")
	cmdutil.EnumListFlag(cmd, &f.widths, "width", ib.LinkWidths(), "show only links of a `WIDTH`")
	cmdutil.DefaultUnit(flags, "width", "X")
	cmdutil.EnumListFlag(cmd, &f.speeds, "speed", ib.Speeds(), "show only links of a `SPEED`")
	cmdutil.EnumListFlag(cmd, &f.kinds, "finding", linkinfo.Kinds, "show only links with a `FINDING`")
	cmdutil.EnumListFlag(cmd, &f.failOn, "fail-on", linkinfo.Kinds, "exit with 3 for a `FINDING` (default: --finding, or all problems)")
}

// complete checks the flags.
func (f *filter) complete() error {
	if err := f.nodes.Check(); err != nil {
		return err
	}
	if len(f.failOn) == 0 {
		f.failOn = f.kinds
	}
	return nil
}

// fails reports whether an end makes the command exit with code 3.
func (f *filter) fails(e linkinfo.End) bool {
	if len(f.failOn) == 0 {
		return e.HasProblem()
	}
	return slices.ContainsFunc(f.failOn, e.Has)
}

// missing returns an error for a pattern that matches no node, and for links that the
// selected nodes do not have. before is the other fabric of a comparison, or nil.
func (f *filter) missing(names *fabric.NameMap, r *linkinfo.Result, nodes []*fabric.Node, before *fabric.Fabric) error {
	if before != nil {
		return f.nodes.Missing(r.Fabric, append(slices.Clip(nodes), before.Nodes...), names)
	}
	if err := f.nodes.Missing(r.Fabric, nodes, names); err != nil {
		return err
	}
	return f.missingLink(names, r, nodes)
}

// missingLink returns an error if no link of the selected nodes has a selected width, speed
// and state: links that vanished must not pass a health check. States other than Active, and
// findings, are searched for because links should not have them, so that no such link is
// a good result.
func (f *filter) missingLink(names *fabric.NameMap, r *linkinfo.Result, nodes []*fabric.Node) error {
	var states []ib.PortState
	if slices.Contains(f.states, ib.PortActive) {
		states = f.states
	}
	if len(states)+len(f.widths)+len(f.speeds) == 0 {
		return nil
	}
	wanted := filter{nodes: f.nodes, states: states, widths: f.widths, speeds: f.speeds}
	if slices.ContainsFunc(linkinfo.Ends(r.Fabric, nodes), func(e linkinfo.End) bool { return wanted.wants(&e, names, true) }) {
		return nil
	}
	flags := slices.Concat(flagText("state", states), flagText("width", f.widths), flagText("speed", f.speeds))
	return fmt.Errorf("find links: no link matches %s", strings.Join(flags, " "))
}

// flagText returns a flag with a list of values, or nothing for an empty list.
func flagText[T fmt.Stringer](name string, values []T) []string {
	if len(values) == 0 {
		return nil
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.String()
	}
	return []string{"--" + name + " " + strings.Join(texts, ",")}
}

// wants reports whether an end passes the filters. A port that is not in use passes
// with withDown, --all-ports or --state.
func (f *filter) wants(e *linkinfo.End, names *fabric.NameMap, withDown bool) bool {
	if e.Down() && e.Port.Peer == nil && len(e.Findings) == 0 && !withDown && !f.allPorts && len(f.states) == 0 {
		return false
	}
	if len(f.kinds) > 0 && !slices.ContainsFunc(f.kinds, e.Has) {
		return false
	}
	var state ib.PortState
	if e.Port.Info != nil {
		state = e.Port.Info.State
	}
	return among(f.states, state) && among(f.widths, e.Width) && among(f.speeds, e.Speed) &&
		f.nodes.Match(e.Port.Node, names)
}

// narrows reports whether the filters may omit links.
func (f *filter) narrows() bool {
	return f.problems || len(f.nodes)+len(f.states)+len(f.widths)+len(f.speeds)+len(f.kinds) > 0
}

func among[T comparable](list []T, v T) bool { return len(list) == 0 || slices.Contains(list, v) }
