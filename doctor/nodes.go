package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A node is a device node that the kernel has a device for.
type node struct {
	name   string // below /dev/infiniband
	number string // major:minor, as sysfs tells it
	kind   nodeKind
}

// A nodeKind is what nodes of one kind are for, and who may use them.
type nodeKind struct {
	prefix  string
	class   string  // below sys/class
	mode    string  // that the kernel, or the udev rule of our package, gives
	missing Verdict // where there is none
	closed  Verdict // where it is not for this user
	why     string
	rule    string // of udev
}

var nodeKinds = []nodeKind{
	{
		"uverbs", "infiniband_verbs", "0666", Error, Error,
		"programs reach the device by it: no verbs, no MPI, no NCCL",
		`SUBSYSTEM=="infiniband_verbs", KERNEL=="uverbs*", MODE="0666"`,
	},
	{
		"umad", "infiniband_mad", "0660", Error, Warning,
		"management datagrams go by it: no ping, no linkinfo, no look at the subnet manager",
		`SUBSYSTEM=="infiniband_mad", KERNEL=="umad*", GROUP="rdma", MODE="0660"`,
	},
	{
		// Opening one says that a subnet manager runs on the port.
		"issm", "infiniband_mad", "0600", Note, OK,
		"a subnet manager on this host needs it; others do not",
		`SUBSYSTEM=="infiniband_mad", KERNEL=="issm*", MODE="0600"`,
	},
	{
		"rdma_cm", "misc", "0666", Warning, Warning,
		"programs make connections by IP address by it: rping, perftest -R, UCX",
		`SUBSYSTEM=="misc", KERNEL=="rdma_cm", MODE="0666"`,
	},
}

var (
	nodeName   = regexp.MustCompile(`^(uverbs|umad|issm)[0-9]+$|^rdma_cm$`)
	nodeNumber = regexp.MustCompile(`^[0-9]+:[0-9]+$`)
)

func (h *host) nodes() []node {
	var nodes []node
	for _, k := range nodeKinds {
		for _, name := range h.names("sys/class/" + k.class) {
			// Names become parts of commands.
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
	nodes := h.nodes()
	if len(nodes) == 0 {
		return nothing("no RDMA device has a device node")
	}
	var items []Item
	for _, n := range nodes {
		items = append(items, h.checkNode(n))
	}
	return items
}

func (h *host) checkNode(n node) Item {
	path := "/dev/infiniband/" + n.name
	info, err := os.Stat(h.path(path))
	if errors.Is(err, fs.ErrNotExist) {
		i := Item{Subject: path, Verdict: n.kind.missing, Found: "missing", Why: n.kind.why}
		h.remake(&i, n, "mkdir -p /dev/infiniband")
		return i
	}
	if err != nil {
		return unread(path, err)
	}
	if number := deviceNumber(info); number != "" && n.number != "" && number != n.number {
		i := Item{Subject: path, Verdict: n.kind.missing, Found: fmt.Sprintf("is device %s, and the kernel has %s", number, n.number), Why: n.kind.why}
		h.remake(&i, n, "rm "+path)
		return i
	}
	o := h.ownership(info)
	switch err := h.tryOpen(path, o, n.kind); {
	case err == nil:
		return good(path, "open to you")
	case !errors.Is(err, fs.ErrPermission):
		return Item{
			Subject: path, Verdict: n.kind.closed, Found: fmt.Sprintf("cannot be opened: %v", err), Why: n.kind.why,
			Advice: "look at what the driver says: dmesg | tail",
		}
	case n.kind.closed == OK:
		return good(path, "not for you, which is as it should be")
	case errors.Is(err, unix.EPERM):
		return Item{
			Subject: path, Verdict: n.kind.closed, Found: "there, and forbidden to this container or service", Why: n.kind.why,
			Advice: "start the container with --device=" + path + ", a service with DeviceAllow=" + path + " rw",
		}
	case h.user.mayUse(o): // and yet it is not
		return Item{
			Subject: path, Verdict: n.kind.closed, Found: fmt.Sprintf("forbidden to you, and not by its mode: %v", o), Why: n.kind.why,
			Advice: "SELinux, AppArmor or an access list forbids it: getfacl " + path + ", journalctl -k | grep -i denied",
		}
	default:
		i := Item{Subject: path, Verdict: n.kind.closed, Found: fmt.Sprintf("closed to you: %v", o), Why: n.kind.why}
		h.letIn(&i, n, o)
		return i
	}
}

// remake says how to make a node that is missing or of another device: udev does
// not make nodes, the kernel does when a device appears.
func (h *host) remake(i *Item, n node, first string) {
	switch {
	case h.isContainer():
		i.Advice = "start the container with --device=" + i.Subject
	case n.number == "":
		i.Advice = "load the driver of the device again"
	default:
		i.Mend = []string{first, fmt.Sprintf("mknod -m %s %s c %s", n.kind.mode, i.Subject, strings.Replace(n.number, ":", " ", 1))}
		i.Advice = "after a restart the kernel makes it again; if not, is /dev a devtmpfs?"
	}
}

// letIn says how a user gets access to a node.
func (h *host) letIn(i *Item, n node, o ownership) {
	rule := fmt.Sprintf("echo '%s' >>/etc/udev/rules.d/90-rdma.rules", n.kind.rule)
	if n.kind.mode == "0666" {
		i.Mend, i.Keep = []string{"chmod 0666 " + i.Subject}, []string{rule}
		return
	}
	group := o.group
	if o.mode&0o060 != 0o060 || o.gid == 0 {
		group = "rdma"
		if !h.hasGroup(group) {
			i.Mend = []string{"groupadd -r " + group}
		}
		i.Mend = append(i.Mend, "chgrp "+quote(group)+" "+i.Subject, "chmod "+n.kind.mode+" "+i.Subject)
		i.Keep = []string{rule}
	}
	i.Mend = append(i.Mend, fmt.Sprintf("usermod -aG %s %s", quote(group), quote(h.user.name)))
	i.Advice = "then log in again. Who may send management datagrams administers the subnet"
}

// tryOpen opens a node to read and write. What means something to the kernel, or is
// a copy of another host's, is judged by its mode.
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

// deviceNumber returns the device that a node stands for; "": it is a file.
func deviceNumber(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&fs.ModeCharDevice == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%d", unix.Major(s.Rdev), unix.Minor(s.Rdev))
}
