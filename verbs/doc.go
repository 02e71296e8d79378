// Package verbs talks to RDMA devices by RDMA_VERBS_IOCTL on
// /dev/infiniband/uverbsN, without libibverbs.
//
//	c, err := verbs.Open("rxe0", "/dev/infiniband/uverbs0")
//	defer c.Close()
//	device, err := c.QueryDevice()
//	port, err := c.QueryPort(1)
//	gids, err := c.GIDTable()
//
// An Open is one open(2) and one context. Nothing is ever written to the file but
// doorbells, and what arms completion queues, which are quicker so. Commands that
// the kernel has no method for go through its method INVOKE_WRITE, so Linux 5.0 is
// the oldest kernel that answers. GID tables want 5.10. What an older kernel, or the
// driver, does not do is an error of its own kind: [ErrUnknownMethod],
// [ErrUnsupported], [ErrDeviceRemoved], [io/fs.ErrPermission].
//
// # Moving data
//
// A [Context] makes protection domains ([PD]), completion queues ([CQ]) and
// channels ([CompChannel]); a PD makes memory regions ([MR]), queue pairs ([QP]),
// shared receive queues ([SRQ]), address handles ([AH]) and memory windows ([MW]).
// The example shows all that a connection needs.
//
// Objects may be closed in any order in which none is closed that another needs;
// that would be [ErrBusy]. Closing the context closes all of them in the right
// order, and so does the kernel when the process ends. Closing twice, and use
// after Close, are [io/fs.ErrClosed].
//
// Queues are mapped memory: posting is a few stores and one doorbell for the whole
// batch, polling is loads. Their layouts are a matter of the driver's, known to one
// package each (a provider); a driver that none knows is [ErrNoProvider]. Neither
// posting nor polling allocates or waits. Each queue has a lock of its own, so all
// may be used from several goroutines.
//
// # When things go wrong
//
// A request that the kernel refuses is a [CallError], one that is over a limit a
// [LimitError] that says which and who sets it. A work request that fails has a
// completion whose Err says what to look at. What happens to ports and objects
// comes by [Context.Events], with the object's ID. A device that is removed is
// [ErrDeviceRemoved] where the driver lets go of it; where it does not, as Soft-RoCE's,
// [Context.CheckPresent] tells.
//
// # Memory
//
// What devices write to is never Go's heap: [Context.NewMemory] maps memory near
// the device, and only such memory can be registered.
//
// A request has the addresses of its buffers in it, as numbers that Go's
// collector does not see. Requests and buffers are therefore pinned until the
// call is over.
package verbs
