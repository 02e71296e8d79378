package fabric

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// The labels are as in ibdm's Fabric.h for the same records.
func TestPortLabel(t *testing.T) {
	block := func(template uint64, records ...uint32) mad.HierarchyInfo {
		a := mad.HierarchyInfo{TemplateGUID: template, ActiveLevels: uint8(len(records))}
		for i, r := range records {
			a.Records[i] = mad.HierarchyRecord(r)
		}
		return a
	}
	const ca, sw, rt = mad.NodeTypeCA, mad.NodeTypeSwitch, mad.NodeTypeRouter
	for _, tt := range []struct {
		name   string
		kind   mad.NodeType
		blocks []mad.HierarchyInfo
		want   string
	}{
		{"NDR switch", sw, []mad.HierarchyInfo{block(3, 0x01000002, 0x02000003, 0x03000001)}, "1/3/2"},
		{"NDR switch, split", sw, []mad.HierarchyInfo{block(3, 0x00000001, 0x01000002, 0x02000003, 0x03000001)}, "1/3/2/1"},
		{"NDR adapter by slot", ca, []mad.HierarchyInfo{block(3, 0x01000001, 0x02000001, 0x04000501)}, "Physical5/1/1"},
		{"NDR adapter by address", ca, []mad.HierarchyInfo{block(3, 0x01000001, 0x02000001, 0x04000500, 0x060017ea)}, "B23D29F2/1/1"},
		{"NDR adapter, nowhere", ca, []mad.HierarchyInfo{block(3, 0x01000001, 0x02000001)}, ""},
		{"NDR router", rt, []mad.HierarchyInfo{block(3, 0x01000001, 0x02000001, 0x03000001)}, ""},
		{"NDR switch without a cage", sw, []mad.HierarchyInfo{block(3, 0x01000002, 0x03000001)}, ""},
		{"XDR switch", sw, []mad.HierarchyInfo{block(4, 0x00000003, 0x01000100, 0x03000007, 0x04000002, 0x05000001, 0x0a000002)}, "swA7p2s1"},
		{"XDR, one of four chips", sw, []mad.HierarchyInfo{block(4, 0x00000003, 0x01000004, 0x03000007, 0x04000002)}, "swA47p2"},
		{"XDR, to an access port", sw, []mad.HierarchyInfo{block(4, 0x00000005, 0x02000009)}, "AccessP9"},
		{"XDR, unknown type", sw, []mad.HierarchyInfo{block(4, 0x00000009, 0x03000007)}, ""},
		{"XDR, unknown chip", sw, []mad.HierarchyInfo{block(4, 0x00000003, 0x01000009)}, ""},
		{"XDR adapter", ca, []mad.HierarchyInfo{block(5, 0x00000004, 0x03000001, 0x04000002, 0x09001700)}, "ibB23D0F0HCA1p2"},
		{"XDR adapter in two blocks", ca, []mad.HierarchyInfo{block(5, 0x00000004, 0x03000001), block(5, 0x04000002, 0x09001700, 0x0d000001)}, "ibB23D0F0HCA1p2"},
		{"GPU", ca, []mad.HierarchyInfo{block(5, 0x00000006, 0x02000012)}, "GPUP18"},
		{"other template", sw, []mad.HierarchyInfo{block(1, 0x01000002, 0x02000003, 0x03000001)}, ""},
		{"other template in the second block", ca, []mad.HierarchyInfo{block(5, 0x00000004), block(4, 0x04000002)}, ""},
		{"selector twice", sw, []mad.HierarchyInfo{block(3, 0x01000002, 0x01000003, 0x02000003, 0x03000001)}, ""},
		{"selector that the template lacks", sw, []mad.HierarchyInfo{block(3, 0x01000002, 0x02000003, 0x03000001, 0x4d000001)}, ""},
		{"values in other bits", sw, []mad.HierarchyInfo{block(3, 0x00000201, 0x00000302, 0x00000103)}, ""},
		{"no records", sw, []mad.HierarchyInfo{block(3)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := portLabel(tt.kind, tt.blocks); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzPortLabel(f *testing.F) {
	f.Add(uint8(2), uint8(1), []byte("\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x30\x00\x01\x00\x00\x02\x02\x00\x00\x03\x03\x00\x00\x01"))
	f.Add(uint8(1), uint8(0), []byte{0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0xf0})
	f.Fuzz(func(t *testing.T, kind, more uint8, data []byte) {
		blocks := make([]mad.HierarchyInfo, int(more%4)+1)
		for i := range blocks {
			b := make([]byte, mad.DataSize)
			copy(b, data[min(len(data), i*mad.DataSize):])
			if err := mad.Decode(&blocks[i], b); err != nil {
				t.Fatal(err)
			}
		}
		label := portLabel(mad.NodeType(kind), blocks)
		for _, c := range label {
			if !strings.ContainsRune("/BDFPhysicalHCAGPUFNMswAcesibp0123456789", c) {
				t.Errorf("got label %q", label)
			}
		}
	})
}

// labels reads a simulated fabric's labels.
func labels(t *testing.T, s *sim.Fabric) *Fabric {
	t.Helper()
	port, err := s.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	c := umad.NewClient(port, umad.ClientOptions{Timeout: 50 * time.Millisecond})
	f, err := Discover(t.Context(), c, DiscoverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.ReadLabels(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestReadLabels(t *testing.T) {
	for _, tt := range []struct {
		fabric string
		want   map[string]string // by node and port
	}{
		{"single-switch:hosts=4,speed=NDR,vendor=on", map[string]string{"switch1 1": "1/1/1", "switch1 2": "1/1/2", "switch1 3": "1/2/1", "host001 1": "B23D0F0/1/1", "host004 1": "B23D0F0/1/1"}},
		{"single-switch:hosts=4,speed=HDR,split=2,vendor=on", map[string]string{"switch1 1": "1/1/1/1", "switch1 2": "1/1/1/2", "switch1 3": "1/2/1/1"}},
		{"single-switch:hosts=4,speed=XDR,vendor=on", map[string]string{"switch1 3": "swA2p1", "host002 1": "ibB23D0F0HCA1p1"}},
		{"single-switch:hosts=4,speed=NDR", map[string]string{"switch1 1": "", "host001 1": ""}},
	} {
		t.Run(tt.fabric, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := sim.Build(tt.fabric)
				if err != nil {
					t.Fatal(err)
				}
				f := labels(t, s)
				if f.Partial() {
					t.Errorf("got a partial fabric: %v", f.Failures)
				}
				for _, n := range f.Nodes {
					for _, p := range n.Ports {
						if p == nil {
							continue
						}
						key := n.Desc.Clean() + " " + string(rune('0'+p.Number))
						if want, ok := tt.want[key]; ok && p.Label != want {
							t.Errorf("%s: got label %q, want %q", key, p.Label, want)
						}
					}
				}
			})
		})
	}
}

// A node that stops responding is a failure; a node with an agent that rejects the
// attribute is not.
func TestReadLabels_Errors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := sim.Build("single-switch:hosts=4,vendor=on")
		if err != nil {
			t.Fatal(err)
		}
		port, err := s.Open("")
		if err != nil {
			t.Fatal(err)
		}
		defer port.Close()
		c := umad.NewClient(port, umad.ClientOptions{Timeout: 50 * time.Millisecond})
		f, err := Discover(t.Context(), c, DiscoverOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s.Node("host002").Silent = true
		s.Node("host003").SetVendorAgent(false)
		if err := f.ReadLabels(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if len(f.Failures) != 1 || f.Failures[0].NodeGUID != s.Node("host002").Info.NodeGUID || f.Failures[0].Attr != mad.AttrHierarchyInfo {
			t.Errorf("got failures %v, want that of host002", f.Failures)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := f.ReadLabels(ctx, c); err == nil {
			t.Error("canceled: got no error")
		}
	})
}
