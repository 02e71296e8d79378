package counters

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/query"
)

// A selection is the flags that select ports.
type selection struct {
	fabricflag.Selection
	ports string

	wanted query.Ports // ports, parsed
}

func (s *selection) define(env *cmdutil.Env, cmd *cobra.Command) {
	s.Define(env, cmd, "read")
	cmd.Flags().StringVar(&s.ports, "ports", "", "read only ports of a `LIST` of numbers and ranges: 1,4-8")
}

// complete sets the options that select nodes and ports.
func (s *selection) complete(o *counters.Options, names *fabric.NameMap) (err error) {
	if o.Want, o.AfterScan, err = s.Want(names); err != nil {
		return err
	}
	if s.ports != "" {
		var err error
		if s.wanted, err = query.ParsePorts(s.ports); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
		o.Ports = func(p *fabric.Port) bool { return s.wanted.Has(p.Number) }
	}
	return nil
}

// missing returns an error for a pattern or a type that matches no node, and for --ports
// without a number that a node has.
func (s *selection) missing(r *counters.Result, names *fabric.NameMap) error {
	if err := s.Missing(r.Fabric, nodesOf(r), names); err != nil {
		return err
	}
	hasPort := func(n *counters.Node) bool {
		for number := 1; number <= int(n.Info.NumPorts); number++ {
			if s.wanted.Has(uint8(number)) {
				return true
			}
		}
		return false
	}
	if s.ports != "" && len(r.Nodes) > 0 && !slices.ContainsFunc(r.Nodes, hasPort) {
		return fmt.Errorf("select ports: no selected node has a port %s", s.ports)
	}
	return nil
}
