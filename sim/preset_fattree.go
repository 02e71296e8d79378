package sim

import "fmt"

// halfRadix is the default for parameters that are half the radix.
const halfRadix = "radix/2"

var fatTree = Preset{
	Name:  "fat-tree",
	About: "leaves and spines, with full bandwidth between all hosts by default",
	Parameters: []Parameter{
		{"levels", "2", "levels of switches, 2 or 3"},
		{"radix", "40", "connectors of a switch"},
		{"pods", "4", "leaves (2 levels) or pods (3 levels)"},
		{"hosts", halfRadix, "connectors per leaf for hosts"},
		{"spines", halfRadix, "spines (2 levels) or spines per pod (3 levels)"},
		{"leaves", halfRadix, "leaves per pod (3 levels)"},
		{"cores", halfRadix, "cores per spine of a pod (3 levels)"},
		splitParameter, speedParameter, widthParameter,
	},
	build: func(b *builder, p *params) {
		t := treeShape{split: p.split(b.link)}
		levels := p.number("levels", 2, 3)
		t.radix = p.number("radix", 2, 254/t.split)
		t.pods = p.number("pods", 1, t.radix)
		t.hosts, t.spines = p.half("hosts", t.radix), p.half("spines", t.radix)
		p.atMost(t.radix, "hosts", t.hosts, "spines", t.spines)
		if levels == 3 {
			t.leaves, t.cores = p.half("leaves", t.radix), p.half("cores", t.radix)
			p.atMost(t.radix, "leaves", t.leaves, "cores", t.cores)
		}
		switch {
		case levels == 2 && (p.values["leaves"] != halfRadix || p.values["cores"] != halfRadix):
			p.fail("leaves and cores require levels=3")
		case p.err != nil:
		case levels == 2:
			b.fatTree2(&t)
		default:
			b.fatTree3(&t)
		}
	},
}

// half returns a parameter with half the radix as the default.
func (p *params) half(name string, radix int) int {
	if p.values[name] != halfRadix {
		return p.number(name, 1, radix)
	}
	if radix%2 != 0 {
		p.fail("%s=%s: radix=%d is odd", name, halfRadix, radix)
	}
	return radix / 2
}

// atMost checks that a switch's connectors are sufficient for the downlinks and uplinks.
func (p *params) atMost(radix int, down string, n int, up string, m int) {
	if n+m > radix {
		p.fail("%s=%d and %s=%d: a switch has radix=%d", down, n, up, m, radix)
	}
}

// A treeShape has the dimensions of a fat tree.
type treeShape struct {
	radix, split                 int
	pods                         int // 2 levels: leaves
	hosts, spines, leaves, cores int
}

// fatTree2 links each leaf to all spines.
func (b *builder) fatTree2(t *treeShape) {
	leaves := b.pod(t, t.pods, "", 0)
	spines := make([]*Node, t.spines)
	for i := range spines {
		spines[i] = b.addSwitch(t.radix, "spine%03d", i+1)
	}
	for _, leaf := range leaves {
		for _, s := range spines {
			b.connect(leaf, s)
		}
	}
}

// pod adds leaves with their hosts.
func (b *builder) pod(t *treeShape, leaves int, prefix string, firstHost int) []*Node {
	out := make([]*Node, leaves)
	hosts := make([]*Node, t.hosts*t.split)
	for i := range out {
		for k := range hosts {
			hosts[k] = b.addHost("host%05d", firstHost+i*len(hosts)+k+1)
		}
		out[i] = b.addEdge(t.radix, t.split, "%sleaf%03d", prefix, i+1)
		for _, h := range hosts {
			b.connect(out[i], h)
		}
	}
	return out
}

// fatTree3 adds pods with two levels and links them by cores: each spine in a pod has a
// separate core group.
func (b *builder) fatTree3(t *treeShape) {
	tops := make([][]*Node, t.pods)
	for i := range tops {
		prefix := fmt.Sprintf("pod%02d-", i+1)
		leaves := b.pod(t, t.leaves, prefix, i*t.leaves*t.hosts*t.split)
		for k := range t.spines {
			top := b.addSwitch(t.radix, "%sspine%03d", prefix, k+1)
			tops[i] = append(tops[i], top)
			for _, leaf := range leaves {
				b.connect(leaf, top)
			}
		}
	}
	for k := range t.spines {
		for g := range t.cores {
			core := b.addSwitch(t.radix, "core%04d", k*t.cores+g+1)
			for i := range tops {
				b.connect(tops[i][k], core)
			}
		}
	}
}
