package fabric

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// ReadDescriptions queries node descriptions if a lean scan omitted them. Failed
// requests are added to Failures. It returns an error if ctx ends or the local port
// fails.
func (f *Fabric) ReadDescriptions(ctx context.Context, c *umad.Client, nodes []*Node) error {
	return f.read(ctx, c, nodes, (*scan).readDescription)
}

// ReadPorts queries node descriptions, and SwitchInfo and PortInfo for switch ports, if a
// lean scan omitted them. Failed requests are added to Failures. It returns an error if
// ctx ends or the local port fails.
func (f *Fabric) ReadPorts(ctx context.Context, c *umad.Client, nodes []*Node) error {
	err := f.read(ctx, c, nodes, func(s *scan, n *scanNode) {
		s.readDescription(n)
		if n.omitsPorts {
			n.omitsPorts = false
			n.ports, n.infos = make([]Port, len(n.Ports)), make([]mad.PortInfo, len(n.Ports))
			s.querySwitchInfo(n)
			s.addSweep(sweep{node: n, next: 1})
		}
	})
	f.groupSystems() // numbers the ports that were added
	return err
}

// readDescription queries a node's description if it was omitted.
func (s *scan) readDescription(n *scanNode) {
	if n.omitsDesc {
		n.omitsDesc = false
		s.queryNodeDescription(n)
	}
}

// read queries node attributes.
func (f *Fabric) read(ctx context.Context, c *umad.Client, nodes []*Node, query func(*scan, *scanNode)) error {
	s := &scan{
		client: c, fabric: f,
		opts: DiscoverOptions{NoExtendedPortInfo: f.noExtendedPortInfo},
	}
	for _, n := range nodes {
		if n.omitsDesc || n.omitsPorts {
			query(s, f.known(n))
		}
	}
	if s.waiting == 0 {
		return nil
	}
	err := c.Run(ctx)
	f.Stats = c.Stats()
	f.sortFailures()
	if err != nil {
		return fmt.Errorf("read nodes of the fabric: %w", err)
	}
	return nil
}

// known returns a fabric node for a scan that does not go beyond it.
func (f *Fabric) known(n *Node) *scanNode {
	known := &scanNode{
		Node:   n,
		target: umad.Target{LID: f.from, Route: n.Route},
		probed: make([]bool, len(n.Ports)),

		capsEnded: true,
	}
	for i := range known.probed {
		known.probed[i] = true
	}
	return known
}
