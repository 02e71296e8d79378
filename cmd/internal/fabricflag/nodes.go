package fabricflag

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/internal/lazyregexp"
)

// NodePatterns are the values of --node: patterns of names and GUIDs of nodes. The zero
// value matches every node.
type NodePatterns []string

// Register defines --node. verb is the effect on the nodes, for the help: "show".
func (p *NodePatterns) Register(env *cmdutil.Env, cmd *cobra.Command, verb string) {
	cmd.Flags().StringSliceVar((*[]string)(p), "node", nil, verb+" only nodes with a name or GUID like `PATTERN`: 'leaf-*'")
	cmdutil.CompleteList(env, cmd, "node", NodeNames)
}

// Check returns a usage error for a malformed pattern.
func (p NodePatterns) Check() error {
	for _, pattern := range p {
		if _, err := path.Match(pattern, ""); err != nil {
			return cmdutil.UsageErrorf("invalid pattern %q: %w", pattern, err)
		}
	}
	return nil
}

// number matches a pattern that is likely to be a LID.
var number = lazyregexp.New(`^(0x)?[0-9]+$`)

// Match reports whether a node has a name or GUID that a pattern matches.
func (p NodePatterns) Match(n *fabric.Node, names *fabric.NameMap) bool {
	if len(p) == 0 {
		return true
	}
	return slices.ContainsFunc(p, func(pattern string) bool { return names.Match(pattern, n) })
}

// Missing returns an error for a pattern that matches no node: a node that vanished must
// not pass a health check. f is the scan of the nodes, nil for nodes from another source.
func (p NodePatterns) Missing(f *fabric.Fabric, nodes []*fabric.Node, names *fabric.NameMap) error {
	for _, pattern := range p {
		one := NodePatterns{pattern}
		if !slices.ContainsFunc(nodes, func(n *fabric.Node) bool { return one.Match(n, names) }) {
			a := lookup.Address{Kind: lookup.Name, Text: pattern, Name: strings.Trim(pattern, "*")}
			var gap lookup.Gap
			if f != nil {
				gap = lookup.GapOf(f, names)
			}
			err := lookup.NotInScan(a, nodes, names, gap)
			node, port, isPort := fabric.CutPort(pattern)
			all := nodes
			if f != nil {
				all = f.Nodes
			}
			isNode := func(n *fabric.Node) bool { return names.Match(node, n) }
			switch {
			case number.MatchString(strings.TrimPrefix(pattern, "lid:")):
				n := strings.TrimPrefix(pattern, "lid:")
				return cmdutil.WithHint(err, fmt.Sprintf("show the name of a LID: ibkit addr %[1]s; a port of a node: ibkit port NODE %[1]s", n))
			case isPort && slices.ContainsFunc(all, isNode):
				return cmdutil.WithHint(fmt.Errorf("find node %s: got a port, want a node", pattern), fmt.Sprintf("the node: %s; only this port: ibkit port %s %d", node, node, port))
			}
			return err
		}
	}
	return nil
}
