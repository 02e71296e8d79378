package sim

import "github.com/ibkit/ibkit/ib"

var singleSwitch = Preset{
	Name:       "single-switch",
	About:      "hosts around a switch",
	Parameters: []Parameter{{"hosts", "8", "number of hosts"}, {"radix", "40", "ports of the switch"}, splitParameter, speedParameter, widthParameter},
	build: func(b *builder, p *params) {
		hosts := make([]*Node, p.number("hosts", 1, 254))
		for i := range hosts {
			hosts[i] = b.addHost("host%03d", i+1)
		}
		split := p.split(b.link)
		s := b.addEdge(p.number("radix", 1, 254/split), split, "switch1")
		for _, h := range hosts {
			b.connect(h, s)
		}
	},
}

var dragonfly = Preset{
	Name:  "dragonfly",
	About: "groups of switches; all groups, and all switches in a group, are linked",
	Parameters: []Parameter{
		{"groups", "5", "number of groups"},
		{"switches", "4", "switches per group"},
		{"hosts", "4", "hosts per switch"},
		speedParameter, widthParameter,
	},
	routing: UpDown,
	build: func(b *builder, p *params) {
		groups, switches, hosts := p.number("groups", 1, 128), p.number("switches", 1, 128), p.number("hosts", 1, 128)
		global := (groups + switches - 2) / switches // switch links to other groups
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
				// A single switch has the link to the o-th other group.
				b.connect(all[g][(o-1)%switches], all[o][g%switches])
			}
		}
	},
}

var torus = Preset{
	Name:  "torus",
	About: "a grid of switches in two or three dimensions with wrap-around links",
	Parameters: []Parameter{
		{"x", "4", "switches in the first dimension"},
		{"y", "4", "switches in the second dimension"},
		{"z", "1", "switches in the third dimension; 1: two dimensions"},
		{"hosts", "2", "hosts per switch"},
		speedParameter, widthParameter,
	},
	routing: UpDown,
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
				// A ring of two switches has a single link.
				if size[d] > 2 || size[d] == 2 && c[d] == 0 {
					b.connect(nodes[at(c)], nodes[at(next)])
				}
			}
		})
	},
}

// forEach calls visit with each grid point.
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
	Name:   "demo",
	About:  "a small cluster with a dirty fibre, a hot module, a failed fan, a slow link and a port that is not active",
	link:   LinkSpec{Speed: ib.NDR},
	vendor: true,
	build: func(b *builder, _ *params) {
		spines := []*Node{b.addSwitch(16, "spine1"), b.addSwitch(16, "spine2")}
		for i := range 4 {
			leaf := b.addSwitch(16, "leaf%d", i+1)
			for _, s := range spines {
				b.connect(leaf, s)
			}
			if i == 3 {
				b.link.Speed = ib.HDR // an older rack
			}
			for k := range 4 {
				b.connect(leaf, b.addHost("node%02d", i*4+k+1))
			}
		}
	},
	inject: func(f *Fabric) {
		f.Node("leaf1").Ports[1].Degrade(ib.Width2X, ib.NDR)
		f.Node("node07").Ports[1].Degrade(ib.Width4X, ib.HDR)
		late := &f.Node("node10").Ports[1]
		late.Info.State, late.Peer.Info.State = ib.PortInit, ib.PortInit
		addWear(f)
		wearOptics(f)
	},
}
