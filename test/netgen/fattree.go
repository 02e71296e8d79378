// Package netgen writes net files for large simulated fabrics in ibsim's format.
package netgen

import (
	"errors"
	"fmt"
)

// Shapes are the fat trees that benchmarks and tests call by name.
var Shapes = map[string]FatTree{
	"ft100": {Levels: 2, Radix: 36, Width: 6},  //    108 hosts,    9 switches,   216 links
	"ft1k":  {Levels: 2, Radix: 64, Width: 32}, //  1,024 hosts,   48 switches,  2048 links
	"ft4k":  {Levels: 3, Radix: 40, Width: 10}, //  4,000 hosts,  500 switches, 12000 links
	"ft10k": {Levels: 3, Radix: 40, Width: 26}, // 10,400 hosts, 1440 switches, 31200 links
}

// A FatTree describes a non-blocking fat tree with equal switches. On each switch, half of
// the ports lead down, half up. In an incomplete tree, the top level has the minimum
// number of switches, and several links connect the same two switches.
type FatTree struct {
	Levels int // 2: leaves and spines; 3: pods of leaves and spines, and cores
	Radix  int // ports per switch, even
	Width  int // number of leaves (2 levels) or pods (3 levels)
}

// check returns an error if there is no such tree.
func (t FatTree) check() error {
	switch {
	case t.Levels != 2 && t.Levels != 3:
		return fmt.Errorf("build fat tree: %d levels, must be 2 or 3", t.Levels)
	case t.Radix < 2 || t.Radix > 254 || t.Radix%2 != 0:
		return fmt.Errorf("build fat tree: radix %d, must be even and from 2 to 254", t.Radix)
	case t.Width < 1:
		return errors.New("build fat tree: no leaves or pods")
	case t.Width > t.Radix:
		return fmt.Errorf("build fat tree: %d leaves or pods, %d ports lead there", t.Width, t.Radix)
	}
	return nil
}

// Build returns the fabric. The first node is a host, H-0000000.
func (t FatTree) Build() (*Net, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	half := t.Radix / 2
	net := &Net{}
	if t.Levels == 2 {
		leaves := net.leaves(t.Width, t.Radix)
		net.joinTop(leaves, net.switches("S-S%04d", "spine-%d", t.top(), t.Radix))
		return net, nil
	}
	leaves := net.leaves(t.Width*half, t.Radix)
	spines := net.switches("S-S%04d", "spine-%d", t.Width*half, t.Radix)
	for pod := range t.Width {
		for _, leaf := range leaves[pod*half : (pod+1)*half] {
			for _, spine := range spines[pod*half : (pod+1)*half] {
				leaf.connect(spine)
			}
		}
	}
	// Spines with the same place in their pods share a group of cores.
	cores := net.switches("S-C%04d", "core-%d", t.top()*half, t.Radix)
	for place := range half {
		var peers []*Node
		for pod := range t.Width {
			peers = append(peers, spines[pod*half+place])
		}
		net.joinTop(peers, cores[place*t.top():(place+1)*t.top()])
	}
	return net, nil
}

// top returns how many switches each top-level group has: the fewest to which all switches
// below can lead the same number of links.
func (t FatTree) top() int {
	half := t.Radix / 2
	for n := 1; n < half; n++ {
		if half%n == 0 && t.Width*half/n <= t.Radix {
			return n
		}
	}
	return half
}

// leaves adds n switches with hosts on half of their ports.
func (net *Net) leaves(n, radix int) []*Node {
	leaves := net.switches("S-L%04d", "leaf-%d", n, radix)
	for _, leaf := range leaves {
		for range radix / 2 {
			i := len(net.Hosts)
			host := &Node{ID: fmt.Sprintf("H-%07d", i), Desc: fmt.Sprintf("node%05d HCA-1", i), Size: 1}
			net.Hosts = append(net.Hosts, host)
			leaf.connect(host)
		}
	}
	return leaves
}

// switches adds n switches. The formats take a number from 1 up.
func (net *Net) switches(id, desc string, n, radix int) []*Node {
	first := len(net.Switches)
	for i := range n {
		net.Switches = append(net.Switches, &Node{
			ID: fmt.Sprintf(id, i+1), Desc: fmt.Sprintf(desc, i+1), Switch: true, Size: radix,
		})
	}
	return net.Switches[first:]
}

// joinTop spreads the upper half of each switch's ports in below over the top-level switches.
func (net *Net) joinTop(below, top []*Node) {
	for _, b := range below {
		for i := range b.Size / 2 {
			b.connect(top[i%len(top)])
		}
	}
}
