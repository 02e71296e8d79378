// Package device carries MADs through /dev/infiniband/umadN, the kernel's way to
// a port of this host.
//
// What the kernel does with them (drivers/infiniband/core/user_mad.c and mad.c,
// measured on Linux 6.1 by the tests in test/guest/infiniband):
//
//   - It sends a request as often as it is told to, which is once: the retries
//     are umad.Client's, so that they come in its order and are counted, and the
//     kernel adds none to them.
//   - A request without a reply comes back with ETIMEDOUT some milliseconds after
//     its time is over, cut to what the kernel keeps of it.
//   - The upper 32 bits of a transaction ID are the kernel's: it writes its
//     agent's number there, and finds the agent of a reply by it. A response of
//     this host's keeps those of the request.
//   - 128 requests of a port are in the send queue at a time (ib_core's
//     send_queue_size), and those above wait in a list without an end: neither
//     EAGAIN nor ENOMEM was seen with 5,000 in flight on one descriptor. What
//     bounds the requests in flight is umad.Client's window.
//   - 200,000 replies that nobody reads are kept for a descriptor
//     (MAX_UMAD_RECV_LIST_SIZE), and those above are dropped without a word.
//     5,000 were kept. Time-outs are kept in any number.
//   - Of two requests in flight on a descriptor with one transaction ID the
//     second is refused with EINVAL.
//   - With RMPP it puts the segments of subnet administration's tables together
//     and keeps their time itself. Where a message is longer than the buffer, a
//     read says ENOSPC and how long it is.
//   - When the device goes away, a read that waits returns EIO at once, and so
//     does every call after it.
package device
