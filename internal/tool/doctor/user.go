package doctor

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// A user holds this process's credentials, from /proc/self/status (man 5 proc).
type user struct {
	known  bool
	uid    uint32
	name   string
	groups []uint32 // the first is the effective group
	caps   uint64
	cpus   string // Cpus_allowed_list
	parent string // the parent's process ID
}

// Capabilities (linux/capability.h).
const (
	capDACOverride = 1
	capIPCLock     = 14
)

// can reports whether the process has a capability in the initial user namespace. In other
// user namespaces a process may have all capabilities, but they permit neither locking more
// memory nor opening the host root's files.
func (u user) can(capability int) bool { return u.caps&(1<<capability) != 0 }

func (u user) isRoot() bool { return u.known && u.uid == 0 }

func (h *host) readUser() user {
	var u user
	text, err := h.text("proc/self/status")
	if err != nil {
		return u
	}
	number := func(words []string, i int) uint32 {
		if i >= len(words) {
			return 0
		}
		n, err := strconv.ParseUint(words[i], 10, 32)
		if err != nil {
			return 0
		}
		return uint32(n)
	}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		words := strings.Fields(value)
		switch key {
		case "Uid": // real, effective, saved, file system
			u.uid, u.known = number(words, 1), len(words) > 1
		case "Gid":
			u.groups = append([]uint32{number(words, 1)}, u.groups...)
		case "Groups":
			for i := range words {
				u.groups = append(u.groups, number(words, i))
			}
		case "CapEff":
			u.caps, _ = strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		case "Cpus_allowed_list":
			u.cpus = strings.TrimSpace(value)
		case "PPid":
			u.parent = strings.TrimSpace(value)
		}
	}
	if text, err := h.text("proc/self/uid_map"); err == nil && !slices.Equal(strings.Fields(text), []string{"0", "0", "4294967295"}) {
		u.caps = 0
	}
	u.name = h.accountName("etc/passwd", u.uid)
	return u
}

// accountName returns a user or group name, or its number if it has no name.
func (h *host) accountName(file string, id uint32) string {
	number := strconv.FormatUint(uint64(id), 10)
	text, err := h.text(file)
	if err != nil {
		return number
	}
	for line := range strings.Lines(text) {
		if fields := strings.Split(line, ":"); len(fields) > 3 && fields[2] == number {
			return fields[0]
		}
	}
	return number
}

// hasGroup reports whether a group exists.
func (h *host) hasGroup(name string) bool {
	text, err := h.text("etc/group")
	return err == nil && strings.Contains("\n"+text, "\n"+name+":")
}

// ownership holds a file's owner, group and mode.
type ownership struct {
	uid, gid     uint32
	owner, group string
	mode         fs.FileMode
}

func (h *host) ownership(info fs.FileInfo) ownership {
	o := ownership{mode: info.Mode().Perm()}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		o.uid, o.gid = s.Uid, s.Gid
		o.owner, o.group = h.accountName("etc/passwd", s.Uid), h.accountName("etc/group", s.Gid)
	}
	return o
}

func (o ownership) String() string {
	return fmt.Sprintf("owner %s, group %s, mode %04o", o.owner, o.group, o.mode)
}

// mayUse reports whether a file's mode permits the user to read and write it.
func (u user) mayUse(o ownership) bool {
	const readWrite = 6
	switch {
	case u.can(capDACOverride):
		return true
	case u.uid == o.uid:
		return o.mode>>6&readWrite == readWrite
	case slices.Contains(u.groups, o.gid):
		return o.mode>>3&readWrite == readWrite
	}
	return o.mode&readWrite == readWrite
}
