package sim

import (
	"fmt"
	"slices"
)

// A Routing is a routing algorithm.
type Routing uint8

const (
	// MinHop uses all shortest paths. In fabrics with rings, for example a torus,
	// packets can deadlock. The presets torus and dragonfly use UpDown by default.
	MinHop Routing = iota

	// UpDown uses paths that lead towards a root first and away from it then, never the
	// other way round, so that packets cannot deadlock. They are the shortest paths that
	// meet this rule, and in a fat tree shortest paths.
	UpDown
)

// A Manager configures [Fabric.Configure].
type Manager struct {
	Routing Routing

	// Roots are the root switch IDs for UpDown. By default, each connected part of the
	// fabric has a single root: the first switch with adapters and the smallest distance to
	// the farthest switch. In a fat tree this is a leaf; then all shortest paths between
	// hosts lead up and then down, and there is a path between any two switches.
	//
	// With several roots there are no paths between switches that only lead down
	// from different roots, as with opensm's root GUID file. Configure fails if
	// there is no path between two adapters.
	Roots []string
}

// A setup is the subnet manager that a fabric description selects, and whether all nodes
// have vendor agents and adaptive routing.
type setup struct {
	off              bool
	standard         Routing // from sm=on
	manager          Manager
	vendor, adaptive bool
	vendorGiven      bool
}

// setupNames are the setup parameters.
var setupNames = []string{"sm", "root", "vendor", "ar"}

// set sets a parameter. It reports false if the parameter is not a setup parameter.
func (s *setup) set(name, value string) (bool, error) {
	switch name {
	case "sm":
		s.off = value == "off"
		switch value {
		case "off", "on":
			s.manager.Routing = s.standard
		case "minhop":
			s.manager.Routing = MinHop
		case "updown":
			s.manager.Routing = UpDown
		default:
			return true, fmt.Errorf("sm=%s: not one of on, minhop, updown, off", value)
		}
	case "root":
		s.manager.Roots = append(s.manager.Roots, value)
	case "vendor", "ar":
		if value != "on" && value != "off" {
			return true, fmt.Errorf("%s=%s: not one of on, off", name, value)
		}
		if name == "vendor" {
			s.vendor, s.vendorGiven = value == "on", true
		} else {
			s.adaptive = value == "on"
		}
	default:
		return false, nil
	}
	return true, nil
}

// apply configures a fabric unless the subnet manager is off.
func (s *setup) apply(f *Fabric, configure func(*Fabric) error) error {
	if len(s.manager.Roots) > 0 && (s.off || s.manager.Routing != UpDown) {
		return fmt.Errorf("root=%s: roots require sm=updown", s.manager.Roots[0])
	}
	f.Manager = s.manager
	if s.vendor || s.adaptive {
		for _, n := range f.Nodes {
			n.SetVendorAgent(true)
		}
	}
	if !s.off {
		if err := configure(f); err != nil {
			return err
		}
	}
	if !s.adaptive {
		return nil
	}
	return f.SetAdaptiveRouting(true, slices.DeleteFunc(slices.Clone(f.Nodes), func(n *Node) bool { return !n.IsSwitch() })...)
}
