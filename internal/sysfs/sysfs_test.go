package sysfs

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

func tree(t testing.TB, files map[string]string) FS {
	t.Helper()
	return FS(testenv.WriteTree(t, files))
}

// mlx5 contains the files for a device with a single port.
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
	port, err := fs.Port("mlx5_0", 1)
	want := Port{"mlx5_0", 1, "InfiniBand", 4, 5, 0x1f, 0, 2, 0, 0, 0xfe80 << 48, 0xb8599f030001e2d4}
	if err != nil || port != want {
		t.Errorf("got %+v, %v, want %+v", port, err, want)
	}
	nodes, err := fs.MADNodes()
	if err != nil || len(nodes) != 1 || nodes[0] != (MADNode{"umad0", "mlx5_0", 1}) {
		t.Errorf("got %+v, %v, want umad0 of mlx5_0 port 1", nodes, err)
	}
	if v, err := fs.MADABIVersion(); v != 5 || err != nil {
		t.Errorf("got ABI version %d, %v, want 5", v, err)
	}
}

func TestMissing(t *testing.T) {
	fs := FS(t.TempDir())
	if _, err := fs.MADNodes(); !os.IsNotExist(err) {
		t.Errorf("no class: got error %v, want one that the file does not exist", err)
	}
	if _, err := fs.Device("mlx5_0"); !os.IsNotExist(err) {
		t.Errorf("no device: got error %v, want one that the file does not exist", err)
	}
	if _, err := fs.Port("mlx5_0", 1); !os.IsNotExist(errors.Unwrap(err)) {
		t.Errorf("no port: got error %v, want one that the file does not exist", err)
	}
}

// TestOptional reads a device without the files that old kernels do not provide, and a
// port without a GID.
func TestOptional(t *testing.T) {
	files := maps.Clone(mlx5)
	delete(files, "class/infiniband/mlx5_0/node_guid")
	delete(files, "class/infiniband/mlx5_0/ports/1/link_layer")
	delete(files, "class/infiniband/mlx5_0/ports/1/gids/0")
	fs := tree(t, files)
	if d, err := fs.Device("mlx5_0"); err != nil || d.NodeGUID != 0 {
		t.Errorf("got %+v, %v, want a node GUID of 0", d, err)
	}
	if p, err := fs.Port("mlx5_0", 1); err != nil || p.LinkLayer != "InfiniBand" || p.GIDPrefix != 0 || p.GUID != 0 {
		t.Errorf("got %+v, %v, want InfiniBand without a GID", p, err)
	}
}

func TestMADNodes(t *testing.T) {
	files := maps.Clone(mlx5)
	files["class/infiniband_mad/umad10/ibdev"] = "mlx5_2"
	files["class/infiniband_mad/umad10/port"] = "2"
	files["class/infiniband_mad/umad9/ibdev"] = "mlx5_1" // the file port has been removed
	nodes, err := tree(t, files).MADNodes()
	if want := []MADNode{{"umad0", "mlx5_0", 1}, {"umad10", "mlx5_2", 2}}; err != nil || !slices.Equal(nodes, want) {
		t.Errorf("got %+v, %v, want %+v", nodes, err, want)
	}
	files["class/infiniband_mad/umad9/port"] = "256"
	if again, err := tree(t, files).MADNodes(); err != nil || !slices.Equal(again, nodes) {
		t.Errorf("port 256: got %+v, %v, want the other nodes", again, err)
	}
	for _, name := range []string{"umad0", "umad10"} {
		files["class/infiniband_mad/"+name+"/port"] = ""
	}
	if nodes, err := tree(t, files).MADNodes(); err == nil || !strings.Contains(err.Error(), "umad9/port") {
		t.Errorf("no readable node: got %+v, %v, want errors", nodes, err)
	}
}

func TestInvalidValues(t *testing.T) {
	for file, text := range map[string]string{
		"lid":    "0x10000",
		"state":  "ACTIVE",
		"sm_lid": "",
		"gids/0": "fe80::1",
	} {
		files := maps.Clone(mlx5)
		files["class/infiniband/mlx5_0/ports/1/"+file] = text
		if port, err := tree(t, files).Port("mlx5_0", 1); err == nil {
			t.Errorf("%s = %q: got %+v, want an error", file, text, port)
		}
	}
	files := maps.Clone(mlx5)
	files["class/infiniband/mlx5_0/node_guid"] = "b859:9f03:0001"
	if d, err := tree(t, files).Device("mlx5_0"); err == nil {
		t.Errorf("short GUID: got %+v, want an error", d)
	}
}

func FuzzParseUint(f *testing.F) {
	f.Add("4: ACTIVE", 8)
	f.Add("0x1f", 16)
	f.Add("0x10000", 16)
	f.Fuzz(func(t *testing.T, s string, bits int) {
		bits = 1 + bits&63
		n, err := parseUint(s, bits)
		if err == nil && n>>(bits-1)>>1 != 0 {
			t.Errorf("%q: got %d, which has more than %d bits", s, n, bits)
		}
	})
}

func FuzzHexGroups(f *testing.F) {
	f.Add("b859:9f03:0001:e2d4", 4)
	f.Add("fe80:0000:0000:0000:b859:9f03:0001:e2d4", 8)
	f.Add(":::", 4)
	f.Fuzz(func(t *testing.T, s string, groups int) {
		b, err := hexGroups(s, groups)
		if err == nil && (len(b) != 2*groups || len(s) != 5*groups-1) {
			t.Errorf("%q: got %d bytes for %d groups", s, len(b), groups)
		}
	})
}
