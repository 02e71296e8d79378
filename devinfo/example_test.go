package devinfo_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ibkit/ibkit/devinfo"
)

// Lists the devices of a host and the problems with them. The zero Options are the program's
// host; this one is a copy of sysfs files, whose port no subnet manager has configured.
func ExampleRun() {
	root, err := os.MkdirTemp("", "sysfs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	for name, text := range map[string]string{
		"node_type":          "1: CA",
		"fw_ver":             "20.35.1012",
		"ports/1/state":      "2: INIT",
		"ports/1/phys_state": "5: LinkUp",
		"ports/1/link_layer": "InfiniBand",
		"ports/1/rate":       "100 Gb/sec (4X EDR)",
	} {
		path := filepath.Join(root, "class/infiniband/mlx5_0", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	r, err := devinfo.Run(context.Background(), devinfo.Options{Sysfs: root})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range r.Devices {
		fmt.Printf("%s, firmware %s: %s\n", d.Name, *d.Firmware, *d.Ports[0].Rate)
	}
	for _, f := range r.Findings {
		fmt.Println(f)
	}
	// Output:
	// mlx5_0, firmware 20.35.1012: 100 Gb/sec (4X EDR)
	// warning: port-down mlx5_0/1: port is not active
	// warning: no-umad: no device node for management datagrams
}
