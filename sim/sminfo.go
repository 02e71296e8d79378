package sim

import "github.com/ibkit/ibkit/mad"

func getSMInfo(f *Fabric, d destination, p *mad.Packet) mad.Status {
	port := d.node.managed(d.entry)
	if !port.Info.CapMask.Has(mad.CapSM) {
		return mad.StatusBadMethodAttr
	}
	f.admin.activity++
	return encode(p, &mad.SMInfo{GUID: port.GUID, ActCount: f.admin.activity, State: f.smState(port)})
}

// smState returns the subnet manager state at a port.
func (f *Fabric) smState(p *Port) mad.SMState {
	switch {
	case f.admin.disabled[p]:
		return mad.SMNotActive
	case p.Info.SMLID == p.Info.LID:
		return mad.SMMaster
	}
	return mad.SMStandby
}

// The operations in an SMInfo Set (InfiniBand Architecture, Volume 1, 14.4.1).
const (
	smHandover    = 1
	smAcknowledge = 2
	smDisable     = 3
	smStandby     = 4
	smDiscover    = 5
)

// setSMInfo changes a subnet manager's state as opensm does (osm_sminfo_rcv.c and
// osm_sm_state_mgr.c), but at once: a manager that takes over makes the master standby, and
// a discovery ends with the state in which it began.
func setSMInfo(f *Fabric, d destination, p *mad.Packet) mad.Status {
	port := d.node.managed(d.entry)
	if !port.Info.CapMask.Has(mad.CapSM) {
		return mad.StatusBadMethodAttr
	}
	var request mad.SMInfo
	if p.Decode(&request) != nil {
		return mad.StatusBadValue
	}
	operation, sender := p.Modifier(), mad.SMMaster
	if operation == smAcknowledge {
		sender = mad.SMStandby
	}
	if request.State != sender {
		return mad.StatusBadValue
	}
	type transition struct {
		from      mad.SMState
		operation uint32
	}
	switch (transition{f.smState(port), operation}) {
	case transition{mad.SMStandby, smHandover}:
		if f.handOver(port) != nil {
			return mad.StatusBadValue
		}
	case transition{mad.SMStandby, smDisable}:
		if f.admin.disabled == nil {
			f.admin.disabled = map[*Port]bool{}
		}
		f.admin.disabled[port] = true
	case transition{mad.SMNotActive, smStandby}:
		delete(f.admin.disabled, port)
	case transition{mad.SMMaster, smHandover}, transition{mad.SMMaster, smDiscover},
		transition{mad.SMStandby, smDiscover}, transition{mad.SMStandby, smAcknowledge}:
	default:
		return mad.StatusBadValue
	}
	return 0
}
