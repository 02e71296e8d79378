package sim

import (
	"time"

	"github.com/ibkit/ibkit/ib"
)

var opticsFaults = Preset{
	Name:  "optics",
	About: "a small cluster with faults of cables, modules, fans and power supplies",
	link:  LinkSpec{Speed: ib.NDR},
	build: buildSmallCluster,
	inject: func(f *Fabric) {
		f.Model.Load, f.Model.Uptime = 0.15, time.Hour
		for _, n := range f.Nodes {
			n.SetVendorAgent(true)
		}
		dirty := &f.Node("leaf1").Ports[1] // a dirty fibre from spine1
		dirty.SetOptics(DirtyFibre)
		f.mustCount(dirty, map[string]uint64{"SymbolErrorCounter": 90_000_000, "LinkDownedCounter": 3})
		f.Node("spine2").Ports[1].SetOptics(HotModule)
		f.Node("spine2").Ports[2].optics.firmware = 46<<24 | 104<<16
		f.remember(&f.Node("leaf2").Ports[7], &f.Node("spine1").Ports[5]) // an unplugged cable
		f.Node("leaf2").SetFan(3, 0)
		f.Node("spine1").vendor.platform.lost[1] = true
	},
}
