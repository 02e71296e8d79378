package verbs

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// A LimitError is a request that was refused because something is used up, or
// never was as much.
type LimitError struct {
	Resource string // "locked memory", "QPs"
	Hint     string // what to do about it, or what the limit is; may be ""
	Err      error
}

func (e *LimitError) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("%v (limit of %s reached)", e.Err, e.Resource)
	}
	return fmt.Sprintf("%v (limit of %s reached: %s)", e.Err, e.Resource, e.Hint)
}

// Unwrap returns Err.
func (e *LimitError) Unwrap() error { return e.Err }

// A demand is how much of something a request wants.
type demand struct {
	what string
	n    uint64
	max  func(DeviceAttr) uint64
}

// limit makes a LimitError of an error that says that there are no more objects of
// a kind, or that one is too large: for the latter the kernel has EINVAL only, and
// the device is asked for what it has.
func (c *Context) limit(objects string, err error, demands ...demand) error {
	switch {
	case errors.Is(err, unix.EAGAIN): // rdmacg_try_charge
		return &LimitError{Resource: objects, Hint: "see rdma.max of the process's control group and those above it", Err: err}
	case errors.Is(err, unix.ENOMEM), errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return &LimitError{Resource: objects, Err: err}
	case !errors.Is(err, unix.EINVAL) || len(demands) == 0:
		return err
	}
	d, e := c.QueryDevice()
	if e != nil {
		return err
	}
	for _, want := range demands {
		if most := want.max(d); want.n > most {
			return &LimitError{
				Resource: want.what, Hint: fmt.Sprintf("%d are wanted, the device has %d at most", want.n, most), Err: err,
			}
		}
	}
	return err
}

// memoryLimit makes a LimitError of a region that could not be had. Where locked
// memory is limited the kernel (ib_umem_get) says ENOMEM, as if there were no
// memory, and where none may be locked EPERM.
func (c *Context) memoryLimit(length uint64, err error) error {
	if !errors.Is(err, unix.ENOMEM) && !errors.Is(err, unix.EPERM) {
		return c.limit("MRs", err, demand{"bytes of a MR", length, func(d DeviceAttr) uint64 { return d.MaxMRSize }})
	}
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r) != nil || r.Cur == unix.RLIM_INFINITY || mayLock() {
		return c.limit("memory", err)
	}
	return &LimitError{
		Resource: "locked memory",
		Hint: fmt.Sprintf("it is %d KiB for all regions, this one wants %d; raise it by ulimit -l, memlock in limits.conf, "+
			"LimitMEMLOCK= of systemd or --ulimit memlock=-1 of docker and podman", r.Cur>>10, (length+1023)>>10),
		Err: err,
	}
}

// mayLock tells whether the limit of locked memory is not for this process:
// CAP_IPC_LOCK.
func mayLock() bool {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData // one for each 32 capabilities
	return unix.Capget(&h, &sets[0]) == nil && sets[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0
}
