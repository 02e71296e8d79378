package sim

import "github.com/ibkit/ibkit/mad"

// getPortStates answers for switches that have the capability at port 0.
func getPortStates(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	n := d.node
	if !n.IsSwitch() || !n.Ports[0].Info.CapMask2.Has(mad.Cap2SwitchPortStateTable) {
		return mad.StatusBadMethodAttr
	}
	var t mad.SwitchPortStateTable
	first := int(p.Modifier()&1) * len(t.States)
	if first >= len(n.Ports) {
		return mad.StatusBadValue
	}
	for i := range n.Ports[first:min(len(n.Ports), first+len(t.States))] {
		t.States[i] = n.Ports[first+i].Info.State
	}
	return encode(p, &t)
}
