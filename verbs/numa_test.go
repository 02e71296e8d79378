package verbs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ibkit/ibkit/internal/sysfs"
)

func TestNUMANode(t *testing.T) {
	root := t.TempDir()
	for device, text := range map[string]string{"near": "1\n", "nowhere": "-1\n", "odd": "x\n"} {
		dir := filepath.Join(root, "class/infiniband", device, "device")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "numa_node"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if node := numaNode(sysfs.FS(root), "near"); node == nil || *node != 1 {
		t.Errorf("got node %v, want 1", node)
	}
	for _, device := range []string{"nowhere", "odd", "none"} {
		if node := numaNode(sysfs.FS(root), device); node != nil {
			t.Errorf("%s: got node %d, want nil", device, *node)
		}
	}
}
