package counters

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/counters"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
)

// A selection is the flags that select ports.
type selection struct {
	nodes                  []string
	ports                  string
	switches, cas, routers bool
}

func (s *selection) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&s.nodes, "node", nil, "read only nodes with a name or GUID like `PATTERN`: 'leaf-*'")
	cmdutil.CompleteList(env, cmd, "node", fabricflag.NodeNames)
	flags.StringVar(&s.ports, "ports", "", "read only ports of a `LIST` of numbers and ranges: 1,4-8")
	flags.BoolVar(&s.switches, "switches", false, "read only switches")
	flags.BoolVar(&s.cas, "cas", false, "read only channel adapters")
	flags.BoolVar(&s.routers, "routers", false, "read only routers")
}

// complete sets the options that select nodes and ports.
func (s *selection) complete(o *counters.Options, names *fabric.NameMap) error {
	for _, pattern := range s.nodes {
		if _, err := path.Match(pattern, ""); err != nil {
			return cmdutil.UsageErrorf("invalid pattern %q: %w", pattern, err)
		}
	}
	if s.ports != "" {
		wanted, err := parsePorts(s.ports)
		if err != nil {
			return err
		}
		o.Ports = func(p *fabric.Port) bool { return wanted[p.Number] }
	}
	if len(s.nodes) > 0 || s.switches || s.cas || s.routers {
		o.Want = func(n *fabric.Node) bool { return s.hasType(n) && s.hasName(n, names) }
	}
	// The description of a node may arrive after its ports: the counters are read
	// after the scan.
	o.AfterScan = len(s.nodes) > 0
	return nil
}

func (s *selection) hasType(n *fabric.Node) bool {
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

func (s *selection) hasName(n *fabric.Node, names *fabric.NameMap) bool {
	if len(s.nodes) == 0 {
		return true
	}
	name, guid := names.Name(n), n.GUID.String()
	return slices.ContainsFunc(s.nodes, func(p string) bool {
		byName, _ := path.Match(p, name)
		byGUID, _ := path.Match(p, guid)
		return byName || byGUID
	})
}

// parsePorts parses a list of port numbers and ranges.
func parsePorts(list string) (map[uint8]bool, error) {
	ports := map[uint8]bool{}
	for field := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(field, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 8)
		last, err2 := strconv.ParseUint(to, 10, 8)
		if err != nil || err2 != nil || last < first || last == mad.AllPorts {
			return nil, cmdutil.UsageErrorf("invalid --ports %q: got %q, want a port number or a range such as 4-8", list, field)
		}
		for n := first; n <= last; n++ {
			ports[uint8(n)] = true
		}
	}
	return ports, nil
}
