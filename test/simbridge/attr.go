package main

import (
	"bytes"
	"encoding/binary"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// Table sizes in the kernel module (IBTEST_GIDS, IBTEST_PKEYS).
const (
	gidEntries  = 8
	pkeyEntries = 32
)

// describePort encodes port attributes as struct ibtest_port. The fields are the same as
// in the kernel's struct ib_port_attr (<rdma/ib_verbs.h>). States, widths and MTUs use
// PortInfo's codes; speeds use the [mad.Speed] order.
func describePort(number uint32, p *sim.Port, added mad.PortCapMask) record {
	r := newRecord(portAttr, number)
	i := &p.Info
	w := bytes.NewBuffer(r[:offUnion])
	put := func(v any) { _ = binary.Write(w, binary.NativeEndian, v) } // a bytes.Buffer accepts every write
	var guids [gidEntries]ib.GUID
	guids[0] = p.GUID
	_ = binary.Write(w, binary.BigEndian, i.GIDPrefix)
	_ = binary.Write(w, binary.BigEndian, guids)
	var keys [pkeyEntries]uint16
	for at, key := range p.PKeys[:min(len(p.PKeys), pkeyEntries)] {
		keys[at] = uint16(key)
	}
	put(keys)
	put(uint32(i.CapMask &^ added))
	put(uint16(i.CapMask2))
	put(i.LID)
	put(i.SMLID)
	put(uint16(i.ActiveSpeed(i, p.Ext)))
	put([]uint8{
		uint8(i.LinkWidthActive), uint8(i.State), uint8(i.PhysState), i.LMC, i.SMSL,
		uint8(i.MTUCap), uint8(i.NeighborMTU), uint8(i.VLCap), i.SubnetTimeout, i.ClientReregister,
	})
	return r
}

// describeNode encodes node attributes as struct ibtest_node.
func describeNode(n *sim.Node) record {
	r := newRecord(nodeAttr, 0)
	w := bytes.NewBuffer(r[:offUnion])
	_ = binary.Write(w, binary.BigEndian, [2]ib.GUID{n.Info.NodeGUID, n.Info.SystemGUID})
	_ = binary.Write(w, binary.NativeEndian, [4]uint32{n.Info.VendorID, uint32(n.Info.DeviceID), n.Info.Revision, 0})
	_ = binary.Write(w, binary.NativeEndian, n.Desc)
	return r
}
