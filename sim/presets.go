package sim

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

var singleSwitch = Preset{
	Name:       "single-switch",
	About:      "hosts around one switch",
	Parameters: []Parameter{{"hosts", "8", "number of hosts"}, {"radix", "40", "ports of the switch"}, speedParameter, widthParameter},
	build: func(b *builder, p *params) {
		hosts := make([]*Node, p.number("hosts", 1, 254))
		for i := range hosts {
			hosts[i] = b.addHost("host%03d", i+1)
		}
		s := b.addSwitch(p.number("radix", 1, 254), "switch1")
		for _, h := range hosts {
			b.connect(h, s)
		}
	},
}

var fatTree = Preset{
	Name:  "fat-tree",
	About: "leaves and spines with full bandwidth between all hosts",
	Parameters: []Parameter{
		{"levels", "2", "levels of switches, 2 or 3"},
		{"radix", "40", "ports of a switch"},
		{"pods", "4", "leaves (2 levels) or pods (3 levels)"},
		speedParameter, widthParameter,
	},
	build: func(b *builder, p *params) {
		levels, radix := p.number("levels", 2, 3), p.number("radix", 2, 254)
		pods := p.number("pods", 1, radix)
		switch {
		case radix%2 != 0:
			p.fail("radix=%d: half of the ports lead up, so it has to be even", radix)
		case p.err != nil:
		case levels == 2:
			b.fatTree2(radix, pods)
		default:
			b.fatTree3(radix, pods)
		}
	},
}

// fatTree2 links each leaf to all spines.
func (b *builder) fatTree2(radix, leaves int) {
	half := radix / 2
	spines := make([]*Node, half)
	tops := b.pod(radix, leaves, "", 0)
	for i := range spines {
		spines[i] = b.addSwitch(radix, "spine%03d", i+1)
	}
	for _, leaf := range tops {
		for _, s := range spines {
			b.connect(leaf, s)
		}
	}
}

// pod adds leaves with their hosts.
func (b *builder) pod(radix, leaves int, prefix string, firstHost int) []*Node {
	half := radix / 2
	out := make([]*Node, leaves)
	for i := range out {
		hosts := make([]*Node, half)
		for k := range hosts {
			hosts[k] = b.addHost("host%05d", firstHost+i*half+k+1)
		}
		out[i] = b.addSwitch(radix, "%sleaf%03d", prefix, i+1)
		for _, h := range hosts {
			b.connect(out[i], h)
		}
	}
	return out
}

// fatTree3 makes pods of two levels and links them by cores: each switch at the
// top of a pod has its own group of them.
func (b *builder) fatTree3(radix, pods int) {
	half := radix / 2
	tops := make([][]*Node, pods)
	for i := range tops {
		prefix := fmt.Sprintf("pod%02d-", i+1)
		leaves := b.pod(radix, half, prefix, i*half*half)
		for k := range half {
			top := b.addSwitch(radix, "%sspine%03d", prefix, k+1)
			tops[i] = append(tops[i], top)
			for _, leaf := range leaves {
				b.connect(leaf, top)
			}
		}
	}
	for k := range half {
		for g := range half {
			core := b.addSwitch(radix, "core%04d", k*half+g+1)
			for i := range tops {
				b.connect(tops[i][k], core)
			}
		}
	}
}

var dragonfly = Preset{
	Name:  "dragonfly",
	About: "groups of switches that are all linked to one another, and so are the groups",
	Parameters: []Parameter{
		{"groups", "5", "number of groups"},
		{"switches", "4", "switches in a group"},
		{"hosts", "4", "hosts at a switch"},
		speedParameter, widthParameter,
	},
	build: func(b *builder, p *params) {
		groups, switches, hosts := p.number("groups", 1, 128), p.number("switches", 1, 128), p.number("hosts", 1, 128)
		global := (groups + switches - 2) / switches // links to other groups at a switch
		all := make([][]*Node, groups)
		for g := range all {
			for s := range switches {
				node := b.addSwitch(min(hosts+switches-1+global+1, 254), "group%02d-switch%02d", g+1, s+1)
				for h := range hosts {
					b.connect(b.addHost("group%02d-host%03d", g+1, s*hosts+h+1), node)
				}
				for _, other := range all[g] {
					b.connect(node, other)
				}
				all[g] = append(all[g], node)
			}
		}
		for g := range all {
			for o := g + 1; o < groups; o++ {
				// The o-th other group is the business of one switch.
				b.connect(all[g][(o-1)%switches], all[o][g%switches])
			}
		}
	},
}

var torus = Preset{
	Name:  "torus",
	About: "switches in a grid of two or three dimensions whose ends are joined",
	Parameters: []Parameter{
		{"x", "4", "switches along the first dimension"},
		{"y", "4", "switches along the second"},
		{"z", "1", "switches along the third; 1: there is none"},
		{"hosts", "2", "hosts at a switch"},
		speedParameter, widthParameter,
	},
	build: func(b *builder, p *params) {
		size := []int{p.number("x", 1, 64), p.number("y", 1, 64), p.number("z", 1, 64)}
		hosts := p.number("hosts", 1, 64)
		at := func(c [3]int) int { return (c[2]*size[1]+c[1])*size[0] + c[0] }
		nodes := make([]*Node, size[0]*size[1]*size[2])
		forEach(size, func(c [3]int) {
			s := b.addSwitch(hosts+6, "switch-%d-%d-%d", c[0], c[1], c[2])
			nodes[at(c)] = s
			for h := range hosts {
				b.connect(b.addHost("host-%d-%d-%d-%d", c[0], c[1], c[2], h+1), s)
			}
		})
		forEach(size, func(c [3]int) {
			for d := range size {
				next := c
				next[d] = (c[d] + 1) % size[d]
				// A ring of two has one link, and of one none.
				if size[d] > 2 || size[d] == 2 && c[d] == 0 {
					b.connect(nodes[at(c)], nodes[at(next)])
				}
			}
		})
	},
}

// forEach calls visit with each point of a grid.
func forEach(size []int, visit func([3]int)) {
	for z := range size[2] {
		for y := range size[1] {
			for x := range size[0] {
				visit([3]int{x, y, z})
			}
		}
	}
}

var demo = Preset{
	Name:  "demo",
	About: "a small cluster with a bad cable, a slow link and a host that is not in service",
	link:  LinkSpec{Speed: mad.NDR},
	build: func(b *builder, _ *params) {
		spines := []*Node{b.addSwitch(16, "spine1"), b.addSwitch(16, "spine2")}
		for i := range 4 {
			leaf := b.addSwitch(16, "leaf%d", i+1)
			for _, s := range spines {
				b.connect(leaf, s)
			}
			if i == 3 {
				b.link.Speed = mad.HDR // the last rack is older than the others
			}
			for k := range 4 {
				b.connect(leaf, b.addHost("node%02d", i*4+k+1))
			}
		}
	},
	spoil: func(f *Fabric) {
		f.Node("leaf1").Ports[1].Degrade(mad.Width2X, mad.NDR)
		f.Node("node07").Ports[1].Degrade(mad.Width4X, mad.HDR)
		late := &f.Node("node10").Ports[1]
		late.Info.State, late.Peer.Info.State = mad.PortInit, mad.PortInit
	},
}
