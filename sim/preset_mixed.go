package sim

import (
	"strings"

	"github.com/ibkit/ibkit/ib"
)

var mixed = Preset{
	Name:  "mixed",
	About: "a rack of each generation from SDR to XDR on XDR spines",
	Parameters: []Parameter{
		{"hosts", "2", "hosts per rack"},
		{"spines", "2", "number of spines"},
	},
	link: LinkSpec{Speed: ib.XDR},
	build: func(b *builder, p *params) {
		hosts := p.number("hosts", 1, 64)
		spines := make([]*Node, p.number("spines", 1, 64))
		for i := range spines {
			spines[i] = b.addSwitch(36, "spine%d", i+1)
		}
		for s := ib.SDR; s <= ib.XDR; s <<= 1 {
			b.rack(s, hosts, spines)
		}
	},
}

// rack adds a leaf with hosts from the same generation and links the leaf to the spines.
// The cables between the switches do not limit the speed.
func (b *builder) rack(s ib.Speed, hosts int, spines []*Node) {
	b.link.Speed = s
	name := strings.ToLower(s.String())
	leaf := b.addSwitch(hosts+len(spines), "%s-leaf", name)
	for i := range hosts {
		b.connect(leaf, b.addHost("%s-host%02d", name, i+1))
	}
	for _, spine := range spines {
		b.connect(leaf, spine)
	}
}
