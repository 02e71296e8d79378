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
		f.mustCount(dirty, map[string]uint64{"SymbolErrorCounter": 900_000, "LinkDownedCounter": 3})
		f.Node("spine2").Ports[1].SetOptics(HotModule)
		f.Node("spine2").Ports[2].SetModuleFirmware(46, 104, 0)
		f.remember(&f.Node("leaf2").Ports[7], &f.Node("spine1").Ports[5]) // an unplugged cable
		f.Node("leaf2").SetFan(3, 0)
		f.Node("spine1").SetPowerSupply(1, false)
	},
}

// wearOptics gives the demo the cables and devices of a cluster that has been in operation
// for some time: the bad cable of addWear has a dirty fibre, the modules of leaf3 and
// leaf4 are from another batch, and a fan has failed below a hot module.
func wearOptics(f *Fabric) {
	f.Node("leaf1").Ports[1].SetOptics(DirtyFibre)
	f.Node("spine2").Ports[3].SetOptics(HotModule)
	f.Node("spine2").SetFan(3, 0)
	for _, leaf := range []string{"leaf3", "leaf4"} {
		f.Node(leaf).Ports[1].SetModuleFirmware(46, 104, 0)
	}
	f.remember(&f.Node("leaf3").Ports[7], &f.Node("spine1").Ports[5]) // an unplugged module
}
