package pcie

import "slices"

// A Distance is the connection between two functions, in the terms of nvidia-smi topo -m
// (nvmlGpuTopologyLevel_t in nvml.h).
type Distance string

// Distances, the nearest first.
const (
	PIX  Distance = "PIX"  // at most one PCI Express switch
	PXB  Distance = "PXB"  // several switches, but not the host bridge
	PHB  Distance = "PHB"  // a host bridge, usually the CPU
	Node Distance = "NODE" // several host bridges in a NUMA node
	SYS  Distance = "SYS"  // the interconnect between NUMA nodes
)

// Distances returns all distances, the nearest first.
func Distances() []Distance { return []Distance{PIX, PXB, PHB, Node, SYS} }

// Compare orders distances, the nearest first.
func (d Distance) Compare(e Distance) int {
	return slices.Index(Distances(), d) - slices.Index(Distances(), e)
}

// shared returns the number of bridges above both functions.
func shared(a, b *Function) int {
	n := 0
	for n < min(len(a.Bridges), len(b.Bridges)) && a.Bridges[n] == b.Bridges[n] {
		n++
	}
	return n
}

// Between returns the distance between two functions.
func Between(a, b *Function) Distance {
	common := shared(a, b)
	switch {
	case a.HostBridge == b.HostBridge && common == 0:
		return PHB
	case a.HostBridge == b.HostBridge:
		// The last common bridge is a switch's upstream port, or the port with both
		// functions. Below it, another switch has two ports on the way.
		if max(len(a.Bridges), len(b.Bridges))-common <= 1 {
			return PIX
		}
		return PXB
	case sameNode(a.NUMANode, b.NUMANode):
		return Node
	}
	return SYS
}

// sameNode reports whether two NUMA nodes are the same. A host without NUMA reports -1.
func sameNode(a, b *int) bool { return a != nil && b != nil && *a == *b }

// PathBetween returns the bridges between two functions below the same host bridge, without
// the bridge that they share.
func PathBetween(a, b *Function) []*Function {
	common := shared(a, b)
	return slices.Concat(a.Bridges[common:], b.Bridges[common:])
}
