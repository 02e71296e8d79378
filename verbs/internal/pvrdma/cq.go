package pvrdma

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A cq is a completion queue: a ring that the adapter fills.
type cq struct {
	device *device
	memory *dmamem.Memory
	ring   ring
	number uint32
}

// maxEntries is a completion queue's maximum size.
const maxEntries = 1 << 24

// NewCQ creates a completion queue.
func (d *device) NewCQ(attr provider.CQAttr, create provider.Create) (provider.CQ, error) {
	if attr.Entries > maxEntries {
		return nil, fmt.Errorf("completion queue of %d entries: %w", attr.Entries, unix.EINVAL)
	}
	if err := d.ensurePage(); err != nil {
		return nil, err
	}
	// The kernel computes the same size from the number in the command.
	size := queue.RoundUp(attr.Entries)
	r, m, err := d.newRing(size, uint64(unsafe.Sizeof(uapi.PVRDMACQE{})), os.Getpagesize())
	if err != nil {
		return nil, err
	}
	r.state = &stateOf(m).RX
	in := uapi.PVRDMACreateCQ{BufAddr: m.Addr(), BufSize: uint32(m.Len())}
	var resp uapi.PVRDMACreateCQResp
	created, err := create(uapi.Bytes(&in), uapi.Bytes(&resp))
	if err != nil {
		return nil, closing(err, m)
	}
	q := &cq{device: d, memory: m, ring: r, number: resp.CQN}
	if created.CQE != size {
		return q, fmt.Errorf("completion queue: got %d entries, want %d: %w", created.CQE, size, provider.ErrCorrupt)
	}
	return q, nil
}

// Poll removes completions from the ring. If it is empty, the doorbell makes the adapter
// look for device completions behind it.
func (q *cq) Poll(into []provider.Completion) (int, error) {
	head, _, used, err := q.ring.used()
	if err == nil && used == 0 {
		q.device.ring(uapi.PVRDMAUARCQ, q.number|uapi.PVRDMAUARCQPoll)
		head, _, used, err = q.ring.used()
	}
	if err != nil {
		return 0, err
	}
	n := min(len(into), int(used))
	for i := range n {
		if !q.device.decode(&into[i], q.entry(head)) {
			n, err = i, provider.ErrCorrupt
			break
		}
		head = q.ring.next(head)
	}
	if n > 0 {
		atomic.StoreUint32(&q.ring.state.ConsHead, head)
	}
	return n, err
}

// entry returns a count's completion.
func (q *cq) entry(count uint32) *uapi.PVRDMACQE { return (*uapi.PVRDMACQE)(q.ring.at(count)) }

// decode decodes a completion. It returns false for a completion without a queue pair.
func (d *device) decode(c *provider.Completion, e *uapi.PVRDMACQE) bool {
	owner := d.find(e.QP)
	if owner == nil {
		return false
	}
	*c = provider.Completion{
		ID: e.WRID, Status: provider.StatusGeneral, Opcode: provider.CompletionOpcode(e.Opcode), VendorErr: e.VendorErr,
		ByteLen: e.ByteLen, QPN: owner.number, SrcQPN: e.SrcQP, PKeyIndex: e.PKeyIndex, SLID: ib.LID(e.SLID), SL: e.SL, PathBits: e.DLIDPathBits,
	}
	if e.Status <= uint32(provider.StatusGeneral) {
		c.Status = provider.Status(e.Status)
	}
	if e.WCFlags&uapi.PVRDMAWCGRH != 0 {
		c.Flags |= provider.CompletionGRH
	}
	if e.WCFlags&uapi.PVRDMAWCWithImm != 0 {
		c.Flags |= provider.CompletionWithImm
		c.Imm = binary.BigEndian.Uint32(e.Imm[:])
	}
	return true
}

// Arm writes to the doorbell.
func (q *cq) Arm(solicitedOnly bool) error {
	flag := uint32(uapi.PVRDMAUARCQArm)
	if solicitedOnly {
		flag = uapi.PVRDMAUARCQArmSol
	}
	q.device.ring(uapi.PVRDMAUARCQ, q.number|flag)
	return nil
}

// Delivered has no effect: the adapter does not count events.
func (q *cq) Delivered() {}

// purge removes a queue pair's completions: the remaining completions move towards the
// producer. Nothing is removed from a corrupt ring.
func (q *cq) purge(owner *qp) {
	head, tail, used, err := q.ring.used()
	if err != nil {
		return
	}
	to := tail
	for range used {
		tail = (tail - 1) & (2*q.ring.size - 1)
		if e := q.entry(tail); uint16(e.QP) != uint16(owner.handle) {
			to = (to - 1) & (2*q.ring.size - 1)
			*q.entry(to) = *e
		}
	}
	if to != head {
		atomic.StoreUint32(&q.ring.state.ConsHead, to)
	}
}

// Close releases the ring's memory.
func (q *cq) Close() error {
	q.ring.state = &uapi.PVRDMARing{}
	return q.memory.Close()
}
