package fabricflag

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
)

// A Selection is the flags that select nodes by name and type. The zero value selects
// every node.
type Selection struct {
	Nodes                  NodePatterns
	switches, cas, routers bool
}

// TypeFlags are the flags of a [Selection] that select types of nodes.
var TypeFlags = []string{"switches", "cas", "routers"}

// Define declares the flags. verb is the effect on the nodes, for the help: "show".
func (s *Selection) Define(env *cmdutil.Env, cmd *cobra.Command, verb string) {
	s.Nodes.Register(env, cmd, verb)
	flags := cmd.Flags()
	flags.BoolVar(&s.switches, "switches", false, verb+" only switches")
	flags.BoolVar(&s.cas, "cas", false, verb+" only channel adapters")
	flags.BoolVar(&s.routers, "routers", false, verb+" only routers")
}

// Given reports whether a flag selects nodes.
func (s *Selection) Given() bool { return len(s.Nodes) > 0 || s.switches || s.cas || s.routers }

// Want returns the function that selects nodes, nil for all. It checks the patterns.
// afterScan reports that the function uses descriptions, which may arrive after the
// ports of a node.
func (s *Selection) Want(names *fabric.NameMap) (want func(*fabric.Node) bool, afterScan bool, err error) {
	if err := s.Nodes.Check(); err != nil {
		return nil, false, err
	}
	if s.Given() {
		want = func(n *fabric.Node) bool { return s.hasType(n) && s.Nodes.Match(n, names) }
	}
	return want, len(s.Nodes) > 0, nil
}

// Missing returns an error for a pattern that matches no node, and for types that no node
// has. nodes are the selected ones of a scan.
func (s *Selection) Missing(f *fabric.Fabric, nodes []*fabric.Node, names *fabric.NameMap) error {
	if err := s.Nodes.Missing(f, nodes, names); err != nil {
		return err
	}
	if len(nodes) == 0 {
		return NoneOfType(map[string]bool{"switches": s.switches, "cas": s.cas, "routers": s.routers})
	}
	return nil
}

// NoneOfType returns an error for flags that select types of nodes if no node matched, and
// nil without such a flag. given has the flags by name.
func NoneOfType(given map[string]bool) error {
	var flags []string
	for _, name := range TypeFlags {
		if given[name] {
			flags = append(flags, "--"+name)
		}
	}
	if len(flags) == 0 {
		return nil
	}
	return fmt.Errorf("find nodes: no node matches %s", strings.Join(flags, " "))
}

func (s *Selection) hasType(n *fabric.Node) bool {
	switch t := n.Info.NodeType; {
	case !s.switches && !s.cas && !s.routers:
		return true
	case t == mad.NodeTypeSwitch:
		return s.switches
	case t == mad.NodeTypeRouter:
		return s.routers
	}
	return s.cas
}
