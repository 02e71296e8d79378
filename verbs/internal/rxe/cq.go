package rxe

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A cq is a completion queue: the kernel fills its ring.
type cq struct {
	device provider.Device
	notify provider.Notifier
	ring   ring
}

// Poll removes completions from the ring.
func (q *cq) Poll(into []provider.Completion) (int, error) {
	ready, err := q.ring.ready()
	if ready == 0 || err != nil {
		return 0, err
	}
	n := min(ready, uint32(min(len(into), math.MaxInt32)))
	for i := range n {
		decodeWC(&into[i], (*uapi.WC)(q.ring.slot(q.ring.own+i)))
	}
	q.ring.release(n)
	return int(n), nil
}

// decodeWC decodes a completion.
func decodeWC(c *provider.Completion, wc *uapi.WC) {
	c.ID = wc.WRID
	c.Status = provider.Status(min(wc.Status, uint32(provider.StatusGeneral)))
	c.Opcode = provider.CompletionOpcode(wc.Opcode)
	c.VendorErr = wc.VendorErr
	c.ByteLen = wc.ByteLen
	c.Flags, c.Imm, c.InvKey = 0, 0, 0
	if wc.Flags != 0 {
		c.Flags = flags(wc.Flags)
		if c.Flags&provider.CompletionWithImm != 0 {
			c.Imm = binary.BigEndian.Uint32(wc.Ex[:])
		} else if c.Flags&provider.CompletionWithInv != 0 {
			c.InvKey = binary.NativeEndian.Uint32(wc.Ex[:])
		}
	}
	c.QPN = wc.QPNum
	c.SrcQPN = wc.SrcQP
	c.PKeyIndex = wc.PKeyIndex
	c.SLID = ib.LID(wc.SLID)
	c.SL = wc.SL
	c.PathBits = wc.PathBits
}

// wcWithInvalidate is IB_WC_WITH_INVALIDATE in the kernel's <rdma/ib_verbs.h>.
const wcWithInvalidate = 1 << 2

// flags converts the driver's flags, which are the kernel's, to package provider's flags,
// which are libibverbs'. A single flag has another number in the kernel, where its bit in
// libibverbs is IB_WC_IP_CSUM_OK.
func flags(f uint32) provider.CompletionFlags {
	known := provider.CompletionFlags(f) & (provider.CompletionGRH | provider.CompletionWithImm)
	if f&wcWithInvalidate != 0 {
		known |= provider.CompletionWithInv
	}
	return known
}

// Arm arms the queue in the kernel.
func (q *cq) Arm(solicitedOnly bool) error { return q.notify.Arm(solicitedOnly) }

// Delivered does nothing: the kernel counts no events.
func (q *cq) Delivered() {}

// Close unmaps the ring.
func (q *cq) Close() error { return q.device.Unmap(q.ring.memory) }

const wcSize = int(unsafe.Sizeof(uapi.WC{}))
