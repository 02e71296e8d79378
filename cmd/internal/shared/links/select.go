package links

import (
	"errors"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// A Selection selects the nodes of a scan to print.
type Selection struct {
	// OnlyStart selects only the node where a partial scan started.
	OnlyStart bool

	SwitchesOnly, CAsOnly, RoutersOnly bool // several: nodes of any of these types
}

// hasTypes reports whether types are selected.
func (s *Selection) hasTypes() bool { return s.SwitchesOnly || s.CAsOnly || s.RoutersOnly }

// Nodes returns the selected nodes among all nodes of a result, and false if the scan
// did not find the node to start at.
func (s *Selection) Nodes(r *linkinfo.Result, all []*fabric.Node) (nodes []*fabric.Node, ok bool) {
	if s.OnlyStart {
		if r.Node == nil || !s.HasType(r.Node) {
			return nil, false
		}
		all = []*fabric.Node{r.Node}
	}
	for _, n := range all {
		if s.HasType(n) {
			nodes = append(nodes, n)
		}
	}
	return nodes, true
}

// HasType reports whether a node has a selected type.
func (s *Selection) HasType(n *fabric.Node) bool {
	switch n.Info.NodeType {
	case mad.NodeTypeSwitch:
		return s.SwitchesOnly || !s.hasTypes()
	case mad.NodeTypeRouter:
		return s.RoutersOnly || !s.hasTypes()
	case mad.NodeTypeCA:
		return s.CAsOnly || !s.hasTypes()
	}
	return !s.hasTypes()
}

// InEither returns a filter for the nodes of a comparison, which may be in either
// fabric: nodes are the selected ones of the new fabric. nil selects all.
func (s *Selection) InEither(nodes []*fabric.Node) func(*fabric.Node) bool {
	if s.OnlyStart {
		guids := map[ib.GUID]bool{}
		for _, n := range nodes {
			guids[n.GUID] = true
		}
		return func(n *fabric.Node) bool { return guids[n.GUID] }
	}
	if s.hasTypes() {
		return s.HasType
	}
	return nil
}

// PrintWarnings prints the failures and contradictions of a scan, and with verbose the
// cost of the scan. Without names, failures have node GUIDs.
func PrintWarnings(env *cmdutil.Env, r *linkinfo.Result, names *fabric.NameMap, verbose bool) {
	w := env.ErrOut
	for _, err := range r.Warnings {
		fmt.Fprintf(w, "warning: %v\n", err)
	}
	f := r.Fabric
	failures := cmdutil.NewFailures(env, "warning", verbose)
	for _, failure := range f.Failures {
		if failure.IsDamage() || names != nil {
			failures.Print(f.FailureError(failure, names))
			continue
		}
		place := "start of the scan"
		if failure.NodeGUID != 0 {
			place = fabric.PortName(failure.NodeGUID.String(), int(failure.Port))
		}
		failures.Print(fmt.Errorf("%s: %w", place, failure.Err))
	}
	failures.Close()
	PrintConflicts(env, f)
	if missing := missing(f); missing != "" {
		fmt.Fprintf(w, "warning: the result is partial: %s\n", missing)
	}
	if verbose {
		fmt.Fprintf(w, "%s, up to %s away; %s, at most %d in flight\n",
			plural.Count(len(f.Nodes), "node", "nodes"), plural.Count(f.MaxHops, "hop", "hops"), fabricflag.FormatStats(f.Stats), f.Stats.Window)
	}
}

// PrintConflicts prints the contradictions of a scan.
func PrintConflicts(env *cmdutil.Env, f *fabric.Fabric) {
	for _, conflict := range f.Conflicts {
		fmt.Fprintf(env.ErrOut, "warning: %s\n", conflict.Detail)
	}
}

// StoreCache writes a fabric to a cache; path may be "". A partial fabric replaces the file only
// with force (--save-partial).
func StoreCache(env *cmdutil.Env, path string, f *fabric.Fabric, force bool) error {
	switch {
	case path == "":
		return nil
	case f.Partial() && !force:
		fmt.Fprintf(env.ErrOut, "warning: %s was not written, because the result is partial (--save-partial stores it)\n", cmdutil.Visible(path))
		return nil
	}
	return f.WriteCacheFile(path)
}

// WarnStored prints a warning about a stored fabric that is partial. f may be nil.
func WarnStored(w io.Writer, path string, f *fabric.Fabric) {
	if f != nil && f.Partial() {
		fmt.Fprintf(w, "warning: the fabric stored in %s is partial: %s\n", cmdutil.Visible(path), missing(f))
	}
}

// PrintStored is WarnStored with each part of the file that could not be read.
func PrintStored(env *cmdutil.Env, s *fabricflag.Settings, path string, f *fabric.Fabric, names *fabric.NameMap) {
	WarnStored(env.ErrOut, path, f)
	if f != nil && f.Damaged() {
		s.PrintFailed(env, f.FailureErrors(names))
	}
}

// missing returns the reason why a fabric is partial. It is "" for a complete fabric,
// and for a scan that ended early: its error was printed already.
func missing(f *fabric.Fabric) string {
	if f.Blind() != nil {
		return fabric.ErrBlind.Error()
	}
	if f.Damaged() {
		return f.Incomplete().Error()
	}
	if n := len(f.Failures) + f.Unanswered; n > 0 {
		return fmt.Sprintf("%s failed", plural.Count(n, "request", "requests"))
	}
	if errors.Is(f.Aborted, fabric.ErrStoredAborted) {
		return f.Aborted.Error()
	}
	return ""
}
