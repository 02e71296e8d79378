package device

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// An OpenError reports a device node that cannot be opened.
type OpenError struct {
	Path  string
	Owner string // node owner; "": the node does not exist
	Group string
	Mode  fs.FileMode
	Err   error
}

func newOpenError(path string, err error) *OpenError {
	e := &OpenError{Path: path, Err: err}
	// The message contains the path already.
	var op *fs.PathError
	if errors.As(err, &op) {
		e.Err = op.Err
	}
	if info, err := os.Stat(path); err == nil {
		e.Mode = info.Mode().Perm()
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			e.Owner, e.Group = userName(s.Uid), groupName(s.Gid)
		}
	}
	return e
}

func (e *OpenError) Error() string {
	if e.Owner == "" {
		return fmt.Sprintf("open %s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("open %s (owner %s, group %s, mode %04o): %v", e.Path, e.Owner, e.Group, e.Mode, e.Err)
}

// Unwrap returns Err.
func (e *OpenError) Unwrap() error { return e.Err }

// Hint suggests a remedy.
func (e *OpenError) Hint() string {
	switch {
	case errors.Is(e.Err, fs.ErrPermission) && e.Mode&0o060 == 0o060 && e.Group != "root":
		return fmt.Sprintf("join the group %s, or run as root", e.Group)
	case errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("run as root, or permit a group, permanently by a udev rule: chgrp rdma %s && chmod 0660 %s", e.Path, e.Path)
	case errors.Is(e.Err, fs.ErrNotExist):
		return "the device exists in sysfs without a node: check that udev runs, and that a container has /dev/infiniband"
	}
	return ""
}

// userName and groupName return a name, or the number if there is no name.
func userName(id uint32) string {
	text := strconv.FormatUint(uint64(id), 10)
	if u, err := user.LookupId(text); err == nil {
		return u.Username
	}
	return text
}

func groupName(id uint32) string {
	text := strconv.FormatUint(uint64(id), 10)
	if g, err := user.LookupGroupId(text); err == nil {
		return g.Name
	}
	return text
}
