package sim

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// The presets with routing faults. Each preset has a single fault, in the leaf and spine
// tables of a small fat tree, except for the torus.
var (
	loopFault = Preset{
		Name: "forwarding-loop", About: "a fat tree in which packets to a host circle between a leaf and a spine",
		build: faultTree, inject: (*Fabric).injectLoop,
	}
	deadEndFault = Preset{
		Name: "dead-end", About: "a fat tree with a table entry that leads to a port without a cable",
		build: faultTree, inject: (*Fabric).injectDeadEnd,
	}
	balanceFault = Preset{
		Name: "unbalanced-leaf", About: "a fat tree with a leaf that sends everything through a single uplink",
		build: faultTree, inject: (*Fabric).injectImbalance,
	}
	multicastFault = Preset{
		Name: "broken-multicast", About: "a fat tree with two multicast groups: a split tree without a member, and a loop",
		build: faultTree, inject: (*Fabric).injectMulticast,
	}
	creditFault = Preset{
		Name: "credit-loop", About: "a torus with shortest paths on a single virtual lane, which can block each other",
		build: func(b *builder, p *params) {
			p.values = map[string]string{"x": "5", "y": "5", "z": "1", "hosts": "1"}
			torus.build(b, p)
		},
	}
)

// faultTree builds two spines and four leaves with four hosts each.
func faultTree(b *builder, _ *params) {
	b.fatTree2(&treeShape{radix: 8, split: 1, pods: 4, hosts: 4, spines: 2})
}

// hostLID returns an adapter's LID.
func (f *Fabric) hostLID(id string) ib.LID { return f.Node(id).Ports[1].Info.LID }

// portTo returns the switch port that leads to another node.
func (f *Fabric) portTo(from, to string) uint8 {
	n := f.Node(from)
	for i := range n.Ports {
		if peer := n.Ports[i].Peer; peer != nil && peer.Node.ID == to {
			return uint8(i)
		}
	}
	return noRoute
}

func (f *Fabric) injectLoop() {
	lid := f.hostLID("host00016")
	f.Node("leaf001").LFT[lid] = f.portTo("leaf001", "spine001")
	f.Node("spine001").LFT[lid] = f.portTo("spine001", "leaf001")
}

func (f *Fabric) injectDeadEnd() {
	n := f.Node("spine001")
	for _, p := range []*Port{&f.Node("host00005").Ports[1], &f.Node("host00006").Ports[1]} {
		n.LFT[p.Info.LID] = uint8(len(n.Ports) - 1) // it has no cable
	}
	f.Node("leaf001").LFT[f.hostLID("host00005")] = f.portTo("leaf001", "spine001")
}

func (f *Fabric) injectImbalance() {
	n := f.Node("leaf001")
	only := f.portTo("leaf001", "spine001")
	for _, host := range f.Nodes {
		if host.IsSwitch() {
			continue
		}
		if lid := f.hostLID(host.ID); n.LFT[lid] == f.portTo("leaf001", "spine002") {
			n.LFT[lid] = only
		}
	}
}

// Multicast LIDs for the groups, above the LIDs that subnet administration uses.
const (
	splitMLID = firstMLID + 0x10
	loopMLID  = firstMLID + 0x11
)

// injectMulticast enters the trees for two groups. The hosts at three leaves are members of
// both; another member in the first group has no entry.
func (f *Fabric) injectMulticast() {
	for _, mlid := range []ib.LID{splitMLID, loopMLID} {
		hosts := []string{"host00001", "host00005", "host00009", "host00013"}
		if mlid == loopMLID {
			hosts = hosts[:3]
		}
		f.join(mlid, hosts)
	}
	add := func(mlid ib.LID, from, to string) { f.Node(from).routeMLID(mlid).Add(f.portTo(from, to)) }
	for _, leaf := range []struct{ name, host string }{{"leaf001", "host00001"}, {"leaf002", "host00005"}, {"leaf003", "host00009"}} {
		for _, mlid := range []ib.LID{splitMLID, loopMLID} {
			add(mlid, leaf.name, leaf.host)
			if mlid == splitMLID && leaf.name == "leaf003" {
				continue // not connected to the spine
			}
			add(mlid, leaf.name, "spine001")
			add(mlid, "spine001", leaf.name)
		}
	}
	for _, leaf := range []string{"leaf001", "leaf002"} {
		add(loopMLID, leaf, "spine002")
		add(loopMLID, "spine002", leaf)
	}
}

// join creates a group with hosts as its members. Its forwarding tables are not computed.
func (f *Fabric) join(mlid ib.LID, hosts []string) {
	g := &group{common: broadcast().common, routed: true}
	g.common.MLID = mlid
	g.common.MGID[14], g.common.MGID[15] = byte(mlid>>8), byte(mlid)
	for _, id := range hosts {
		m := g.common
		m.PortGID, m.JoinState = f.Node(id).Ports[1].gid(), mad.JoinFull
		g.members = append(g.members, m)
	}
	f.admin.groups = append(f.multicast(), g)
}
