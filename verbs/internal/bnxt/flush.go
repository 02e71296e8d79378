package bnxt

import (
	"slices"

	"github.com/ibkit/ibkit/verbs/provider"
)

// sendStatuses are the statuses of sends by enum bnxt_re_req_wc_status, receiveStatuses of
// receives by enum bnxt_re_rsp_wc_status (main.h, bnxt_re_to_ibv_wc_status).
var (
	sendStatuses = [...]provider.Status{
		provider.StatusOK, provider.StatusBadResponse, provider.StatusLocalLength, provider.StatusLocalQPOp, provider.StatusLocalProt,
		provider.StatusMWBind, provider.StatusRemoteInvalid, provider.StatusRemoteAccess, provider.StatusRemoteOp,
		provider.StatusRNRExceeded, provider.StatusRetryExceeded, provider.StatusFlushed,
	}
	receiveStatuses = [...]provider.Status{
		provider.StatusOK, provider.StatusLocalAccess, provider.StatusLocalLength, provider.StatusLocalProt, provider.StatusLocalQPOp,
		provider.StatusMWBind, provider.StatusRemoteInvalid, provider.StatusFlushed, provider.StatusFatal,
	}
)

// statusHardwareFlush marks a receive that the adapter has not used (BNXT_RE_RSP_ST_HW_FLUSH).
const statusHardwareFlush = 8

// sendStatus returns the status of a send.
func sendStatus(code uint8) provider.Status { return statusOf(sendStatuses[:], code) }

// receiveStatus returns the status of a receive.
func receiveStatus(code uint8) provider.Status { return statusOf(receiveStatuses[:], code) }

func statusOf(known []provider.Status, code uint8) provider.Status {
	if int(code) < len(known) {
		return known[code]
	}
	return provider.StatusGeneral
}

// A work is a queue of a queue pair.
type work struct {
	qp       *qp
	receives bool
}

// pop removes the oldest work request.
func (w work) pop(c *provider.Completion) bool {
	if w.receives {
		c.Opcode = provider.CompletedRecv
		return w.qp.recv.pop(c)
	}
	return w.qp.send.pop(c)
}

// fail notes that a queue pair is in the error state: the adapter no longer completes its work
// requests. The entry that reports it is in one of its completion queues.
func (d *device) fail(owner *qp) {
	owner.failed.Store(true)
	owner.sendCQ.flush(work{owner, false})
	if owner.srq == nil {
		owner.recvCQ.flush(work{owner, true})
	}
}

// flush completes a queue's work requests from now on. The caller may have another completion
// queue's lock.
func (q *cq) flush(w work) {
	q.device.flushing.Lock()
	defer q.device.flushing.Unlock()
	var works []work
	if old := q.flushed.Load(); old != nil {
		if slices.Contains(*old, w) {
			return
		}
		works = slices.Clone(*old)
	}
	works = append(works, w)
	q.flushed.Store(&works)
}

// forget ends flush for a queue pair.
func (q *cq) forget(owner *qp) {
	q.device.flushing.Lock()
	defer q.device.flushing.Unlock()
	old := q.flushed.Load()
	if old == nil {
		return
	}
	works := slices.DeleteFunc(slices.Clone(*old), func(w work) bool { return w.qp == owner })
	if len(works) == 0 {
		q.flushed.Store(nil)
		return
	}
	q.flushed.Store(&works)
}

// pollFlushed completes work requests of queues in error, once the ring is empty.
func (q *cq) pollFlushed(into []provider.Completion) (n int) {
	if _, _, valid := q.at(q.head, q.phase); valid {
		return 0
	}
	for _, w := range *q.flushed.Load() {
		for n < len(into) {
			into[n] = provider.Completion{Status: provider.StatusFlushed, QPN: w.qp.number}
			if !w.pop(&into[n]) {
				break
			}
			n++
		}
	}
	return n
}
