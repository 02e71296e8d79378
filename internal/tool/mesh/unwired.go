package mesh

import (
	"slices"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/mad"
)

// An Adapter is an adapter port on a host.
type Adapter struct {
	Host   string
	Device string  // that distinguishes it from others of the host; "": the host has one
	Gbps   float64 // 0: unknown
	Leaf   string  // switch; "": unknown
}

// name returns the name in results.
func (a Adapter) name() string {
	if a.Device == "" {
		return a.Host
	}
	return a.Host + " " + a.Device
}

// NewUnwired returns a wiring of adapters without a known fabric: an Ethernet network, or an
// InfiniBand fabric that cannot be scanned. Hosts are judged, and leaf switches if they are
// known for all adapters; links are not.
func NewUnwired(all []Adapter) *Wiring {
	const ports = 250 // of a switch that stands for the network, or a part of a leaf switch
	r := &route.Routing{}
	grouped := len(all) > 0 && !slices.ContainsFunc(all, func(a Adapter) bool { return a.Leaf == "" })
	networks, used := map[string]*route.Node{}, map[string]int{}
	for i, a := range all {
		leaf := "network"
		if grouped {
			leaf = a.Leaf
		}
		port := used[leaf]%ports + 1
		if used[leaf]++; port == 1 {
			networks[leaf] = r.Add(ib.GUID(1<<32+i), mad.NodeTypeSwitch, ports)
			networks[leaf].Desc = mad.NewNodeDescription(leaf)
		}
		network := networks[leaf]
		n := r.Add(ib.GUID(i+1), mad.NodeTypeCA, 1)
		n.Desc = mad.NewNodeDescription(a.name())
		n.Ports[1].GUID = n.GUID
		n.Ports[1].State, network.Ports[port].State = ib.PortActive, ib.PortActive
		route.Connect(&n.Ports[1], &network.Ports[port])
	}
	w := NewWiring(r, nil)
	w.Paths, w.grouped = FromNames, grouped
	for i := range w.ends {
		w.ends[i].gbps = all[w.ends[i].port.Node.GUID-1].Gbps
	}
	return w
}

// Adapters returns the adapters by the names in results: HOST, or HOST DEVICE.
func (r *Results) Adapters() (all []Adapter) {
	for _, name := range r.Names {
		host, device, _ := strings.Cut(name, " ")
		all = append(all, Adapter{Host: host, Device: device, Leaf: r.leaves[name]})
	}
	return all
}

// Names returns the names of adapters in the results of [NewUnwired].
func Names(all []Adapter) (names []string) {
	for _, a := range all {
		names = append(names, a.name())
	}
	return names
}

// NameOf returns the name of the end port with a GUID.
func (w *Wiring) NameOf(guid ib.GUID) (name string, ok bool) {
	found := w.resolve(guid.String())
	if len(found) != 1 {
		return "", false
	}
	return w.endName(found[0]), true
}
