package verbs

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// optionalAccess are the rights that a driver may ignore (IB_UVERBS_ACCESS_OPTIONAL_RANGE).
const optionalAccess Access = 0x3ff00000

// An MR is a memory region: memory that is registered with a device.
type MR struct {
	object
	memory     *dmamem.Memory // nil for a dma-buf
	addr       uint64
	length     uint64
	lkey, rkey uint32
}

// RegisterMR registers memory with the device. The memory cannot be closed before
// the region. Locked memory is limited: see LimitError.
//
// Only Memory can be registered. A device would keep writing to
// Go heap memory after the collector has reused it.
func (pd *PD) RegisterMR(m *Memory, access Access) (*MR, error) {
	if m == nil {
		return nil, fmt.Errorf("register memory with %s: no memory: %w", pd.context.name, unix.EINVAL)
	}
	if err := m.pages.Hold(); err != nil {
		return nil, err
	}
	mr, err := pd.register(m.pages, access)
	if err != nil {
		m.pages.Release()
	}
	return mr, err
}

func (pd *PD) register(m *dmamem.Memory, access Access) (*MR, error) {
	op := fmt.Sprintf("register %d bytes", m.Len())
	if !pd.context.OptionalMRAccess() {
		access &^= optionalAccess
	}
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
	var in, out []byte
	if p, ok := pd.context.provider.(provider.Registrar); ok {
		in, out = p.RegisterMR()
	}
	if err := mr.invoke(op, uapi.CmdRegMR, uapi.Bytes(&core), uapi.Bytes(&resp), in, out); err != nil {
		return nil, mr.fail(noop, pd.context.memoryLimit(mr.length, err))
	}
	mr.handle, mr.lkey, mr.rkey = resp.Handle, resp.LKey, resp.RKey
	return register(&mr.object, mr), nil
}

// checkAccess rejects the right combinations that the kernel rejects
// (ib_check_mr_access), and returns the reason.
func checkAccess(access Access) error {
	if access&(AccessRemoteWrite|AccessRemoteAtomic) != 0 && access&AccessLocalWrite == 0 {
		return fmt.Errorf("%w: access remote write or atomic requires local write", unix.EINVAL)
	}
	return nil
}

// LKey returns the region's key for SGEs.
func (mr *MR) LKey() uint32 { return mr.lkey }

// RKey returns the region's key for the peer.
func (mr *MR) RKey() uint32 { return mr.rkey }

// Addr returns the first byte's address, which the peer uses too.
func (mr *MR) Addr() uint64 { return mr.addr }

// Len returns the region length in bytes.
func (mr *MR) Len() uint64 { return mr.length }

// Bytes returns the region's memory, or nil for a dma-buf.
func (mr *MR) Bytes() []byte {
	if mr.memory == nil {
		return nil
	}
	return mr.memory.Bytes()
}

// SGE returns the SGE for length bytes from an offset on. It panics if the region does not
// contain them, as a slice does. An SGE has at most 4 GiB less a byte: a work request with
// more fails.
func (mr *MR) SGE(offset, length int) SGE {
	if offset < 0 || length < 0 || uint64(offset) > mr.length || uint64(length) > mr.length-uint64(offset) {
		panic(fmt.Sprintf("verbs: SGE(%d, %d) of a memory region with %d bytes", offset, length, mr.length))
	}
	return SGE{Addr: mr.addr + uint64(offset), Length: uint32(min(uint64(length), math.MaxUint32)), LKey: mr.lkey}
}

// Close ends the registration. The memory stays mapped. A second Close returns
// fs.ErrClosed.
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
