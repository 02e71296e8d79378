package verbs

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/dmamem"
)

// Rights. Remote writes and atomics want the local one too.
const (
	AccessLocalWrite      Access = 1 << 0
	AccessRemoteWrite     Access = 1 << 1
	AccessRemoteRead      Access = 1 << 2
	AccessRemoteAtomic    Access = 1 << 3
	AccessMWBind          Access = 1 << 4 // for memory windows
	AccessOnDemand        Access = 1 << 6
	AccessRelaxedOrdering Access = 1 << 20 // see Context.OptionalMRAccess
)

// A MR is a memory region: memory that a device may use.
type MR struct {
	object
	memory     *dmamem.Memory // nil for a dma-buf
	addr       uint64
	length     uint64
	lkey, rkey uint32
}

// RegisterMR lets the device use memory, which cannot be closed before the region
// is. Locked memory is limited: see LimitError.
//
// Only memory of package dmamem can be registered. A device that writes to Go's
// heap would go on writing there after the collector gave the memory to another.
func (pd *PD) RegisterMR(m *dmamem.Memory, access Access) (*MR, error) {
	if err := m.Hold(); err != nil {
		return nil, err
	}
	mr, err := pd.register(m, access)
	if err != nil {
		m.Release()
	}
	return mr, err
}

func (pd *PD) register(m *dmamem.Memory, access Access) (*MR, error) {
	op := fmt.Sprintf("register %d bytes", m.Len())
	if err := checkAccess(access); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", op, pd.context.name, err)
	}
	o, err := pd.context.newObject(op, uapi.ObjectMR, &pd.object)
	if err != nil {
		return nil, err
	}
	mr := &MR{object: o, memory: m, addr: m.Addr(), length: uint64(m.Len())}
	core := uapi.RegMR{
		Start: mr.addr, Length: mr.length, HCAVA: mr.addr, PDHandle: pd.handle, AccessFlags: uint32(access),
	}
	var resp uapi.RegMRResp
	if err := mr.invoke(op, uapi.CmdRegMR, bytesOf(&core), bytesOf(&resp), nil, nil); err != nil {
		return nil, mr.fail(nothing, pd.context.memoryLimit(mr.length, err))
	}
	mr.handle, mr.lkey, mr.rkey = resp.Handle, resp.LKey, resp.RKey
	return register(&mr.object, mr), nil
}

// RegisterDMABuf lets the device use memory of another device: length bytes from
// an offset of a dma-buf, which the device knows by addresses from iova on; the two
// agree within a page, else it is EINVAL. Linux has it since 5.12; few drivers do
// it, others are ErrUnsupported or ErrUnknownMethod.
func (pd *PD) RegisterDMABuf(fd int, offset, length, iova uint64, access Access) (*MR, error) {
	op := fmt.Sprintf("register %d bytes of a dma-buf", length)
	if err := checkAccess(access); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", op, pd.context.name, err)
	}
	o, err := pd.context.newObject(op, uapi.ObjectMR, &pd.object)
	if err != nil {
		return nil, err
	}
	mr := &MR{object: o, addr: iova, length: length}
	file := uint32(fd)
	r := newRequest(op, uapi.ObjectMR, uapi.MethodRegDMABufMR)
	handle := r.handle(uapi.AttrRegDMABufMRHandle, 0)
	r.handle(uapi.AttrRegDMABufMRPDHandle, pd.handle)
	r.in(uapi.AttrRegDMABufMROffset, bytesOf(&offset))
	r.in(uapi.AttrRegDMABufMRLength, bytesOf(&length))
	r.in(uapi.AttrRegDMABufMRIOVA, bytesOf(&iova))
	r.in(uapi.AttrRegDMABufMRFD, bytesOf(&file))
	r.flags32(uapi.AttrRegDMABufMRAccessFlags, uint32(access))
	r.out(uapi.AttrRegDMABufMRRespLKey, bytesOf(&mr.lkey))
	r.out(uapi.AttrRegDMABufMRRespRKey, bytesOf(&mr.rkey))
	if err := pd.context.call(r); err != nil {
		return nil, mr.fail(nothing, pd.context.limit("MRs", err))
	}
	mr.handle = uint32(createdHandle(handle))
	return register(&mr.object, mr), nil
}

// checkAccess refuses rights that the kernel would (ib_check_mr_access), and says
// why.
func checkAccess(access Access) error {
	if access&(AccessRemoteWrite|AccessRemoteAtomic) != 0 && access&AccessLocalWrite == 0 {
		return fmt.Errorf("%w: the access remote write or atomic needs local write too", unix.EINVAL)
	}
	return nil
}

// LKey is the region's key in SGEs.
func (mr *MR) LKey() uint32 { return mr.lkey }

// RKey is the region's key for the other side.
func (mr *MR) RKey() uint32 { return mr.rkey }

// Addr is the address of the first byte, for both sides.
func (mr *MR) Addr() uint64 { return mr.addr }

// Len is the region's length in bytes.
func (mr *MR) Len() uint64 { return mr.length }

// Bytes returns the region's memory, nil for a dma-buf.
func (mr *MR) Bytes() []byte {
	if mr.memory == nil {
		return nil
	}
	return mr.memory.Bytes()
}

// SGE returns length bytes from an offset on. What reaches past the region, or is
// longer than a message can be, fails with the work request that has it.
func (mr *MR) SGE(offset, length int) SGE {
	return SGE{Addr: mr.addr + uint64(offset), Length: uint32(min(uint64(length), math.MaxUint32)), LKey: mr.lkey}
}

// Close ends the registration. The memory stays. A second Close is an error.
func (mr *MR) Close() error {
	return mr.close(func() error {
		return mr.destroy(uapi.MethodMRDestroy, uapi.AttrDestroyMRHandle, 0, nil)
	}, func() error {
		if mr.memory != nil {
			mr.memory.Release()
		}
		return nil
	})
}
