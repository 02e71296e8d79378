package rdmanl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/netlink"

	"github.com/ibkit/ibkit/ib"
)

func encode(t testing.TB, build func(*netlink.AttributeEncoder)) []byte {
	t.Helper()
	e := netlink.NewAttributeEncoder()
	build(e)
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// device and port encode kernel responses, with an unknown attribute.
func device(e *netlink.AttributeEncoder) {
	e.Uint32(attrDevIndex, 3)
	e.String(attrDevName, "mlx5_0")
	e.Uint32(attrPortIndex, 2)
	e.String(attrFWVersion, "20.31.1014")
	e.Uint64(attrNodeGUID, 0x0001020304050607)
	e.Uint8(attrDevNodeType, 1)
	e.String(attrProtocol, "ib")
	e.Uint64(999, 1)
}

func port(e *netlink.AttributeEncoder) {
	e.String(attrDevName, "mlx5_0")
	e.Uint32(attrPortIndex, 1)
	e.Uint8(attrPortState, 4)
	e.Uint8(attrPortPhysState, 5)
	e.Uint32(attrLID, 31)
	e.String(attrNetdevName, "eth0")
}

func TestParse(t *testing.T) {
	d, err := parseDevice(encode(t, device))
	want := Device{Index: 3, Name: "mlx5_0", Ports: 2, FWVersion: "20.31.1014", NodeGUID: new(ib.GUID(0x0001020304050607)), NodeType: new(uint8(1)), Protocol: "ib"}
	if diff := cmp.Diff(want, d); diff != "" || err != nil {
		t.Errorf("device: got error %v, difference (-want +got):\n%s", err, diff)
	}
	smi, err := parseDevice(encode(t, func(e *netlink.AttributeEncoder) {
		e.String(attrDevName, "smi1")
		e.Uint8(attrDevType, 1)
		e.String(attrParentName, "mlx5_0")
	}))
	if diff := cmp.Diff(Device{Name: "smi1", SMI: true, Parent: "mlx5_0"}, smi); diff != "" || err != nil {
		t.Errorf("SMI device: got error %v, difference (-want +got):\n%s", err, diff)
	}
	p, err := parsePort(encode(t, port))
	wantPort := Port{Device: "mlx5_0", Number: 1, State: new(ib.PortActive), PhysState: new(ib.PhysLinkUp), LID: new(uint32(31)), Netdev: "eth0"}
	if diff := cmp.Diff(wantPort, p); diff != "" || err != nil {
		t.Errorf("port: got error %v, difference (-want +got):\n%s", err, diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(encode(f, device))
	f.Add(encode(f, port))
	f.Add(encode(f, srqs))
	f.Add(encode(f, counters))
	f.Add([]byte{5, 0, 1, 0, 9, 0, 0, 0})
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = parseDevice(b)
		_, _ = parsePort(b)
		_, _ = parseChardev(b)
		for _, k := range resourceKinds {
			_, _ = parseResources(b, k.table)
			_, _ = parseStatistics(b, k.table)
		}
		_, _ = parseStatistics(b, attrStatCounter)
	})
}
