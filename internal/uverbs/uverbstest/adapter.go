package uverbstest

import (
	"encoding/binary"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// DriverRXE is RDMA_DRIVER_RXE from <rdma/ib_user_ioctl_verbs.h>, the [Adapter] driver.
const DriverRXE = 14

// An Adapter is the kernel's side of a Soft-RoCE device that moves messages between queue
// pairs in a process. It executes work requests within the doorbell, so that all
// completions are there when the post returns. Lost packets and retries do not exist. It
// implements uverbs.Kernel.
type Adapter struct {
	Defect   Defect
	Received int // messages that completed a receive

	t     *testing.T
	mu    sync.Mutex
	last  uint32 // handle
	cqs   map[uint32]*cq
	srqs  map[uint32]*srq
	qps   map[uint32]*qp
	mrs   map[uint32]*region // by handle
	mws   map[uint32]*window // by handle
	rings map[int64]*ring    // by mapping offset
	open  map[uint32]bool    // all objects' handles
	files map[int]*os.File   // event files' write ends
	async int                // asynchronous event file
}

// NewAdapter returns an adapter. The test fails if objects are left at its end.
func NewAdapter(t *testing.T) *Adapter {
	a := &Adapter{
		t: t, last: 100, cqs: map[uint32]*cq{}, srqs: map[uint32]*srq{}, qps: map[uint32]*qp{}, mrs: map[uint32]*region{},
		mws: map[uint32]*window{}, rings: map[int64]*ring{}, open: map[uint32]bool{}, files: map[int]*os.File{},
	}
	t.Cleanup(func() {
		if len(a.open) > 0 {
			t.Errorf("got %d objects of the adapter that were not closed", len(a.open))
		}
		for _, f := range a.files {
			f.Close()
		}
	})
	return a
}

// Objects returns the open object count.
func (a *Adapter) Objects() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open)
}

// The adapter's objects.
type (
	cq struct {
		*ring
		id      uint64
		channel int  // event file
		armed   bool // for the next completion
		only    bool // for the next solicited completion
	}
	srq struct {
		*ring
		id    uint64
		limit uint32
	}
	qp struct {
		number, kind   uint32
		send, recv     *cq
		shared         *srq
		sq, rq         *ring
		state          uint8
		access         access
		peer, qkey, pd uint32
	}
	region struct {
		pd, key     uint32
		start, size uint64
		access      access
	}
	window struct {
		region
		handle uint32
		bound  bool
	}
)

// Open implements uverbs.Kernel.
func (*Adapter) Open(string) (int, error) { return 3, nil }

// Present implements uverbs.Kernel.
func (*Adapter) Present(int) bool { return true }

// Close implements uverbs.Kernel.
func (*Adapter) Close(int) error { return nil }

// Munmap implements uverbs.Kernel.
func (*Adapter) Munmap([]byte) error { return nil }

// Mmap implements uverbs.Kernel.
func (a *Adapter) Mmap(_ int, offset int64, length, _ int) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.rings[offset]; r != nil && length == len(r.memory) {
		return r.memory, nil
	}
	return nil, unix.EINVAL
}

// EventFile implements uverbs.Kernel.
func (a *Adapter) EventFile(fd int) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		a.t.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files[fd] = w
	return r
}

// Write implements uverbs.Kernel: doorbells and completion queue arming.
func (a *Adapter) Write(_ int, message []byte, _ bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	core := message[uapi.CmdHeaderSize:]
	switch head := uapi.Decode[uapi.CmdHeader](message); head.Command {
	case uapi.CmdPostSend:
		a.execute(a.qps[uapi.Decode[uapi.PostSend](core).QPHandle])
	case uapi.CmdReqNotifyCQ:
		arm := uapi.Decode[uapi.ReqNotifyCQ](core)
		q := a.cqs[arm.CQHandle]
		q.armed, q.only = true, arm.SolicitedOnly != 0
	default:
		return unix.EOPNOTSUPP
	}
	return nil
}

