package sim

import (
	"iter"

	"github.com/ibkit/ibkit/mad"
)

// endPorts yields the ports that have a LID or get one when the fabric is configured:
// switch port 0 and linked ports on other nodes. If the request selects a LID, with which
// all records but paths begin, other nodes are omitted.
func (q *saQuery) endPorts() iter.Seq[*Port] {
	var r mad.NodeRecord
	wanted := q.has(&r, &r.LID) && mad.Decode(&r, q.data) == nil
	return func(yield func(*Port) bool) {
		for p := range q.fabric.endPorts() {
			if (!wanted || p.Info.LID == r.LID) && !yield(p) {
				return
			}
		}
	}
}

func (f *Fabric) endPorts() iter.Seq[*Port] {
	return func(yield func(*Port) bool) {
		for _, n := range f.Nodes {
			for i := range n.Ports {
				p := &n.Ports[i]
				if n.IsSwitch() != (i == 0) || !n.IsSwitch() && !p.up() {
					continue
				}
				if !yield(p) {
					return
				}
			}
		}
	}
}

// physical yields the ports that share p's LID: all ports of a switch, otherwise p.
func (p *Port) physical() iter.Seq[*Port] {
	return func(yield func(*Port) bool) {
		if !p.Node.IsSwitch() {
			yield(p)
			return
		}
		for i := range p.Node.Ports {
			if !yield(&p.Node.Ports[i]) {
				return
			}
		}
	}
}

func nodeRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		var r mad.NodeRecord
		for p := range q.endPorts() {
			r = mad.NodeRecord{LID: p.Info.LID, NodeInfo: p.Node.Info, Description: p.Node.Desc}
			r.NodeInfo.PortGUID, r.NodeInfo.LocalPort = p.GUID, p.Number
			if !yield(&r) {
				return
			}
		}
	}
}

func portInfoRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		var r mad.PortInfoRecord
		for end := range q.endPorts() {
			for p := range end.physical() {
				r = mad.PortInfoRecord{LID: end.Info.LID, PortNum: p.Number, PortInfo: p.Info}
				r.PortInfo.LocalPort = p.Number
				if !q.trusted {
					r.PortInfo.MKey = 0
				}
				if !yield(&r) {
					return
				}
			}
		}
	}
}

// matchCapMask compares only the set bits in CapMask if the modifier requests it.
func matchCapMask(q *saQuery) (mad.ComponentMask, func(mad.Attribute) bool) {
	var want mad.PortInfoRecord
	mask := q.mask & mad.Components(&want, &want.PortInfo.CapMask)
	if q.modifier&mad.MatchCapMask == 0 || mask == 0 || mad.Decode(&want, q.data) != nil {
		return 0, func(mad.Attribute) bool { return true }
	}
	return mask, func(a mad.Attribute) bool {
		return a.(*mad.PortInfoRecord).PortInfo.CapMask.Has(want.PortInfo.CapMask)
	}
}

func switchInfoRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		for p := range q.endPorts() {
			if p.Node.IsSwitch() && !yield(&mad.SwitchInfoRecord{LID: p.Info.LID, SwitchInfo: p.Node.Switch}) {
				return
			}
		}
	}
}

func smInfoRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		m := q.fabric.master
		yield(&mad.SMInfoRecord{LID: m.Info.LID, SMInfo: mad.SMInfo{GUID: m.GUID, ActCount: q.fabric.admin.activity, State: mad.SMMaster}})
	}
}

func lftRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		var r mad.LinearForwardingTableRecord
		for p := range q.endPorts() {
			if !p.Node.IsSwitch() {
				continue
			}
			for block := range int(p.Node.Switch.LinearFDBTop)/lftBlock + 1 {
				r = mad.LinearForwardingTableRecord{LID: p.Info.LID, Block: uint16(block), Table: p.Node.forwarding(block)}
				if !yield(&r) {
					return
				}
			}
		}
	}
}

func guidInfoRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		var r mad.GUIDInfoRecord
		for p := range q.endPorts() {
			for block := range (int(p.Info.GUIDCap) + len(r.Table.GUIDs) - 1) / len(r.Table.GUIDs) {
				r = mad.GUIDInfoRecord{LID: p.Info.LID, Block: uint8(block)}
				if block == 0 {
					r.Table.GUIDs[0] = p.GUID
				}
				if !yield(&r) {
					return
				}
			}
		}
	}
}

func pkeyRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		var r mad.PKeyTableRecord
		for end := range q.endPorts() {
			for p := range end.physical() {
				for first := 0; first < len(p.PKeys); first += len(r.Table.PKeys) {
					r = mad.PKeyTableRecord{LID: end.Info.LID, Port: p.Number, Block: uint16(first / len(r.Table.PKeys))}
					copy(r.Table.PKeys[:], p.PKeys[first:])
					if !yield(&r) {
						return
					}
				}
			}
		}
	}
}

// sltovlRecords yields a table per input and output port of a switch. All input ports share
// a table in the simulator.
func sltovlRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		var r mad.SLtoVLMappingTableRecord
		for end := range q.endPorts() {
			for in := range end.physical() {
				for out := range end.physical() {
					if end.Node.IsSwitch() && out.Number == 0 {
						continue
					}
					r = mad.SLtoVLMappingTableRecord{LID: end.Info.LID, Table: out.SLtoVL}
					if end.Node.IsSwitch() {
						r.InPort, r.OutPort = in.Number, out.Number
					}
					if !yield(&r) {
						return
					}
				}
			}
		}
	}
}

// mftRecords yields the multicast forwarding table blocks up to the last block in use, as
// opensm does.
func mftRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		q.fabric.routeGroups()
		var r mad.MulticastForwardingTableRecord
		for p := range q.endPorts() {
			n := p.Node
			last := -1
			for mlid := range n.mft {
				last = max(last, int(mlid-firstMLID)/mftBlock)
			}
			for block := range last + 1 {
				for group := range int(n.Info.NumPorts)/mftGroup + 1 {
					r = mad.MulticastForwardingTableRecord{
						LID: p.Info.LID, Position: uint8(group), Block: uint16(block), Table: n.mftBlock(block, group),
					}
					if !yield(&r) {
						return
					}
				}
			}
		}
	}
}

func vlArbRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		var r mad.VLArbitrationTableRecord
		for end := range q.endPorts() {
			for p := range end.physical() {
				for number := range uint32(4) {
					block, ok := p.vlArbBlock(number)
					if !ok {
						continue
					}
					r = mad.VLArbitrationTableRecord{LID: end.Info.LID, Port: p.Number, Block: uint8(number + 1), Table: block.read()}
					if !yield(&r) {
						return
					}
				}
			}
		}
	}
}

func linkRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		var r mad.LinkRecord
		for end := range q.endPorts() {
			for p := range end.physical() {
				if !p.up() {
					continue
				}
				r = mad.LinkRecord{
					FromLID: end.Info.LID, FromPort: p.Number,
					ToLID: p.Peer.Management().Info.LID, ToPort: p.Peer.Number,
				}
				if !yield(&r) {
					return
				}
			}
		}
	}
}
