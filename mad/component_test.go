package mad

import (
	"fmt"
	mathbits "math/bits"
	"testing"
)

// TestComponents pins the component numbers in opensm's ib_types.h and libibumad's
// umad_sa_mcm.h.
func TestComponents(t *testing.T) {
	var (
		node    NodeRecord
		port    PortInfoRecord
		sw      SwitchInfoRecord
		sm      SMInfoRecord
		guids   GUIDInfoRecord
		pkeys   PKeyTableRecord
		sl      SLtoVLMappingTableRecord
		arb     VLArbitrationTableRecord
		lft     LinearForwardingTableRecord
		mft     MulticastForwardingTableRecord
		link    LinkRecord
		path    PathRecord
		service ServiceRecord
		member  MCMemberRecord
		inform  InformInfoRecord
	)
	for _, test := range []struct {
		record Attribute
		field  any
		want   []int
	}{
		{&node, &node.LID, []int{0}},
		{&node, &node.NodeInfo.BaseVersion, []int{2}},
		{&node, &node.NodeInfo.NodeGUID, []int{7}},
		{&node, &node.NodeInfo.PortGUID, []int{8}},
		{&node, &node.NodeInfo.VendorID, []int{13}},
		{&node, &node.Description, []int{14}},
		{&port, &port.LID, []int{0}},
		{&port, &port.PortNum, []int{1}},
		{&port, &port.Options, []int{2}},
		{&port, &port.PortInfo.MKey, []int{3}},
		{&port, &port.PortInfo.CapMask, []int{7}},
		{&port, &port.PortInfo.State, []int{15}},
		{&port, &port.PortInfo.MKeyProtect, []int{18}},
		{&port, &port.PortInfo.LMC, []int{20}},
		{&port, &port.PortInfo.GUIDCap, []int{42}},
		{&port, &port.PortInfo.ClientReregister, []int{43}},
		{&port, &port.PortInfo.SubnetTimeout, []int{45}},
		{&port, &port.PortInfo.RespTimeValue, []int{47}},
		{&port, &port.PortInfo.MaxCreditHint, []int{50}},
		{&port, &port.PortInfo.LinkRoundTripLatency, []int{52}},
		{&port, &port.PortInfo.CapMask2, []int{53}},
		{&port, &port.PortInfo.LinkSpeedExtSupported, []int{55}},
		{&port, &port.PortInfo.LinkSpeedExtEnabled, []int{57}},
		{&sw, &sw.LID, []int{0}},
		{&sm, &sm.SMInfo.GUID, []int{2}},
		{&sm, &sm.SMInfo.State, []int{6}},
		{&guids, &guids.Block, []int{1}},
		{&guids, &guids.Table.GUIDs[0], []int{4}},
		{&guids, &guids.Table.GUIDs[7], []int{11}},
		{&pkeys, &pkeys.Block, []int{1}},
		{&pkeys, &pkeys.Port, []int{2}},
		{&sl, &sl.InPort, []int{1}},
		{&sl, &sl.OutPort, []int{2}},
		{&arb, &arb.Port, []int{1}},
		{&arb, &arb.Block, []int{2}},
		{&lft, &lft.Block, []int{1}},
		{&mft, &mft.Position, []int{1}},
		{&mft, &mft.Block, []int{3}},
		{&link, &link.FromLID, []int{0}},
		{&link, &link.FromPort, []int{1}},
		{&link, &link.ToPort, []int{2}},
		{&link, &link.ToLID, []int{3}},
		{&path, &path.ServiceID, []int{0, 1}},
		{&path, &path.DGID, []int{2}},
		{&path, &path.SLID, []int{5}},
		{&path, &path.RawTraffic, []int{6}},
		{&path, &path.FlowLabel, []int{8}},
		{&path, &path.Reversible, []int{11}},
		{&path, &path.NumbPath, []int{12}},
		{&path, &path.PKey, []int{13}},
		{&path, &path.SL, []int{15}},
		{&path, &path.LifeTime, []int{21}},
		{&service, &service.ServiceID, []int{0}},
		{&service, &service.Lease, []int{4}},
		{&service, &service.Key, []int{5}},
		{&service, &service.Name, []int{6}},
		{&service, &service.Data8[15], []int{22}},
		{&service, &service.Data16[0], []int{23}},
		{&service, &service.Data64[1], []int{36}},
		{&member, &member.MLID, []int{3}},
		{&member, &member.LifeTime, []int{11}},
		{&member, &member.Scope, []int{15}},
		{&member, &member.ProxyJoin, []int{17}},
		{&inform, &inform.Enum, []int{1}},
		{&inform, &inform.InformInfo.GID, []int{3}},
		{&inform, &inform.InformInfo.Generic, []int{7}},
		{&inform, &inform.InformInfo.QPN, []int{11}},
		{&inform, &inform.InformInfo.RespTime, []int{13}},
		{&inform, &inform.InformInfo.ProducerType, []int{15}},
	} {
		t.Run(fmt.Sprint(AttributeName(test.record), " ", test.want), func(t *testing.T) {
			var want ComponentMask
			for _, bit := range test.want {
				want |= 1 << bit
			}
			if got := Components(test.record, test.field); got != want {
				t.Errorf("%s: got %#x, want %#x (bits %v)", AttributeName(test.record), got, want, test.want)
			}
		})
	}
}

func TestComponentBits(t *testing.T) {
	r := PathRecord{DLID: 0xffff, NumbPath: 0x7f, ServiceID: 1<<64 - 1}
	b := make([]byte, r.Spec().Size)
	if err := Encode(&r, b); err != nil {
		t.Fatal(err)
	}
	mask := Components(&r, &r.DLID, &r.NumbPath, &r.ServiceID)
	if got := mask.Bits(&r); fmt.Sprintf("%x", got) != fmt.Sprintf("%x", b) {
		t.Errorf("got %x, want %x", got, b)
	}
	// A record's components together cover all its bits.
	for kind, empty := range attributes {
		var all ComponentMask = 1<<64 - 1
		a := empty()
		if a.Spec().Class != ClassSA || len(components(a)) > 64 {
			continue
		}
		end := components(a)[len(components(a))-1]
		count := 0
		for _, b := range all.Bits(a) {
			count += mathbits.OnesCount8(b)
		}
		if count != end.offset+end.width {
			t.Errorf("%s: %d bits in components, want %d", kind, count, end.offset+end.width)
		}
	}
}

func TestComponentsStranger(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a field of another record is taken for one")
		}
	}()
	Components(new(LinkRecord), &new(NodeRecord).LID)
}
