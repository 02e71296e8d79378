package verbs

import (
	"github.com/ibkit/ibkit/internal/sysfs"
)

// NUMANode returns the NUMA node that the device is attached to, or nil if the
// kernel reports none, as for software devices.
func (c *Context) NUMANode() *int { return numaNode(sysfs.Default, c.name) }

// numaNode reads the parent device's numa_node. The file contains -1 if there is no
// node (Documentation/ABI/testing/sysfs-bus-pci).
func numaNode(fs sysfs.FS, device string) *int {
	var problems []error // ignored: without the file, there is no node
	node := fs.Dir(&problems, "class/infiniband", device, "device").Int("numa_node")
	if node == nil || *node < 0 {
		return nil
	}
	return node
}
