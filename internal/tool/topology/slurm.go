package topology

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/hostlist"
)

// A slurmSwitch is a line in a topology.conf: a switch, or several that reach the same
// hosts. Slurm requires a tree.
type slurmSwitch struct {
	name     string
	members  []string // switch names, if there are several
	level    int
	leaves   *big.Int // set of the leaf switches below it, by index
	hosts    []string // of a leaf
	children []*slurmSwitch
}

// slurmTree is the switch tree, and the hosts with links to several leaves.
type slurmTree struct {
	switches []*slurmSwitch // leaves first
	others   map[string][]string
	parts    [][]*slurmSwitch // leaves in each part of the fabric
}

// WriteSlurm writes a topology.conf for Slurm's topology/tree. Switches that reach the
// same leaf switches are a single switch in the tree, and a host belongs to its first
// leaf switch; comments list the rest. In a fabric that is not a tree, a single switch
// above all leaf switches stands for the links between them. Parts of the fabric without a
// connection are separate trees. Adapters that do not identify a host are left out:
// [Nameless] returns them.
func WriteSlurm(w io.Writer, f *fabric.Fabric, names *fabric.NameMap) error {
	t, err := newSlurmTree(f, names)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "# topology.conf for TopologyPlugin=topology/tree")
	t.comments(out)
	for _, s := range t.switches {
		if len(s.members) > 1 {
			fmt.Fprintf(out, "# %s: %s\n", s.name, strings.Join(s.members, " "))
		}
		if s.children == nil {
			fmt.Fprintf(out, "SwitchName=%s Nodes=%s\n", s.name, hostlist.Compress(s.hosts))
			continue
		}
		var children []string
		for _, c := range s.children {
			children = append(children, c.name)
		}
		fmt.Fprintf(out, "SwitchName=%s Switches=%s\n", s.name, hostlist.Compress(children))
	}
	return flushSlurm(out)
}

// WriteSlurmBlocks writes a topology.conf for topology/block in Slurm 23.11 and later,
// with a block for each leaf switch.
func WriteSlurmBlocks(w io.Writer, f *fabric.Fabric, names *fabric.NameMap) error {
	t, err := newSlurmTree(f, names)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "# topology.conf for TopologyPlugin=topology/block")
	t.comments(out)
	size := 0
	for _, s := range t.switches {
		if s.children == nil {
			fmt.Fprintf(out, "BlockName=%s Nodes=%s\n", s.name, hostlist.Compress(s.hosts))
			if size == 0 || len(s.hosts) < size {
				size = len(s.hosts)
			}
		}
	}
	fmt.Fprintf(out, "BlockSizes=%d\n", size)
	return flushSlurm(out)
}

func flushSlurm(out *bufio.Writer) error {
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write topology.conf: %w", err)
	}
	return nil
}

func (t *slurmTree) comments(out *bufio.Writer) {
	for i, leaves := range t.parts {
		if len(t.parts) > 1 {
			fmt.Fprintf(out, "# part %d of %d without a connection:", i+1, len(t.parts))
			for _, s := range leaves {
				fmt.Fprintf(out, " %s", s.name)
			}
			fmt.Fprintln(out)
		}
	}
	for _, h := range slices.Sorted(maps.Keys(t.others)) {
		fmt.Fprintf(out, "# %s is also connected to %s\n", h, strings.Join(t.others[h], " "))
	}
}

func newSlurmTree(f *fabric.Fabric, names *fabric.NameMap) (*slurmTree, error) {
	t := &slurmTree{others: map[string][]string{}}
	b := slurmBuilder{
		tree: t, names: names, hosts: fabric.HostNames(f, names), parts: parts(f),
		used: map[string]bool{}, of: map[*fabric.Node]*slurmSwitch{}, leafOf: map[string]*slurmSwitch{},
	}
	b.addLeaves(f)
	if len(t.switches) == 0 {
		return nil, errors.New("write topology.conf: no switch has a host with a name")
	}
	levels := Levels(f)
	for level := 1; level < levels.Count; level++ {
		b.addLevel(f, levels, level)
	}
	for _, leaves := range t.parts {
		b.join(leaves)
	}
	return t, nil
}

// Nameless returns an error for each adapter at a switch that does not identify its host:
// files with host names do not contain it.
func Nameless(f *fabric.Fabric, names *fabric.NameMap) []error {
	var all []error
	hosts := fabric.HostNames(f, names)
	for _, n := range f.Nodes {
		h, isHost := hosts[n]
		if i := slices.IndexFunc(linked(n), func(p *fabric.Port) bool { return p.Peer.Node.IsSwitch() }); isHost && h.Host == "" && i >= 0 {
			all = append(all, fmt.Errorf("leave out node %v at %s: %s", n.GUID, names.PortName(linked(n)[i].Peer), h.Problem))
		}
	}
	return all
}

type slurmBuilder struct {
	tree   *slurmTree
	names  *fabric.NameMap
	hosts  map[*fabric.Node]fabric.HostName
	parts  map[*fabric.Node]int
	used   map[string]bool // switch names
	of     map[*fabric.Node]*slurmSwitch
	leafOf map[string]*slurmSwitch // by host
	sets   []*slurmSwitch          // switches above the leaves
}

