package sim

import "fmt"

// Routing is a way to choose routes.
type Routing uint8

const (
	// MinHop takes shortest ways only. On fabrics with rings, such as a torus,
	// packets that wait for one another can come to a standstill.
	MinHop Routing = iota

	// UpDown takes ways that lead towards a root first and away from it then,
	// never the other way round, so that no packets wait for one another in a
	// ring. They are the shortest of that kind, and the shortest of all in a
	// fat tree.
	UpDown
)

// A Manager says how [Fabric.Configure] does the work of a subnet manager.
type Manager struct {
	Routing Routing

	// Roots are the IDs of the switches that up leads to, for UpDown. Without
	// any, each part of the fabric has one root: of its switches that have
	// adapters, the first of those nearest to the farthest switch. In a fat tree
	// this is a leaf, from where all shortest ways between two hosts go up and
	// then down; and there is a way between any two switches.
	//
	// Where there are several, switches that only lead down from different roots
	// do not reach one another, as with opensm's root GUID file. That no
	// adapter is cut off is made sure.
	Roots []string
}

// setup is what a description of a fabric says of its subnet manager.
type setup struct {
	off     bool
	manager Manager
}

// set sets a parameter. It reports false if the parameter is not one of a subnet
// manager.
func (s *setup) set(name, value string) (bool, error) {
	switch name {
	case "sm":
		s.off = value == "off"
		switch value {
		case "off", "on", "minhop":
			s.manager.Routing = MinHop
		case "updown":
			s.manager.Routing = UpDown
		default:
			return true, fmt.Errorf("sm=%s: it is on or minhop, updown, or off", value)
		}
	case "root":
		s.manager.Roots = append(s.manager.Roots, value)
	default:
		return false, nil
	}
	return true, nil
}

// apply has the subnet manager configure a fabric.
func (s *setup) apply(f *Fabric, configure func(*Fabric) error) error {
	if len(s.manager.Roots) > 0 && (s.off || s.manager.Routing != UpDown) {
		return fmt.Errorf("root=%s: only sm=updown has roots", s.manager.Roots[0])
	}
	f.Manager = s.manager
	if s.off {
		return nil
	}
	return configure(f)
}
