package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/textfile"
)

// A node is a device node that should exist, because the kernel has its device.
type node struct {
	name   string // below /dev/infiniband
	number string // major:minor in sysfs
	kind   nodeKind
}

// A nodeKind describes a device node's purpose and the access to it.
type nodeKind struct {
	prefix  string
	class   string  // below sys/class
	mode    string  // set by the kernel or by the ibkit package's udev rule
	missing Verdict // if the node does not exist
	closed  Verdict // if the user has no access
	why     string
	rule    string // udev rule
}

var nodeKinds = []nodeKind{
	{
		"uverbs", "infiniband_verbs", "0666", Error, Error,
		whyUverbs,
		`SUBSYSTEM=="infiniband_verbs", KERNEL=="uverbs*", MODE="0666"`,
	},
	{
		"umad", "infiniband_mad", "0660", Error, Warning,
		"management datagrams need it: no ping, no linkinfo, no queries to the subnet manager",
		`SUBSYSTEM=="infiniband_mad", KERNEL=="umad*", GROUP="rdma", MODE="0660"`,
	},
	{
		// Opening the node announces a subnet manager on the port.
		"issm", "infiniband_mad", "0600", Note, OK,
		"only a subnet manager on this host needs it",
		`SUBSYSTEM=="infiniband_mad", KERNEL=="issm*", MODE="0600"`,
	},
	{
		"rdma_cm", "misc", "0666", Warning, Warning,
		whyRDMAUCM,
		`SUBSYSTEM=="misc", KERNEL=="rdma_cm", MODE="0666"`,
	},
}

var (
	nodeName   = lazyregexp.New(`^(uverbs|umad|issm)[0-9]+$|^rdma_cm$`)
	nodeNumber = lazyregexp.New(`^[0-9]+:[0-9]+$`)
)

func (h *host) nodes() []node {
	var nodes []node
	for _, k := range nodeKinds {
		for _, name := range h.names("sys/class/" + k.class) {
			// Names become part of shell commands.
			if !nodeName.MatchString(name) || !strings.HasPrefix(name, k.prefix) {
				continue
			}
			number, err := h.text("sys/class/" + k.class + "/" + name + "/dev")
			if err != nil || !nodeNumber.MatchString(number) {
				number = ""
			}
			nodes = append(nodes, node{name, number, k})
		}
	}
	return nodes
}

func checkNodes(_ context.Context, h *host) []Item {
	var items []Item
	for _, n := range h.nodes() {
		items = append(items, h.checkNode(n))
	}
	switch {
	case len(h.devices.Devices) == 0:
		items = append(items, h.noDevice())
	case items == nil:
		return skipped("no RDMA device has a device node")
	}
	return items
}

func (h *host) checkNode(n node) Item {
	path := "/dev/infiniband/" + n.name
	info, err := os.Stat(h.path(path))
	if errors.Is(err, fs.ErrNotExist) {
		i := Item{Subject: path, Verdict: n.kind.missing, Found: "missing", Why: n.kind.why}
		h.recreate(&i, n, "mkdir -p /dev/infiniband")
		return i
	}
	if err != nil {
		return unreadable(path, err)
	}
	if number := deviceNumber(info); number != "" && n.number != "" && number != n.number {
		i := Item{Subject: path, Verdict: n.kind.missing, Found: fmt.Sprintf("wrong device number %s, the kernel uses %s", number, n.number), Why: n.kind.why}
		h.recreate(&i, n, "rm "+path)
		return i
	}
	o := h.ownership(info)
	switch err := h.tryOpen(path, o, n.kind); {
	case err == nil:
		return good(path, "accessible")
	case !errors.Is(err, fs.ErrPermission):
		return Item{
			Subject: path, Verdict: n.kind.closed, Found: fmt.Sprintf("cannot be opened: %v", err), Why: n.kind.why,
			Hint: "read the messages of the driver: dmesg | tail",
		}
	case n.kind.closed == OK:
		return good(path, "not accessible to you, as intended")
	case errors.Is(err, unix.EPERM):
		return Item{
			Subject: path, Verdict: n.kind.closed, Found: "access denied to this container or service", Why: n.kind.why,
			Hint: "start the container with --device=" + path + ", or set DeviceAllow=" + path + " rw in the unit of the service",
		}
	case h.user.mayUse(o): // access failed although the mode permits it
		return Item{
			Subject: path, Verdict: n.kind.closed, Found: fmt.Sprintf("access denied although the mode permits it: %v", o), Why: n.kind.why,
			Hint: "SELinux, AppArmor or an access control list denies it; check: getfacl " + path + "; journalctl -k | grep -i denied",
		}
	default:
		i := Item{Subject: path, Verdict: n.kind.closed, Found: fmt.Sprintf("permission denied: %v", o), Why: n.kind.why}
		h.grantAccess(&i, n, o)
		return i
	}
}

// recreate adds the commands that create a node that is missing or has the wrong
// device number. The kernel creates nodes when a device appears; udev does not.
func (h *host) recreate(i *Item, n node, first string) {
	switch {
	case h.isContainer():
		i.Hint = "start the container with --device=" + i.Subject
	case n.number == "":
		i.Hint = "reload the driver of the device"
	default:
		i.Fix = []string{first, fmt.Sprintf("mknod -m %s %s c %s", n.kind.mode, i.Subject, strings.Replace(n.number, ":", " ", 1))}
		i.Hint = "the kernel creates the node at boot; if it does not, check that /dev is a devtmpfs"
	}
}

// grantAccess adds the commands that give the user access to a node.
func (h *host) grantAccess(i *Item, n node, o ownership) {
	rule := fmt.Sprintf("echo '%s' >>/etc/udev/rules.d/90-rdma.rules", n.kind.rule)
	if n.kind.mode == "0666" {
		i.Fix, i.Persist = []string{"chmod 0666 " + i.Subject}, []string{rule}
		return
	}
	group := o.group
	if o.mode&0o060 != 0o060 || o.gid == 0 {
		group = "rdma"
		if !h.hasGroup(group) {
			i.Fix = []string{"groupadd -r " + group}
		}
		i.Fix = append(i.Fix, "chgrp "+textfile.ShellWord(group)+" "+i.Subject, "chmod "+n.kind.mode+" "+i.Subject)
		i.Persist = []string{rule}
	}
	i.Fix = append(i.Fix, fmt.Sprintf("usermod -aG %s %s", textfile.ShellWord(group), textfile.ShellWord(h.user.name)))
	i.Hint = "then log in again; users with access can send any management datagram, including requests that change the subnet"
}

// tryOpen checks the access to a node by opening it for reading and writing. For issm
// nodes, where opening has a side effect, and for another host's files, it checks the mode
// instead.
func (h *host) tryOpen(path string, o ownership, k nodeKind) error {
	if !h.live || k.prefix == "issm" {
		if !h.user.mayUse(o) {
			return fs.ErrPermission
		}
		return nil
	}
	fd, err := unix.Open(h.path(path), unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// deviceNumber returns a node's device number; "" if it is not a character device.
func deviceNumber(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&fs.ModeCharDevice == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%d", unix.Major(s.Rdev), unix.Minor(s.Rdev))
}
