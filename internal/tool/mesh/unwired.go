package mesh

import (
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
}

// name returns the name in results.
func (a Adapter) name() string {
	if a.Device == "" {
		return a.Host
	}
	return a.Host + " " + a.Device
}

// NewUnwired returns a wiring of adapters without a known fabric: an Ethernet network, or an
// InfiniBand fabric that cannot be scanned. Hosts are judged, links are not.
func NewUnwired(all []Adapter) *Wiring {
	const ports = 250 // of a switch that stands for the network
	r := &route.Routing{}
	var network *route.Node
	for i, a := range all {
		if i%ports == 0 {
			network = r.Add(ib.GUID(1<<32+i), mad.NodeTypeSwitch, ports)
			network.Desc = mad.NewNodeDescription("network")
		}
		n := r.Add(ib.GUID(i+1), mad.NodeTypeCA, 1)
		n.Desc = mad.NewNodeDescription(a.name())
		n.Ports[1].GUID = n.GUID
		n.Ports[1].State, network.Ports[i%ports+1].State = ib.PortActive, ib.PortActive
		route.Connect(&n.Ports[1], &network.Ports[i%ports+1])
	}
	w := NewWiring(r, nil)
	w.Paths = FromNames
	for i := range w.ends {
		w.ends[i].gbps = all[w.ends[i].port.Node.GUID-1].Gbps
	}
	return w
}

// Adapters returns the adapters by the names in results: HOST, or HOST DEVICE.
func (r *Results) Adapters() (all []Adapter) {
	for _, name := range r.Names {
		host, device, _ := strings.Cut(name, " ")
		all = append(all, Adapter{Host: host, Device: device})
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
