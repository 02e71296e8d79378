// Package rdmacm connects queue pairs by address through the kernel's connection
// manager, /dev/infiniband/rdma_cm, without librdmacm.
//
//	conn, err := rdmacm.Dialer{Setup: newQP}.Dial(ctx, "server:7174")
//	defer conn.Close()
//
//	l, err := rdmacm.ListenConfig{}.Listen(":7174")
//	request, err := l.Accept(ctx)
//	qp := …
//	conn, err := request.Accept(ctx, qp, nil)
//
// Most programs that use RDMA connect in this way. A connection takes these steps,
// which [Dialer].Trace reports: address (IP address to device, port and GID), route
// (path through the fabric, or RoCE neighbour), setup (the caller creates the
// queue pair), connect (request and reply) and establish (the queue pair becomes
// ready). A step error is a [StepError].
//
// # Below Dial and Listen
//
// An [ID] is a connection manager identifier, a socket's counterpart.
// A [Channel] is an open rdma_cm device: it makes IDs and delivers their events. A
// wait for an event blocks a goroutine, not a thread. Commands complete at once
// except for [ID.Close], which waits until the kernel has stopped using the ID.
//
// A Channel's Close destroys its IDs, and so does the process's end. Dial,
// Listen and Accept use a Channel per connection and leave nothing in the kernel
// if a step fails.
//
// # Facts
//
// The structures follow <rdma/rdma_user_cm.h>. The kernel's behaviour follows
// drivers/infiniband/core/ucma.c and cma.c. Commands and requests for events are written to
// the device; the kernel writes responses to an address within the message. Linux compares
// each writer's credentials with the credentials that the process had when it opened the
// device: open it after the last privilege change.
package rdmacm
