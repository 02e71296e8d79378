// Package device sends and receives MADs through /dev/infiniband/umadN, the kernel's
// interface to a port on this host.
//
// Interface properties (drivers/infiniband/core/user_mad.c and mad.c, measured on Linux
// 6.1 by the tests in test/guest/infiniband):
//
//   - The kernel sends a request as many times as the program specifies. Port
//     specifies a single attempt: umad.Client sends requests again, in its order, and
//     counts them.
//   - The kernel returns a request without a reply with ETIMEDOUT, some milliseconds
//     after its timeout, without its data.
//   - The upper 32 bits of a transaction ID belong to the kernel, which writes its
//     agent number there, and finds a reply's agent by them. A response keeps its
//     request's upper bits.
//   - A port has 128 requests in the send queue (send_queue_size in ib_core). Further
//     requests wait in an unlimited list: 5,000 requests in flight on a descriptor caused
//     neither EAGAIN nor ENOMEM. Only umad.Client's window bounds the requests in flight.
//   - The kernel keeps 200,000 unread replies per descriptor
//     (MAX_UMAD_RECV_LIST_SIZE) and silently drops further ones. 5,000 were kept. It
//     keeps timeouts in any number.
//   - Of two requests in flight on a descriptor with the same transaction ID, the
//     second fails with EINVAL.
//   - With RMPP, the kernel reassembles subnet administration tables and handles
//     their timeouts. If a message is longer than the buffer, a read returns
//     ENOSPC and the length.
//   - An adapter with planes has two devices for a port; see [LocalPort.SubnetManagement].
//   - When the device is removed, a waiting read and all later calls return EIO.
package device
