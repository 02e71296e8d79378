package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// request sends a request with an attribute's data to a LID. It reports whether a reply
// arrived, and decodes the reply into the attribute.
func request(t *testing.T, p umad.Port, lid ib.LID, class mad.Class, method mad.Method, a mad.Attribute, modifier uint32) (mad.Status, bool) {
	t.Helper()
	m := &umad.Message{Addr: umad.Addr{LID: lid}}
	if class.IsSMP() {
		m.MAD.PutSMP(mad.SMPRequest{Method: method, Attr: a.Spec().ID, Modifier: modifier})
	} else {
		m.Addr.QPN = 1
		m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: class, ClassVersion: 1, Method: method, Attr: a.Spec().ID, Modifier: modifier})
	}
	if err := mad.Encode(a, m.MAD.Data()); err != nil {
		t.Fatal(err)
	}
	if err := p.Send(m); err != nil {
		t.Fatal(err)
	}
	if p.Recv(m, time.Now()) != nil {
		return 0, false
	}
	if m.MAD.Status() == 0 {
		if err := m.MAD.Decode(a); err != nil {
			t.Fatal(err)
		}
	}
	return m.MAD.Status(), true
}

// mustAsk expects a successful reply.
func mustAsk(t *testing.T, p umad.Port, lid ib.LID, class mad.Class, method mad.Method, a mad.Attribute, modifier uint32) {
	t.Helper()
	if status, ok := request(t, p, lid, class, method, a, modifier); !ok || status != 0 {
		t.Fatalf("%v %s: got status %#x, reply %v", method, mad.AttributeName(a), status, ok)
	}
}

// A node ignores the vendor class, and rejects NVIDIA's attributes, unless it has the agent.
func TestVendorAgent_Off(t *testing.T) {
	f := build(t, "single-switch:hosts=2")
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	sw := f.Node("switch1")
	lid := sw.Ports[0].Info.LID
	if _, ok := request(t, p, lid, mad.ClassMlnx, mad.MethodGet, &mad.MlnxGeneralInfo{}, 0); ok {
		t.Error("got a reply of the vendor class, want none")
	}
	for _, a := range []mad.Attribute{&mad.HierarchyInfo{}, &mad.AdaptiveRoutingInfo{}, &mad.ARGroupTable{}, &mad.ARLinearForwardingTable{}, &mad.PrivateLFTInfo{}} {
		if status, ok := request(t, p, lid, mad.ClassSMPLIDRouted, mad.MethodGet, a, 0); !ok || status != mad.StatusBadMethodAttr {
			t.Errorf("%s: got status %#x, reply %v, want %#x", mad.AttributeName(a), status, ok, mad.StatusBadMethodAttr)
		}
	}
	if sw.Ports[0].Info.CapMask.Has(mad.CapHierarchyInfo) {
		t.Error("got the capability HierarchyInfo without the agent")
	}
}

func TestVendorAgent_ConfigSpace(t *testing.T) {
	f := build(t, "single-switch:hosts=2,vendor=on")
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	lid := f.Node("switch1").Ports[0].Info.LID
	a := mad.MlnxConfigSpace{}
	a.Records[0] = mad.MlnxConfigRecord{Address: 0x10, Data: 0x12345678, Mask: 0xffff}
	a.Records[1] = mad.MlnxConfigRecord{Address: 0x10, Data: 0xff000000, Mask: 0xf0000000}
	mustAsk(t, p, lid, mad.ClassMlnx, mad.MethodSet, &a, mad.MlnxConfigSpaceModifier(2))
	a = mad.MlnxConfigSpace{}
	a.Records[0].Address = 0x10
	mustAsk(t, p, lid, mad.ClassMlnx, mad.MethodGet, &a, mad.MlnxConfigSpaceModifier(1))
	if got, want := a.Records[0].Data, uint32(0xf0005678); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
	if status, _ := request(t, p, lid, mad.ClassMlnx, mad.MethodGet, &a, mad.MlnxConfigSpaceModifier(19)); status != mad.StatusBadValue {
		t.Errorf("19 records: got status %#x, want %#x", status, mad.StatusBadValue)
	}
	if status, _ := request(t, p, lid, mad.ClassMlnx, mad.MethodSet, &mad.MlnxGeneralInfo{}, 0); status != mad.StatusBadMethodAttr {
		t.Errorf("Set of GeneralInfo: got status %#x, want %#x", status, mad.StatusBadMethodAttr)
	}
}

