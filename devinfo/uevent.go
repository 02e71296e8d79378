package devinfo

import (
	"bytes"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// A uevent is a message of the kernel's about an object of sysfs
// (lib/kobject_uevent.c): "ACTION@DEVPATH", then KEY=VALUE, each ended by a NUL.
type uevent struct {
	action    string // "add", "remove"
	subsystem string // "infiniband"
	name      string // the last part of DEVPATH
}

// parseUevent reads a message. One that is none has no action.
func parseUevent(b []byte) uevent {
	var u uevent
	for i, field := range bytes.Split(b, []byte{0}) {
		key, value, ok := bytes.Cut(field, []byte("="))
		if i == 0 || !ok {
			continue
		}
		switch string(key) {
		case "ACTION":
			u.action = string(value)
		case "SUBSYSTEM":
			u.subsystem = string(value)
		case "DEVPATH":
			u.name = path.Base(string(value))
		}
	}
	return u
}

// listen opens a socket for the kernel's uevents. NETLINK_RDMA tells of devices
// that come and go only since Linux 6.12, uevents always have.
func listen() (*os.File, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return nil, fmt.Errorf("open socket for uevents: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1}); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("listen for uevents: %w", err)
	}
	return os.NewFile(uintptr(fd), "uevents"), nil
}