// addLeaves adds the switches with hosts.
func (b *slurmBuilder) addLeaves(f *fabric.Fabric) {
	place := map[int]int{} // index in tree.parts
	for _, n := range f.Nodes {
		if !n.IsSwitch() {
			continue
		}
		var s *slurmSwitch
		for _, p := range linked(n) {
			name := b.hosts[p.Peer.Node].Host
			if name == "" {
				continue
			}
			if s == nil {
				s = &slurmSwitch{name: b.unique(n), leaves: new(big.Int)}
			}
			switch leaf := b.leafOf[name]; {
			case leaf == nil:
				b.leafOf[name] = s
				s.hosts = append(s.hosts, name)
			case leaf != s && !slices.Contains(b.tree.others[name], s.name):
				b.tree.others[name] = append(b.tree.others[name], s.name)
			}
		}
		if s != nil && len(s.hosts) > 0 {
			s.leaves.SetBit(s.leaves, len(b.tree.switches), 1)
			b.tree.switches = append(b.tree.switches, s)
			b.of[n] = s
			if _, known := place[b.parts[n]]; !known {
				place[b.parts[n]] = len(b.tree.parts)
				b.tree.parts = append(b.tree.parts, nil)
			}
			i := place[b.parts[n]]
			b.tree.parts[i] = append(b.tree.parts[i], s)
		}
	}
}

// addLevel adds the switches of a level above the leaves. Switches with the same leaves
// below them are a single switch in the tree.
func (b *slurmBuilder) addLevel(f *fabric.Fabric, levels Layout, level int) {
	for _, n := range f.Nodes {
		if !n.IsSwitch() || levels.Level[n] != level || b.of[n] != nil {
			continue
		}
		below := new(big.Int)
		for _, p := range linked(n) {
			if s := b.of[p.Peer.Node]; s != nil && levels.Level[p.Peer.Node] < level {
				below.Or(below, s.leaves)
			}
		}
		if below.BitLen() == 0 {
			continue
		}
		i := slices.IndexFunc(b.sets, func(s *slurmSwitch) bool { return s.leaves.Cmp(below) == 0 })
		if i < 0 {
			i = len(b.sets)
			b.sets = append(b.sets, &slurmSwitch{name: b.unique(n), level: level, leaves: below})
		}
		b.sets[i].members = append(b.sets[i].members, slurmName(b.names.Name(n)))
		b.of[n] = b.sets[i]
	}
}

// join makes a tree from a part's leaves and the sets above them: sets that overlap another
// set are left out, and a switch above all leaves is added if there is none.
func (b *slurmBuilder) join(leaves []*slurmSwitch) {
	if len(leaves) == 1 {
		return
	}
	all := new(big.Int)
	for _, s := range leaves {
		all.Or(all, s.leaves)
	}
	sizes := func(s *slurmSwitch) int { return ones(s.leaves) }
	slices.SortStableFunc(b.sets, func(x, y *slurmSwitch) int { return cmp.Compare(sizes(x), sizes(y)) })
	var tree []*slurmSwitch
	for _, s := range b.sets {
		inside := new(big.Int).AndNot(s.leaves, all).BitLen() == 0
		if inside && sizes(s) > 1 && !slices.ContainsFunc(tree, func(other *slurmSwitch) bool { return overlap(s.leaves, other.leaves) }) {
			tree = append(tree, s)
		}
	}
	if len(tree) == 0 || tree[len(tree)-1].leaves.Cmp(all) != 0 {
		tree = append(tree, &slurmSwitch{name: b.free("fabric"), leaves: all})
	}
	top := slices.Clone(leaves) // not yet below another switch
	for _, s := range tree {
		top = slices.DeleteFunc(top, func(c *slurmSwitch) bool {
			inside := new(big.Int).AndNot(c.leaves, s.leaves).BitLen() == 0
			if inside {
				s.children = append(s.children, c)
			}
			return inside
		})
		top = append(top, s)
	}
	b.tree.switches = append(b.tree.switches, tree...)
}

// overlap reports whether two sets have common elements without either containing the
// other.
func overlap(a, b *big.Int) bool {
	both := new(big.Int).And(a, b)
	return both.BitLen() > 0 && both.Cmp(a) != 0 && both.Cmp(b) != 0
}

func ones(set *big.Int) (n int) {
	for i := range set.BitLen() {
		n += int(set.Bit(i))
	}
	return n
}

// unique returns a name for a switch that no other has.
func (b *slurmBuilder) unique(n *fabric.Node) string {
	name := slurmName(b.names.Name(n))
	if name == "" {
		name = "switch-" + n.GUID.String()
	}
	return b.free(name)
}

func (b *slurmBuilder) free(name string) string {
	free := name
	for i := 2; b.used[free]; i++ {
		free = fmt.Sprintf("%s_%d", name, i)
	}
	b.used[free] = true
	return free
}

// slurmName replaces the characters that are not letters, digits, or one of _.- in
// Slurm names.
func slurmName(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == '-':
			return r
		}
		return '_'
	}, s), "_")
}
