package sysfs

import (
	"cmp"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// An IPoIB is a network device on an InfiniBand port.
type IPoIB struct {
	Name string // directory class/net/<Name>
	Port int    // port number: dev_port, which counts from 0, plus 1

	device  string // path of the PCI function or virtual device, which the RDMA device shares
	isChild bool   // of another network device: the interface of another partition
}

// IPoIBs returns the IPoIB network devices, for each port the device with the port's first
// P_Key before the devices of other partitions. It omits devices that cannot be read, for
// example because they are being removed.
func (fs FS) IPoIBs() []IPoIB {
	var unread []error
	class := fs.Dir(&unread, "class/net")
	var all []IPoIB
	for _, name := range class.Names() {
		dir := class.Sub(name)
		if kind := dir.Uint("type", 16); kind == nil || *kind != unix.ARPHRD_INFINIBAND {
			continue
		}
		device, err := filepath.EvalSymlinks(dir.Sub("device").Path())
		if err != nil {
			continue
		}
		n := IPoIB{Name: name, Port: 1, device: device, isChild: dir.Text("parent") != nil}
		// Older kernels count the ports in dev_id, and dev_port is 0 or absent.
		for _, number := range []*uint64{dir.Uint("dev_port", 16), dir.Uint("dev_id", 16)} {
			if number != nil {
				n.Port = max(n.Port, int(*number)+1)
			}
		}
		all = append(all, n)
	}
	slices.SortStableFunc(all, func(a, b IPoIB) int {
		if a.isChild != b.isChild {
			return map[bool]int{false: -1, true: 1}[a.isChild]
		}
		return cmp.Compare(len(a.Name), len(b.Name))
	})
	return all
}

// IPoIB returns the network device of an RDMA device's port; "" without one.
func (fs FS) IPoIB(all []IPoIB, device string, port int) string {
	path, err := filepath.EvalSymlinks(fs.path(infiniband, device, "device"))
	i := slices.IndexFunc(all, func(n IPoIB) bool { return n.Port == port && n.device == path })
	if err != nil || i < 0 {
		return ""
	}
	return all[i].Name
}
