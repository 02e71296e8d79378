package mlx5

// A user is the owner of a user index: a queue pair and its SRQ, if it has one, or an SRQ
// in an XRC domain without a queue pair.
type user struct {
	qp  *qp
	srq *srq
}

// retireRecv frees a completed receive work request and returns its ID.
func (u *user) retireRecv(counter uint16) uint64 {
	switch {
	case u.srq != nil:
		return u.srq.retire(counter)
	case len(u.qp.recv.ids) == 0:
		return 0
	}
	return u.qp.recv.retire(counter)
}

// discard frees the work request for a completion that is never polled. Only completions for a
// shared receive queue outlive the queue pair.
func (u *user) discard(e *[cqeSize]byte) {
	if op := e[cqeOwner] >> 4; u.srq != nil && (op >= cqeWriteImm && op <= cqeRecvInv || op == cqeRecvError) {
		u.srq.retire(counterOf(e))
	}
}

// repost posts a shared receive queue's work request again if its memory had a page
// fault (on-demand paging). The peer sends the message again. It reports whether the completion
// is a page fault, which the caller does not return (libmlx5's cq.c,
// is_odp_pfault_err).
func (u *user) repost(e *[cqeSize]byte) bool {
	if u.srq == nil || e[cqeOwner]>>4 != cqeRecvError || e[cqeSyndrome] != syndromeAborted || e[cqeVendor] != vendorPageFault {
		return false
	}
	u.srq.repost(counterOf(e))
	return true
}

// maxIndex is a device's maximum user count: user indices have 24 bits, and the last index
// means that there is no index.
const maxIndex = 1<<24 - 1