// Ioctl implements uverbs.Kernel.
func (a *Adapter) Ioctl(_ int, request []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := Parse(a.t, request)
	if c.Header.Driver != DriverRXE {
		return unix.EINVAL
	}
	if cmd, is := c.Command(); is {
		return a.command(cmd, c)
	}
	switch {
	case c.Probe:
		return unix.EPROTONOSUPPORT
	case c.Is(uapi.ObjectDevice, uapi.MethodGetContext):
		c.Set(uapi.AttrGetContextNumCompVectors, uapi.Bytes(new(uint32(1))))
		c.Set(uapi.AttrGetContextCoreSupport, uapi.Bytes(new(uint64(1))))
	case c.Is(uapi.ObjectAsyncEvent, uapi.MethodAsyncEventAlloc):
		a.last++
		a.async = int(a.last)
		binary.NativeEndian.PutUint64(c.Attr(uapi.AttrAsyncEventAllocFDHandle).Data[:], uint64(a.last))
	case c.Is(uapi.ObjectCQ, uapi.MethodCQCreate):
		a.createCQ(c)
	case c.Is(uapi.ObjectSRQ, uapi.MethodSRQCreate):
		a.createSRQ(c)
	case c.Is(uapi.ObjectQP, uapi.MethodQPCreate):
		a.createQP(c)
	case c.Is(uapi.ObjectMR, uapi.MethodRegDMABufMR):
		return unix.EOPNOTSUPP
	case len(c.Attrs) > 0:
		return a.destroy(uint32(c.Number(c.Attrs[0].ID)))
	}
	return nil
}

// destroy destroys the object with a handle.
func (a *Adapter) destroy(handle uint32) error {
	if !a.open[handle] {
		return unix.ENOENT
	}
	delete(a.open, handle)
	delete(a.cqs, handle)
	delete(a.srqs, handle)
	delete(a.qps, handle)
	delete(a.mrs, handle)
	delete(a.mws, handle)
	if a.Defect == FailedDestroy {
		return unix.EBUSY
	}
	return nil
}

// next returns a new object's handle.
func (a *Adapter) next() uint32 {
	a.last++
	a.open[a.last] = true
	return a.last
}

// share makes a ring available for a mapping.
func (a *Adapter) share(r *ring) uapi.RXEMMInfo {
	offset := int64(len(a.rings)+1) << 20
	a.rings[offset] = r
	return uapi.RXEMMInfo{Offset: uint64(offset), Size: uint32(len(r.memory))}
}

func (a *Adapter) createCQ(c Call) {
	handle := a.next()
	q := &cq{ring: newRing(input[uint32](c, uapi.AttrCreateCQCQE), 64), id: input[uint64](c, uapi.AttrCreateCQUserHandle)}
	if c.Attr(uapi.AttrCreateCQCompChannel) != nil {
		q.channel = int(c.Number(uapi.AttrCreateCQCompChannel))
	}
	a.cqs[handle] = q
	c.SetHandle(uapi.AttrCreateCQHandle, handle)
	c.Set(uapi.AttrCreateCQRespCQE, uapi.Bytes(new(q.capacity())))
	c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.RXECreateCQResp{MI: a.share(q.ring)}))
}

func (a *Adapter) createSRQ(c Call) {
	handle := a.next()
	sges := input[uint32](c, uapi.AttrCreateSRQMaxSGE)
	q := &srq{ring: receiveRing(input[uint32](c, uapi.AttrCreateSRQMaxWR), sges), id: input[uint64](c, uapi.AttrCreateSRQUserHandle)}
	a.srqs[handle] = q
	c.SetHandle(uapi.AttrCreateSRQHandle, handle)
	c.Set(uapi.AttrCreateSRQRespMaxWR, uapi.Bytes(new(q.capacity())))
	c.Set(uapi.AttrCreateSRQRespMaxSGE, uapi.Bytes(&sges))
	c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.RXECreateSRQResp{MI: a.share(q.ring)}))
}

