package device_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// Lists the ports on a host. The zero Host is the program's host; this Host is a copy of
// sysfs files.
func ExampleHost_Ports() {
	root, err := os.MkdirTemp("", "sysfs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	for name, text := range map[string]string{
		"class/infiniband_mad/umad0/ibdev":               "mlx5_0",
		"class/infiniband_mad/umad0/port":                "1",
		"class/infiniband/mlx5_0/node_type":              "1: CA",
		"class/infiniband/mlx5_0/ports/1/state":          "4: ACTIVE",
		"class/infiniband/mlx5_0/ports/1/phys_state":     "5: LinkUp",
		"class/infiniband/mlx5_0/ports/1/lid":            "0x7",
		"class/infiniband/mlx5_0/ports/1/lid_mask_count": "0",
		"class/infiniband/mlx5_0/ports/1/sm_lid":         "0x1",
		"class/infiniband/mlx5_0/ports/1/sm_sl":          "0",
		"class/infiniband/mlx5_0/ports/1/link_layer":     "InfiniBand",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	ports, err := device.Host{Sysfs: root}.Ports()
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range ports {
		fmt.Printf("%s: %v, LID %d\n", p.Node, p, p.Attr.LID)
	}
	// Output: umad0: mlx5_0/1 (InfiniBand, Active, LinkUp), LID 7
}

// Opens the default port and reads the local node's NodeInfo. On a host without an
// InfiniBand port, Open returns a NoPortError.
func ExampleOpen() {
	port, err := device.Open(device.Options{})
	var none *device.NoPortError
	if errors.As(err, &none) || errors.Is(err, fs.ErrPermission) {
		fmt.Println("no port, or no permission")
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()
	var node mad.NodeInfo
	if err := umad.NewClient(port, umad.ClientOptions{}).Get(context.Background(), umad.Target{Route: mad.Local}, &node); err != nil {
		log.Fatal(err)
	}
	fmt.Println(node.NodeType, node.NodeGUID)
}