// Positions distinguish the ports in cages and in split connectors.
func TestHierarchy(t *testing.T) {
	for _, tt := range []struct {
		fabric, node string
		port         int
		template     uint64
		want         []mad.HierarchyRecord
	}{
		{"single-switch:hosts=2,speed=HDR", "switch1", 3, 3, []mad.HierarchyRecord{0x01000001, 0x02000003, 0x03000001}},
		{"single-switch:hosts=2,speed=NDR", "switch1", 3, 3, []mad.HierarchyRecord{0x01000001, 0x02000002, 0x03000001}},
		{"single-switch:hosts=2,speed=NDR", "switch1", 4, 3, []mad.HierarchyRecord{0x01000002, 0x02000002, 0x03000001}},
		{"single-switch:hosts=2,speed=HDR,split=2", "switch1", 4, 3, []mad.HierarchyRecord{0x00000002, 0x01000001, 0x02000002, 0x03000001}},
		{"single-switch:hosts=2,speed=NDR,split=2", "switch1", 7, 3, []mad.HierarchyRecord{0x00000001, 0x01000002, 0x02000002, 0x03000001}},
		{"single-switch:hosts=2,speed=NDR", "host001", 1, 3, []mad.HierarchyRecord{0x01000001, 0x02000001, 0x06001700}},
		{"single-switch:hosts=2,speed=XDR", "switch1", 2, 4, []mad.HierarchyRecord{0x00000003, 0x01000100, 0x03000001, 0x04000002}},
		{"single-switch:hosts=2,speed=XDR", "host001", 1, 5, []mad.HierarchyRecord{0x00000004, 0x03000001, 0x04000001, 0x09001700}},
	} {
		t.Run(tt.fabric+" "+tt.node, func(t *testing.T) {
			f := build(t, tt.fabric+",vendor=on")
			p, err := f.Open("")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			n := f.Node(tt.node)
			var a mad.HierarchyInfo
			mustAsk(t, p, n.managed(uint8(tt.port)).Info.LID, mad.ClassSMPLIDRouted, mad.MethodGet, &a, uint32(tt.port))
			if got := a.Active(); a.TemplateGUID != tt.template || !slices.Equal(got, tt.want) {
				t.Errorf("got template %d, records %x, want %d, %x", a.TemplateGUID, got, tt.template, tt.want)
			}
			if !n.managed(uint8(tt.port)).Info.CapMask.Has(mad.CapHierarchyInfo) {
				t.Error("got no capability HierarchyInfo")
			}
		})
	}
}

// The group for a LID has all ports on shortest paths, including the static port.
func TestAdaptiveRouting(t *testing.T) {
	for _, sm := range []string{"minhop", "updown"} {
		t.Run(sm, func(t *testing.T) {
			f := build(t, "fat-tree:levels=2,radix=8,pods=4,ar=on,sm="+sm)
			p, err := f.Open("")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			leaf := f.Node("leaf001")
			lid := leaf.Ports[0].Info.LID
			var info mad.AdaptiveRoutingInfo
			mustAsk(t, p, lid, mad.ClassSMPLIDRouted, mad.MethodGet, &info, 0)
			if info.Enabled != 1 {
				t.Errorf("got %+v, want adaptive routing on", info)
			}
			var groups []mad.PortMask
			for block := uint32(0); block*2 <= uint32(info.GroupTop); block++ {
				var a mad.ARGroupTable
				mustAsk(t, p, lid, mad.ClassSMPLIDRouted, mad.MethodGet, &a, block)
				groups = append(groups, a.SubGroups[:]...)
			}
			free := 0
			for block := range uint32(len(leaf.LFT)+15) / 16 {
				var a mad.ARLinearForwardingTable
				mustAsk(t, p, lid, mad.ClassSMPLIDRouted, mad.MethodGet, &a, block)
				for i, e := range a.Entries {
					lid := int(block)*16 + i
					if lid >= len(leaf.LFT) {
						continue
					}
					if e.Port != leaf.LFT[lid] {
						t.Errorf("LID %d: got port %d, want %d", lid, e.Port, leaf.LFT[lid])
					}
					if e.State == mad.ARFree {
						free++
						if !groups[e.Group].Has(e.Port) {
							t.Errorf("LID %d: group %v lacks port %d", lid, groups[e.Group], e.Port)
						}
					}
				}
			}
			if want := 12 + 3; free != want { // hosts and switches behind other leaves
				t.Errorf("got %d LIDs with adaptive routing, want %d", free, want)
			}
		})
	}
	f := build(t, "fat-tree:levels=2,radix=8,pods=4")
	if err := f.SetAdaptiveRouting(true, f.Node("leaf001")); err == nil || !strings.Contains(err.Error(), "not a switch with a vendor agent") {
		t.Errorf("without an agent: got error %v", err)
	}
}

// Commands start and stop a fabric's agents in use.
func TestVendorCommands(t *testing.T) {
	f := build(t, "fat-tree:levels=2,radix=8,pods=4")
	leaf := f.Node("leaf001")
	do := func(text string) {
		t.Helper()
		c, err := f.ParseCommand("test", 1, text)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Do(c, nil); err != nil {
			t.Fatal(err)
		}
	}
	do("vendor all")
	do("adaptive all")
	if leaf.vendor == nil || leaf.vendor.adaptive == nil {
		t.Error("got no adaptive routing")
	}
	do("adaptive leaf001 off")
	if leaf.vendor == nil || leaf.vendor.adaptive != nil {
		t.Error("got adaptive routing, want none")
	}
	do("vendor leaf001 off")
	if leaf.vendor != nil || f.Node("leaf002").vendor == nil {
		t.Error("got the wrong agents")
	}
	for _, text := range []string{"vendor", "vendor nobody", "vendor all on", "adaptive"} {
		if _, err := f.ParseCommand("test", 1, text); err == nil {
			t.Errorf("%s: got no error", text)
		}
	}
}

func TestBuild_Vendor(t *testing.T) {
	for _, description := range []string{"demo:vendor=yes", "demo,ar=1"} {
		if _, err := Build(description); err == nil || !strings.Contains(err.Error(), "not one of on, off") {
			t.Errorf("%s: got error %v", description, err)
		}
	}
}
