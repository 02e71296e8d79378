package verbs

import (
	"fmt"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/verbs/dmamem"
)

// NUMANode returns the node that the device is plugged in at: memory and CPUs of
// it are nearest. It is nil where the kernel says none, as of a device of software.
func (c *Context) NUMANode() *int { return numaNode(sysfs.Default, c.name) }

// numaNode reads numa_node of the device's parent, which is -1 for none
// (Documentation/ABI/testing/sysfs-bus-pci).
func numaNode(fs sysfs.FS, device string) *int {
	var problems []error // all mean that there is none
	node := fs.Dir(&problems, "class/infiniband", device, "device").Int("numa_node")
	if node == nil || *node < 0 {
		return nil
	}
	return node
}

// NewMemory maps memory near the device, for RegisterMR: at least one byte. With
// huge it is of pages that the administrator set aside (vm.nr_hugepages).
func (c *Context) NewMemory(length int, huge bool) (*dmamem.Memory, error) {
	m, err := dmamem.New(length, dmamem.Options{Huge: huge, Node: c.NUMANode()})
	if err != nil {
		return nil, fmt.Errorf("get memory for %s: %w", c.name, err)
	}
	return m, nil
}
