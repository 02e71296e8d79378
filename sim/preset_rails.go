package sim

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

var rails = Preset{
	Name:  "rails",
	About: "hosts with several adapters, each of which leads to the leaf of its rail",
	Parameters: []Parameter{
		{"hosts", "8", "number of hosts"},
		{"rails", "4", "adapters per host, and leaves"},
		{"spines", "2", "number of spines"},
		speedParameter, widthParameter,
	},
	build: func(b *builder, p *params) {
		hosts, count, spines := p.number("hosts", 1, 120), p.number("rails", 2, 64), p.number("spines", 1, 120)
		leaves := make([]*Node, count)
		for i := range leaves {
			leaves[i] = b.addSwitch(hosts+spines, "leaf%d", i+1)
		}
		for h := range hosts {
			for i, leaf := range leaves {
				b.connect(leaf, b.addSpec(NodeSpec{
					Kind: mad.NodeTypeCA, Ports: 1, ID: fmt.Sprintf("host%03d-mlx5_%d", h+1, i), Desc: fmt.Sprintf("host%03d mlx5_%d", h+1, i),
				}))
			}
		}
		for s := range spines {
			spine := b.addSwitch(count, "spine%d", s+1)
			for _, leaf := range leaves {
				b.connect(leaf, spine)
			}
		}
	},
}
