package siw

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A cq is a completion queue: the kernel fills its ring.
type cq struct {
	device provider.Device
	ring   ring[uapi.SIWCQE]
	flags  *uint32 // control word behind the ring
}

// Poll removes completions from the ring.
func (q *cq) Poll(into []provider.Completion) (int, error) {
	for i := range into {
		cqe := q.ring.at(q.ring.next)
		word := atomic.LoadUint32(&cqe.Head)
		if word&validCompletion == 0 {
			return i, nil
		}
		decode(&into[i], cqe, word)
		atomic.StoreUint32(&cqe.Head, 0) // the kernel may use the element again
		q.ring.next++
	}
	return len(into), nil
}

// completionHead is a completion's second word: flags, opcode and status.
type completionHead struct {
	flags, opcode uint8
	status        uint16
}

func (h completionHead) word() uint32 { return *(*uint32)(unsafe.Pointer(&h)) }

// validCompletion is the flag VALID in a completion's second word.
var validCompletion = completionHead{flags: uapi.SIWValid}.word()

// statuses are the completion statuses by enum siw_wc_status.
var statuses = [...]provider.Status{
	provider.StatusOK, provider.StatusLocalLength, provider.StatusLocalProt, provider.StatusLocalQPOp, provider.StatusFlushed,
	provider.StatusBadResponse, provider.StatusLocalAccess, provider.StatusRemoteAccess, provider.StatusRemoteInvalid,
	provider.StatusGeneral,
}

// completed are the completion operations by enum siw_opcode.
var completed = [...]provider.CompletionOpcode{
	uapi.SIWOpWrite: provider.CompletedWrite, uapi.SIWOpRead: provider.CompletedRead, uapi.SIWOpReadLocalInv: provider.CompletedRead,
	uapi.SIWOpSend: provider.CompletedSend, uapi.SIWOpSendWithImm: provider.CompletedSend, uapi.SIWOpSendRemoteInv: provider.CompletedSend,
	uapi.SIWOpFetchAndAdd: provider.CompletedFetchAdd, uapi.SIWOpCompAndSwap: provider.CompletedCompareSwap, uapi.SIWOpReceive: provider.CompletedRecv,
}

// decode decodes a completion with the second word that was read.
func decode(c *provider.Completion, cqe *uapi.SIWCQE, word uint32) {
	h := *(*completionHead)(unsafe.Pointer(&word))
	*c = provider.Completion{ID: cqe.ID, Status: provider.StatusGeneral, ByteLen: cqe.Bytes, QPN: uint32(cqe.QPID)}
	if int(h.status) < len(statuses) {
		c.Status = statuses[h.status]
	}
	switch {
	case int(h.opcode) < len(completed):
		c.Opcode = completed[h.opcode]
	case c.Status == provider.StatusOK:
		c.Status = provider.StatusGeneral
	}
	if h.flags&uapi.SIWRemInval != 0 {
		c.Flags = provider.CompletionWithInv
		c.InvKey = binary.NativeEndian.Uint32(cqe.Ex[:])
	}
}

// Arm sets the control word, which the kernel reads with each completion.
func (q *cq) Arm(solicitedOnly bool) error {
	flags := uint32(uapi.SIWNotifySolicited)
	if !solicitedOnly {
		flags |= uapi.SIWNotifyNextCompletion
	}
	atomic.StoreUint32(q.flags, flags)
	return nil
}

// Delivered has no effect: the kernel does not count events.
func (q *cq) Delivered() {}

// Close unmaps the ring.
func (q *cq) Close() error { return q.ring.unmap(q.device) }
