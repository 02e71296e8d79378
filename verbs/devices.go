package verbs

import (
	"cmp"
	"errors"
	"path/filepath"

	"github.com/ibkit/ibkit/internal/rdmahost"
	"github.com/ibkit/ibkit/internal/sysfs"
)

// A Host selects the directories that [Host.Devices] reads. The zero value is this
// host.
type Host struct {
	// Sysfs is the sysfs root (default /sys). Any other root, such as a copy from another host's
	// files, is the only source: netlink describes the
	// running kernel.
	Sysfs string

	// Dev is the device node directory (default /dev/infiniband).
	Dev string
}

// Devices lists this host's RDMA devices that have a uverbs node, in libibverbs
// order. See [Host.Devices].
func Devices() ([]Device, error) { return Host{}.Devices() }

// Devices lists the RDMA devices that have a uverbs node, in libibverbs
// order: by the kernel's index. A host without RDMA has none, which is not an
// error. If a source cannot be read, Devices returns the devices that it could
// find together with the error.
//
// Devices opens no device: opening may still fail, for instance for lack of
// permission. The name, path and, if the kernel reports it, the driver of each
// Device are set.
func (h Host) Devices() ([]Device, error) {
	root := cmp.Or(sysfs.FS(h.Sysfs), sysfs.Default)
	dev := cmp.Or(h.Dev, "/dev/infiniband")
	all, problems := rdmahost.Query{Sysfs: root, Netlink: root == sysfs.Default, UVerbs: true}.Devices()
	var devices []Device
	for _, d := range all {
		if d.UVerbs == "" {
			continue
		}
		device := Device{Name: d.Name, Path: filepath.Join(dev, d.UVerbs)}
		if d.DriverID != nil {
			device.Driver = DriverID(*d.DriverID)
		}
		devices = append(devices, device)
	}
	var errs []error
	for _, p := range problems {
		errs = append(errs, p.Err)
	}
	return devices, errors.Join(errs...)
}
