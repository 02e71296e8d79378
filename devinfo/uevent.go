package devinfo

import (
	"bytes"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// A uevent is a message of the kernel about an object in sysfs
// (lib/kobject_uevent.c): "ACTION@DEVPATH" followed by KEY=VALUE fields, each
// terminated by NUL.
type uevent struct {
	action    string // "add", "remove"
	subsystem string // "infiniband"
	name      string // last element of DEVPATH
}

// parseUevent parses a message. The result for an invalid message has no action.
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

// listen opens a socket for the kernel's uevents. NETLINK_RDMA also reports added and
// removed devices, but only since Linux 6.12.
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