func receiveRing(count, sges uint32) *ring {
	return newRing(count, uapi.RXERecvWQESize+sges*uapi.RXESGESize)
}

func (a *Adapter) createQP(c Call) {
	handle := a.next()
	limits := uapi.Decode[uapi.QPCap](c.Memory(uapi.AttrCreateQPCap))
	limits.MaxInline = max(limits.MaxInline, limits.MaxSendSGE*uapi.RXESGESize)
	q := &qp{
		number: handle + 0x1000, kind: uint32(c.Number(uapi.AttrCreateQPType)), pd: uint32(c.Number(uapi.AttrCreateQPPDHandle)),
		send: a.cqs[uint32(c.Number(uapi.AttrCreateQPSendCQHandle))], recv: a.cqs[uint32(c.Number(uapi.AttrCreateQPRecvCQHandle))],
		sq: newRing(limits.MaxSendWR, uapi.RXESendWQESize+limits.MaxInline), rq: receiveRing(limits.MaxRecvWR, limits.MaxRecvSGE),
	}
	if c.Attr(uapi.AttrCreateQPSRQHandle) != nil {
		q.shared = a.srqs[uint32(c.Number(uapi.AttrCreateQPSRQHandle))]
		q.rq = q.shared.ring
	}
	limits.MaxSendWR, limits.MaxRecvWR = q.sq.capacity(), q.rq.capacity()
	a.qps[handle] = q
	c.SetHandle(uapi.AttrCreateQPHandle, handle)
	c.Set(uapi.AttrCreateQPRespCap, uapi.Bytes(&limits))
	c.Set(uapi.AttrCreateQPRespQPNum, uapi.Bytes(&q.number))
	c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.RXECreateQPResp{SQMI: a.share(q.sq), RQMI: a.share(q.rq)}))
}

// input returns an input value.
func input[T any](c Call, id uint16) T { return uapi.Decode[T](c.Input(id)) }

// command executes a write(2) command.
func (a *Adapter) command(cmd uint64, c Call) error {
	core := c.Input(uapi.AttrCoreIn)
	handle := uint32(0)
	switch cmd {
	case uapi.CmdAllocPD, uapi.CmdCreateAH, uapi.CmdRegMR, uapi.CmdAllocMW:
		handle = a.next()
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&handle))
	}
	switch cmd {
	case uapi.CmdAllocPD:
	case uapi.CmdCreateAH:
		c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.RXECreateAHResp{AHNum: handle}))
	case uapi.CmdRegMR:
		r := uapi.Decode[uapi.RegMR](core)
		a.mrs[handle] = &region{r.PDHandle, handle << 8, r.HCAVA, r.Length, access(r.AccessFlags)}
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&uapi.RegMRResp{Handle: handle, LKey: handle << 8, RKey: handle << 8}))
	case uapi.CmdAllocMW:
		r := uapi.Decode[uapi.AllocMW](core)
		a.mws[handle] = &window{region: region{pd: r.PDHandle, key: handle << 8}, handle: handle}
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&uapi.AllocMWResp{Handle: handle, RKey: handle << 8}))
	case uapi.CmdCreateCompChannel:
		a.last++ // a file, which is closed without a request
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&uapi.CreateCompChannelResp{FD: a.last}))
	case uapi.CmdModifyQP:
		r := uapi.Decode[uapi.ModifyQP](core)
		a.modify(a.qps[r.QPHandle], &r)
	case uapi.CmdQueryQP:
		q := a.qps[uapi.Decode[uapi.QueryQP](core).QPHandle]
		state := q.state
		if a.Defect == WrongState {
			state = stateRTS
		}
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&uapi.QueryQPResp{State: state, CurState: state}))
	case uapi.CmdModifySRQ:
		r := uapi.Decode[uapi.ModifySRQ](core)
		a.srqs[r.SRQHandle].limit = r.SRQLimit
	default:
		return unix.EOPNOTSUPP
	}
	return nil
}
