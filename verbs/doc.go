// Package verbs uses RDMA devices through RDMA_VERBS_IOCTL on
// /dev/infiniband/uverbsN, without libibverbs.
//
//	devices, err := verbs.Devices()
//	c, err := devices[0].Open()
//	defer c.Close()
//	device, err := c.QueryDevice()
//	port, err := c.QueryPort(1)
//	gids, err := c.GIDTable()
//
// Opening a device takes a single open(2) and creates a single context. Only doorbells and
// requests to arm completion queues are written to its file, because that is faster
// than an ioctl. Commands without a method of their own are sent with the method
// INVOKE_WRITE, which requires Linux 5.0; GID tables require 5.10. Requests that an
// older kernel or the driver does not support return [ErrUnknownMethod] or
// [ErrUnsupported], missing permission is [io/fs.ErrPermission], and a removed
// device is [ErrDeviceRemoved].
//
// # Moving data
//
// A [Context] creates protection domains ([PD]), completion queues ([CQ]) and
// completion channels ([CompChannel]). A PD creates memory regions ([MR]), queue
// pairs ([QP]), shared receive queues ([SRQ]), address handles ([AH]) and memory
// windows ([MW]). A program sends a message in these steps, without the handling of errors:
//
//	c, err := devices[0].Open()
//	pd, err := c.AllocPD()
//	memory, err := c.NewMemory(4096, verbs.MemoryOptions{})
//	mr, err := pd.RegisterMR(memory, verbs.AccessLocalWrite)
//	channel, err := c.NewCompChannel()
//	cq, err := c.CreateCQ(verbs.CQInit{Entries: 8, Channel: channel})
//	qp, err := pd.CreateQP(verbs.QPInit{
//		Type: verbs.QPTypeRC, SendCQ: cq, RecvCQ: cq,
//		Cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1},
//	})
//	port, err := c.QueryPort(1)
//	// Exchange qp.Number and port.LID with the peer, over Ethernet a GID.
//	path := verbs.Path{Port: 1, DLID: peerLID}
//	err = qp.Connect(verbs.RemoteQP{QPN: peerQPN, Path: path, MTU: port.ActiveMTU}, verbs.DefaultParam)
//	sge := mr.SGE(0, copy(mr.Bytes(), "hello")) // the peer has called PostRecv
//	wr := verbs.SendWR{Opcode: verbs.OpSend, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{sge}}
//	_, err = qp.PostSend([]verbs.SendWR{wr})
//	done := make([]verbs.Completion, 8)
//	n, err := cq.Wait(ctx, done)
//	err = done[0].Err()
//
// Package rdmacm connects queue pairs by IP address and replaces the exchange; most programs
// begin there. The example of package verbs is complete.
//
// An object's Close returns [ErrBusy] while other objects use it. Close of the
// context closes all objects in the right order; the kernel does the same when the
// process ends. A second Close, and use after Close, return [io/fs.ErrClosed].
//
// Queues are mapped memory. Posting takes a few stores and a single doorbell per batch,
// polling takes loads; neither allocates or blocks. Each queue has its own lock, so
// queues may be used concurrently. The queue layout depends on the driver and is
// implemented by a package per driver, a provider. Drivers without a provider return
// [ErrNoProvider].
//
// # Errors
//
// A request that the kernel rejects returns a [CallError]. A request that exceeds a
// limit returns a [LimitError], which names the limit. The Err method of a
// [Completion] returns a failed work request's error with its likely cause.
// [Context.Events] delivers port and object events; objects are identified by their ID.
// Requests to a removed device return [ErrDeviceRemoved] if the driver disconnects the
// process. Soft-RoCE and other drivers do not: call [Context.CheckPresent].
//
// # Memory
//
// Devices never write to Go's heap. [Context.NewMemory] maps memory near the device;
// only such memory can be registered.
//
// Requests contain buffer addresses as numbers, which Go's collector does
// not see. Requests and buffers are therefore pinned until the call returns.
package verbs
