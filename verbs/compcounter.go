package verbs

import "github.com/ibkit/ibkit/internal/uapi"

// CompCounterCaps are a device's completion counter limits.
type CompCounterCaps struct {
	MaxCounters uint32
	MaxValue    uint64
	AttachOps   CompCounterOps
}

// CompCounterOps are the queue pair operations that a completion counter can
// count (enum ib_uverbs_qp_attach_comp_cntr_op).
type CompCounterOps uint32

var compCounterBits = []bit[CompCounterOps]{
	{1 << 0, "QP_ATTACH_SEND"},
	{1 << 1, "QP_ATTACH_RECV"},
	{1 << 2, "QP_ATTACH_RDMA_READ"},
	{1 << 3, "QP_ATTACH_REMOTE_RDMA_READ"},
	{1 << 4, "QP_ATTACH_RDMA_WRITE"},
	{1 << 5, "QP_ATTACH_REMOTE_RDMA_WRITE"},
}

// Names returns the operation names as ibv_devinfo spells and orders them,
// and the bits without a name.
func (o CompCounterOps) Names() (known []string, rest CompCounterOps) {
	return names(o, compCounterBits)
}

// CompCounterCaps returns the device's completion counter limits. It needs a
// kernel newer than Linux 6.18.
func (c *Context) CompCounterCaps() (CompCounterCaps, error) {
	var caps CompCounterCaps
	r := newRequest("query completion counters", uapi.ObjectDevice, uapi.MethodQueryCompCounterCaps)
	r.out(uapi.AttrQueryCompCounterCapsMaxCounters, uapi.Bytes(&caps.MaxCounters))
	r.out(uapi.AttrQueryCompCounterCapsMaxValue, uapi.Bytes(&caps.MaxValue))
	r.out(uapi.AttrQueryCompCounterCapsSupportedQPAttachOps, uapi.Bytes(&caps.AttachOps))
	if err := c.call(r); err != nil {
		return CompCounterCaps{}, err
	}
	return caps, nil
}
