// Package verbs talks to RDMA devices by RDMA_VERBS_IOCTL on
// /dev/infiniband/uverbsN, without libibverbs.
//
//	c, err := verbs.Open("rxe0", "/dev/infiniband/uverbs0")
//	defer c.Close()
//	device, err := c.QueryDevice()
//	port, err := c.QueryPort(1)
//	gids, err := c.GIDTable()
//
// An Open is one open(2) and one context; nothing is ever written to the file.
// Commands that the kernel has no method for go through its method INVOKE_WRITE,
// so Linux 5.0 is the oldest kernel that answers. GID tables want 5.10. What an
// older kernel, or the driver, does not do is an error of its own kind:
// [ErrUnknownMethod], [ErrUnsupported], [ErrGone], [io/fs.ErrPermission].
//
// # Memory
//
// A request has the addresses of its buffers in it, as numbers that Go's
// collector does not see. Requests and buffers are therefore pinned until the
// call is over.
package verbs
