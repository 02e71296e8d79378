package sysfs

import (
	"fmt"
	"maps"
	"testing"
)

// ipoib adds a network device to files. parent is "" unless the device is the interface of
// another partition.
func ipoib(files map[string]string, name, pci, devID, devPort, parent string) {
	dir := "class/net/" + name + "/"
	maps.Copy(files, map[string]string{
		dir + "type": "32", dir + "dev_id": devID, dir + "mtu": "2044",
		dir + "device -> ../../../devices/" + pci: "",
	})
	if devPort != "" {
		files[dir+"dev_port"] = devPort
	}
	if parent != "" {
		files[dir+"parent"] = parent
	}
}

// TestFS_IPoIB finds the network devices of a dual-port adapter, in the other order of their
// names than of the ports, and of a second adapter.
func TestFS_IPoIB(t *testing.T) {
	files := map[string]string{
		"devices/0000:01:00.0/vendor": "0x15b3", "devices/0000:02:00.0/vendor": "0x15b3",
		"class/infiniband/mlx4_0/device -> ../../../devices/0000:01:00.0": "",
		"class/infiniband/mlx5_0/device -> ../../../devices/0000:02:00.0": "",
		"class/infiniband/rxe0/node_type":                                 "1: CA",
		"class/net/eth0/type":                                             "1",
		"class/net/eth0/device -> ../../../devices/0000:01:00.0":          "",
		"class/net/bonding_masters":                                       "",
		"class/net/gone/type":                                             "32",
	}
	ipoib(files, "ib0", "0000:01:00.0", "0x1", "1", "")
	ipoib(files, "ib1", "0000:01:00.0", "0x0", "0", "")
	ipoib(files, "ib0.8001", "0000:01:00.0", "0x1", "1", "")
	ipoib(files, "a", "0000:01:00.0", "0x0", "0", "ib1")
	ipoib(files, "ibp2s0", "0000:02:00.0", "0x1", "", "") // an old kernel
	fs := tree(t, files)
	all := fs.IPoIBs()
	for _, test := range []struct {
		device string
		port   int
		want   string
	}{
		{"mlx4_0", 1, "ib1"}, {"mlx4_0", 2, "ib0"}, {"mlx4_0", 3, ""},
		{"mlx5_0", 1, ""}, {"mlx5_0", 2, "ibp2s0"},
		{"rxe0", 1, ""}, {"nosuch", 1, ""},
	} {
		t.Run(fmt.Sprintf("%s/%d", test.device, test.port), func(t *testing.T) {
			if got := fs.IPoIB(all, test.device, test.port); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
