package sysfs

import (
	"os"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

func tree(t testing.TB, files map[string]string) FS {
	t.Helper()
	return FS(testenv.WriteTree(t, files))
}

// mlx5 is a port as kernels show it.
var mlx5 = map[string]string{
	"class/infiniband/mlx5_0/node_type":              "1: CA",
	"class/infiniband/mlx5_0/node_guid":              "b859:9f03:0001:e2d4",
	"class/infiniband/mlx5_0/ports/1/state":          "4: ACTIVE",
	"class/infiniband/mlx5_0/ports/1/phys_state":     "5: LinkUp",
	"class/infiniband/mlx5_0/ports/1/lid":            "0x1f",
	"class/infiniband/mlx5_0/ports/1/lid_mask_count": "0",
	"class/infiniband/mlx5_0/ports/1/sm_lid":         "0x2",
	"class/infiniband/mlx5_0/ports/1/sm_sl":          "0",
	"class/infiniband/mlx5_0/ports/1/link_layer":     "InfiniBand",
	"class/infiniband/mlx5_0/ports/1/gids/0":         "fe80:0000:0000:0000:b859:9f03:0001:e2d4",
	"class/infiniband_mad/abi_version":               "5",
	"class/infiniband_mad/umad0/ibdev":               "mlx5_0",
	"class/infiniband_mad/umad0/port":                "1",
	"class/infiniband_mad/issm0/ibdev":               "mlx5_0",
}

func TestDevice(t *testing.T) {
	fs := tree(t, mlx5)
	d, err := fs.Device("mlx5_0")
	if want := (Device{"mlx5_0", 1, 0xb8599f030001e2d4}); err != nil || d != want {
		t.Errorf("got %+v, %v, want %+v", d, err, want)
	}
	ports, err := fs.Ports("mlx5_0")
	want := Port{"mlx5_0", 1, "InfiniBand", 4, 5, 0x1f, 0, 2, 0, 0xfe80 << 48, 0xb8599f030001e2d4}
	if err != nil || len(ports) != 1 || ports[0] != want {
		t.Errorf("got %+v, %v, want %+v", ports, err, want)
	}
	nodes, err := fs.MADNodes()
	if err != nil || len(nodes) != 1 || nodes[0] != (MADNode{"umad0", "mlx5_0", 1}) {
		t.Errorf("got %+v, %v", nodes, err)
	}
	if v, err := fs.MADABIVersion(); v != 5 || err != nil {
		t.Errorf("ABI version %d, %v", v, err)
	}
}

func TestMissing(t *testing.T) {
	fs := FS(t.TempDir())
	if _, err := fs.MADNodes(); !os.IsNotExist(err) {
		t.Errorf("no class: %v", err)
	}
	if _, err := fs.Device("mlx5_0"); !os.IsNotExist(err) {
		t.Errorf("no device: %v", err)
	}
}

func TestWrongValues(t *testing.T) {
	for file, text := range map[string]string{
		"class/infiniband/mlx5_0/ports/1/lid":     "0x10000",
		"class/infiniband/mlx5_0/ports/1/state":   "ACTIVE",
		"class/infiniband/mlx5_0/ports/1/sm_lid":  "",
		"class/infiniband/mlx5_0/ports/1/gids/0":  "fe80::1",
		"class/infiniband/mlx5_0/ports/999/state": "4",
	} {
		files := map[string]string{}
		for k, v := range mlx5 {
			files[k] = v
		}
		files[file] = text
		if ports, err := tree(t, files).Ports("mlx5_0"); err == nil {
			t.Errorf("%s = %q: no error, %+v", file, text, ports)
		}
	}
}

func FuzzHexGroups(f *testing.F) {
	f.Add("b859:9f03:0001:e2d4", 4)
	f.Add("fe80:0000:0000:0000:b859:9f03:0001:e2d4", 8)
	f.Add(":::", 4)
	f.Fuzz(func(t *testing.T, s string, groups int) {
		b, err := hexGroups(s, groups)
		if err == nil && len(b) != 2*groups {
			t.Errorf("%q: %d bytes for %d groups", s, len(b), groups)
		}
	})
}
