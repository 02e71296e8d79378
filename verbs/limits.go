package verbs

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// A LimitError is a request that failed because a resource is exhausted, or because
// it exceeds a device limit.
type LimitError struct {
	Resource string // LockedMemory, "QPs"
	Detail   string // the limit and the demand; may be ""
	Err      error
}

// LockedMemory is the Resource for a region that exceeds the locked memory limit
// (RLIMIT_MEMLOCK).
const LockedMemory = "locked memory"

func (e *LimitError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("%v (limit of %s reached)", e.Err, e.Resource)
	}
	return fmt.Sprintf("%v (limit of %s reached: %s)", e.Err, e.Resource, e.Detail)
}

// Unwrap returns Err.
func (e *LimitError) Unwrap() error { return e.Err }

// A demand is the resource amount that a request needs, with the device's
// limit.
type demand struct {
	what string
	n    uint64
	max  func(DeviceAttr) uint64
}

// limit converts err to a LimitError if it means that no further object can be
// created or that an object is too large. In the latter case the kernel returns only
// EINVAL, so limit compares the demands with the device's limits.
func (c *Context) limit(objects string, err error, demands ...demand) error {
	switch {
	case errors.Is(err, unix.EAGAIN): // rdmacg_try_charge
		return &LimitError{Resource: objects, Detail: "rdma.max of the process's control group or of a parent", Err: err}
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
				Resource: want.what, Detail: fmt.Sprintf("got %d, the device supports at most %d", want.n, most), Err: err,
			}
		}
	}
	return err
}

// memoryLimit converts a failed registration's error to a LimitError. If the locked memory
// limit is exceeded, the kernel (ib_umem_get) returns ENOMEM, as if memory were exhausted,
// or EPERM if the limit is 0.
func (c *Context) memoryLimit(length uint64, err error) error {
	if !errors.Is(err, unix.ENOMEM) && !errors.Is(err, unix.EPERM) {
		return c.limit("MRs", err, demand{"bytes of an MR", length, func(d DeviceAttr) uint64 { return d.MaxMRSize }})
	}
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r) != nil || r.Cur == unix.RLIM_INFINITY || mayLock() {
		return c.limit("memory", err)
	}
	return &LimitError{
		Resource: LockedMemory,
		Detail:   fmt.Sprintf("the limit is %d KiB for all regions, this region needs %d", r.Cur>>10, (length+1023)>>10),
		Err:      err,
	}
}

// mayLock reports whether the process is exempt from the locked memory limit
// (CAP_IPC_LOCK).
func mayLock() bool {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData // 32 capabilities each
	return unix.Capget(&h, &sets[0]) == nil && sets[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0
}
