package query

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A record is the subnet administration record with a node's attribute.
type record struct {
	match  mad.Attribute // with the values to be matched
	fields []any         // fields in match that select the record
	part   mad.Attribute // the attribute within match, after the reply is decoded
}

// records return the record with an attribute of the node with a LID.
var records = map[mad.AttrID]func(lid ib.LID, p part) record{
	mad.AttrNodeInfo: func(lid ib.LID, _ part) record {
		r := &mad.NodeRecord{LID: lid}
		return record{r, []any{&r.LID}, &r.NodeInfo}
	},
	mad.AttrNodeDescription: func(lid ib.LID, _ part) record {
		r := &mad.NodeRecord{LID: lid}
		return record{r, []any{&r.LID}, &r.Description}
	},
	mad.AttrSwitchInfo: func(lid ib.LID, _ part) record {
		r := &mad.SwitchInfoRecord{LID: lid}
		return record{r, []any{&r.LID}, &r.SwitchInfo}
	},
	mad.AttrSMInfo: func(lid ib.LID, _ part) record {
		r := &mad.SMInfoRecord{LID: lid}
		return record{r, []any{&r.LID}, &r.SMInfo}
	},
	mad.AttrPortInfo: func(lid ib.LID, p part) record {
		r := &mad.PortInfoRecord{LID: lid, PortNum: uint8(p.port)}
		return record{r, []any{&r.LID, &r.PortNum}, &r.PortInfo}
	},
	mad.AttrGUIDInfo: func(lid ib.LID, p part) record {
		r := &mad.GUIDInfoRecord{LID: lid, Block: uint8(p.modifier)}
		return record{r, []any{&r.LID, &r.Block}, &r.Table}
	},
	mad.AttrPKeyTable: func(lid ib.LID, p part) record {
		r := &mad.PKeyTableRecord{LID: lid, Port: uint8(p.port), Block: uint16(p.modifier)}
		return record{r, []any{&r.LID, &r.Port, &r.Block}, &r.Table}
	},
	mad.AttrSLtoVLMapping: func(lid ib.LID, p part) record {
		r := &mad.SLtoVLMappingTableRecord{LID: lid, InPort: uint8(p.modifier >> 8), OutPort: uint8(p.modifier)}
		return record{r, []any{&r.LID, &r.InPort, &r.OutPort}, &r.Table}
	},
	mad.AttrVLArbitration: func(lid ib.LID, p part) record {
		r := &mad.VLArbitrationTableRecord{LID: lid, Port: uint8(p.port), Block: uint8(p.block)}
		return record{r, []any{&r.LID, &r.Port, &r.Block}, &r.Table}
	},
	mad.AttrLinearForwardingTable: func(lid ib.LID, p part) record {
		r := &mad.LinearForwardingTableRecord{LID: lid, Block: uint16(p.modifier)}
		return record{r, []any{&r.LID, &r.Block}, &r.Table}
	},
	mad.AttrMulticastForwardingTable: func(lid ib.LID, p part) record {
		const blockMask, groupShift = 0x1ff, 28
		r := &mad.MulticastForwardingTableRecord{LID: lid, Block: uint16(p.modifier & blockMask), Position: uint8(p.modifier >> groupShift)}
		return record{r, []any{&r.LID, &r.Block, &r.Position}, &r.Table}
	},
}

// HasRecord reports whether subnet administration has records with the attribute.
func (a Attribute) HasRecord() bool {
	_, ok := records[a.ID]
	return ok && a.Class == mad.ClassSMPLIDRouted
}

// A call is a request with the function that decodes its reply's data.
type call struct {
	request *umad.Request
	decode  func(data []byte) (mad.Attribute, error)
}

// callFor returns the call for an attribute: to the node, or to subnet administration.
func (t *target) callFor(a Attribute, p part) (call, error) {
	if !t.FromSA {
		return call{t.request(a, p), func(data []byte) (mad.Attribute, error) {
			attr := a.Class.NewAttribute(a.ID)
			if attr == nil {
				return nil, nil
			}
			return attr, mad.Decode(attr, data)
		}}, nil
	}
	lid := t.port.To.LID
	switch {
	case t.port.To == umad.Target{Route: mad.Local}:
		lid = t.result.Local.LID
	case t.port.To.IsDirected():
		return call{}, fmt.Errorf("query subnet administration: it has no records of the directed route %v", t.port.To.Route)
	}
	r := records[a.ID](lid, p)
	return call{
		&umad.Request{To: t.administration(), Value: r.match, Mask: mad.Components(r.match, r.fields...), Key: t.SMKey},
		func(data []byte) (mad.Attribute, error) { return r.part, mad.Decode(r.match, data) },
	}, nil
}

// administration returns subnet administration's place.
func (r *run) administration() umad.Target {
	if r.Resolve.SMLID != 0 {
		return umad.Target{LID: r.Resolve.SMLID}
	}
	return umad.Target{LID: r.result.Local.SMLID, SL: r.result.Local.SMSL}
}
