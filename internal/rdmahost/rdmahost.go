// Package rdmahost lists a host's RDMA devices.
package rdmahost

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ibkit/ibkit/internal/rdmanl"
	"github.com/ibkit/ibkit/internal/sysfs"
)

// A Device is a device with its device node's name.
type Device struct {
	Name   string
	UVerbs string // "uverbs0"; "" without a node or if Query.UVerbs is false

	// From NETLINK_RDMA, else nil.
	Netlink  *rdmanl.Device
	Ports    []rdmanl.Port
	DriverID *uint64 // enum rdma_driver_id
}

// A Query selects the sources for a list.
type Query struct {
	Sysfs   sysfs.FS
	Netlink bool // query NETLINK_RDMA, which describes the running kernel only
	UVerbs  bool // find the uverbs nodes
	Ports   bool // query the ports over NETLINK_RDMA
}

// A Problem is a source that could not be read.
type Problem struct {
	Device string // "" if it concerns all devices
	Err    error
}

// Devices lists the devices in libibverbs order: NETLINK_RDMA devices by index, then
// devices that only sysfs knows, by node number.
func (q Query) Devices() ([]Device, []Problem) {
	var devices []Device
	var problems []Problem
	if q.Netlink {
		devices, problems = q.fromNetlink()
	}
	var unread []error
	nodes := map[string]string{}
	if q.UVerbs {
		class := q.Sysfs.Dir(&unread, "class/infiniband_verbs")
		for _, node := range class.Names() {
			if device := class.Sub(node).Text("ibdev"); device != nil {
				nodes[*device] = node
			}
		}
	}
	known := map[string]bool{}
	for i := range devices {
		d := &devices[i]
		known[d.Name] = true
		d.UVerbs = cmp.Or(d.UVerbs, nodes[d.Name])
	}
	var rest []Device
	for _, name := range q.Sysfs.Dir(&unread, "class/infiniband").Names() {
		if !known[name] {
			rest = append(rest, Device{Name: name, UVerbs: nodes[name]})
		}
	}
	slices.SortFunc(rest, func(a, b Device) int {
		return cmp.Or(cmp.Compare(nodeNumber(a.UVerbs), nodeNumber(b.UVerbs)), cmp.Compare(a.Name, b.Name))
	})
	for _, err := range unread {
		problems = append(problems, Problem{Err: err})
	}
	return append(devices, rest...), problems
}

// nodeNumber returns a uverbs node's number. Names without a number sort last.
func nodeNumber(name string) int {
	var n int
	if _, err := fmt.Sscanf(name, "uverbs%d", &n); err != nil {
		return 1 << 30
	}
	return n
}

func (q Query) fromNetlink() (devices []Device, problems []Problem) {
	c, err := rdmanl.Dial()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []Problem{{Err: err}}
	}
	defer c.Close()
	all, err := c.Devices()
	if err != nil {
		problems = append(problems, Problem{Err: err})
	}
	for i := range all {
		d := Device{Name: all[i].Name, Netlink: &all[i]}
		if q.UVerbs {
			if node, err := c.UVerbs(all[i].Index); err == nil {
				d.UVerbs, d.DriverID = node.Name, node.DriverID
			}
		}
		if q.Ports {
			if d.Ports, err = c.Ports(all[i].Index); err != nil {
				problems = append(problems, Problem{Device: d.Name, Err: err})
			}
		}
		devices = append(devices, d)
	}
	return devices, problems
}
