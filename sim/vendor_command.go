package sim

import (
	"errors"
	"io"
	"slices"
)

// parseVendor parses "vendor NODE|all [off]".
func parseVendor(f *Fabric, l *eventLine) (action, error) {
	nodes, on, err := l.nodesOn(f)
	return func(*Fabric, io.Writer) error {
		for _, n := range nodes {
			n.SetVendorAgent(on)
		}
		return nil
	}, err
}

// parseFirmware parses "firmware NODE MAJOR MINOR SUBMINOR".
func parseFirmware(f *Fabric, l *eventLine) (action, error) {
	n, err := l.node(f)
	if err != nil {
		return nil, err
	}
	var version [3]uint8
	for i := range version {
		part, err := l.integer("a number of the version from 0 to 255", 255)
		if err != nil {
			return nil, err
		}
		version[i] = uint8(part)
	}
	return func(*Fabric, io.Writer) error {
		if n.vendor == nil {
			return errNoVendorAgent
		}
		n.vendor.firmware = version
		return nil
	}, nil
}

// errNoVendorAgent is the error for NVIDIA attribute commands.
var errNoVendorAgent = errors.New("the node has no agent of NVIDIA's attributes")

// parseAdaptive parses "adaptive NODE|all [off]". For all, it selects the switches with a
// vendor agent.
func parseAdaptive(f *Fabric, l *eventLine) (action, error) {
	nodes, on, err := l.nodesOn(f)
	return func(f *Fabric, _ io.Writer) error {
		if len(nodes) > 1 {
			nodes = slices.DeleteFunc(slices.Clone(nodes), func(n *Node) bool { return !n.hasAdaptiveRouting() })
		}
		return f.SetAdaptiveRouting(on, nodes...)
	}, err
}
