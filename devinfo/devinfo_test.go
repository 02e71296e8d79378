package devinfo

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// TestRun_IPoIB finds the network devices of InfiniBand ports, which have no GID attributes.
func TestRun_IPoIB(t *testing.T) {
	const device, port = "class/infiniband/mlx4_0/", "class/infiniband/mlx4_0/ports/"
	r, err := Run(t.Context(), Options{Sysfs: testenv.WriteTree(t, map[string]string{
		"devices/0000:01:00.0/vendor":                           "0x15b3",
		device + "device -> ../../../devices/0000:01:00.0":      "",
		device + "node_type":                                    "1: CA",
		port + "1/link_layer":                                   "InfiniBand",
		port + "2/link_layer":                                   "Ethernet",
		"class/net/ib0/type":                                    "32",
		"class/net/ib0/mtu":                                     "2044",
		"class/net/ib0/dev_port":                                "0",
		"class/net/ib0/device -> ../../../devices/0000:01:00.0": "",
		"class/net/ib1/type":                                    "32", // left over from a change of the link layer
		"class/net/ib1/dev_port":                                "1",
		"class/net/ib1/device -> ../../../devices/0000:01:00.0": "",
	})})
	if err != nil || len(r.Problems) != 0 {
		t.Fatalf("got problems %v, error %v", r.Problems, err)
	}
	ports := r.Devices[0].Ports
	if p := ports[0]; p.Netdev == nil || *p.Netdev != "ib0" || p.NetdevMTU == nil || *p.NetdevMTU != 2044 {
		t.Errorf("port 1: got network device %s, want ib0", deref(p.Netdev))
	}
	if p := ports[1]; p.Netdev != nil {
		t.Errorf("port 2: got network device %s, want none", *p.Netdev)
	}
}

// TestRun_Order checks that devices are sorted by the number of their uverbs node.
func TestRun_Order(t *testing.T) {
	const devices = 64
	files := map[string]string{}
	for i := range devices {
		name := fmt.Sprintf("dev%d", devices-i)
		files["class/infiniband/"+name+"/node_type"] = "1: CA"
		files["class/infiniband/"+name+"/ports/1/state"] = "4: ACTIVE"
		files[fmt.Sprintf("class/infiniband_verbs/uverbs%d/ibdev", i)] = name
	}
	o := Options{Sysfs: testenv.WriteTree(t, files)}
	r, err := Run(t.Context(), o)
	if err != nil || len(r.Devices) != devices || len(r.Problems) != 0 {
		t.Fatalf("got %d devices, problems %v, error %v, want %d devices", len(r.Devices), r.Problems, err, devices)
	}
	for i, d := range r.Devices {
		if want := fmt.Sprintf("dev%d", devices-i); d.Name != want || *d.UVerbs != fmt.Sprintf("uverbs%d", i) {
			t.Errorf("device %d: got %s at %s, want %s at uverbs%d", i, d.Name, *d.UVerbs, want, i)
		}
	}
	// Names omits devices without a node.
	o.Dev = testenv.WriteTree(t, map[string]string{"uverbs7": "", "uverbs9": ""})
	if got, want := Names(o), []string{"dev57", "dev55"}; !slices.Equal(got, want) {
		t.Errorf("got names %v, want %v", got, want)
	}
	o.Device = "nosuch"
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrNoDevice) {
		t.Errorf("got error %v, want %v", err, ErrNoDevice)
	}
}
