package mlx5

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A page is a mapped doorbell register page (UAR, user access region).
type page struct {
	memory []byte
	id     uint32 // page number in commands
}

// A 4 KiB page's layout (mlx5dv.h, MLX5_CQ_DOORBELL; the kernel's
// <linux/mlx5/driver.h>, MLX5_BF_OFFSET).
const (
	pageSize   = 4096
	cqDoorbell = 0x20
	bfOffset   = 0x800

	// registersPerPage counts the registers that processes may use (MLX5_NON_FP_BFREGS_PER_UAR).
	registersPerPage = 2
)

// mapPage allocates and maps a page of a type from enum mlx5_ib_uapi_uar_alloc_type.
func (d *device) mapPage(kind uint64) (*page, error) {
	var handle, length, id uint32
	var offset uint64
	err := d.Call("allocate doorbell page", uapi.MLX5ObjectUAR, uapi.MLX5MethodUARAlloc,
		provider.Attr{ID: uapi.MLX5AttrUARHandle, Handle: &handle},
		provider.Attr{ID: uapi.MLX5AttrUARType, Constant: &kind},
		provider.Attr{ID: uapi.MLX5AttrUAROffset, Out: uapi.Bytes(&offset)},
		provider.Attr{ID: uapi.MLX5AttrUARLength, Out: uapi.Bytes(&length)},
		provider.Attr{ID: uapi.MLX5AttrUARPageID, Out: uapi.Bytes(&id)})
	if err != nil {
		return nil, err
	}
	// On processors with larger pages, the kernel maps a single larger page. The first 4
	// KiB are an adapter page, or the adapter has larger pages with the same layout.
	var memory []byte
	if length < pageSize || length%pageSize != 0 {
		err = fmt.Errorf("map doorbell page: got %d bytes, want a multiple of %d: %w", length, pageSize, provider.ErrCorrupt)
	} else {
		memory, err = d.Map(offset, int(length))
	}
	if err != nil {
		return nil, errors.Join(err, d.Call("free doorbell page", uapi.MLX5ObjectUAR, uapi.MLX5MethodUARDestroy,
			provider.Attr{ID: uapi.MLX5AttrUARDestroyHandle, Handle: &handle}))
	}
	return &page{memory, id}, nil
}

// commonPage returns the page for all completion queues.
func (d *device) commonPage() (*page, error) {
	d.pages.Lock()
	defer d.pages.Unlock()
	if d.common == nil {
		p, err := d.mapPage(uapi.MLX5UARTypeNC)
		if err != nil {
			return nil, err
		}
		d.common = p
	}
	return d.common, nil
}

// newRegister returns a register that no other queue pair uses.
func (d *device) newRegister() (register, error) {
	d.pages.Lock()
	defer d.pages.Unlock()
	if n := len(d.free); n > 0 {
		r := d.free[n-1]
		d.free = d.free[:n-1]
		return r, nil
	}
	kind, spacing, count := uint64(uapi.MLX5UARTypeBF), int(d.limits.BFRegSize), registersPerPage
	if spacing == 0 { // no write combining; a second register's place is unknown
		kind, count = uapi.MLX5UARTypeNC, 1
	}
	p, err := d.mapPage(kind)
	if err != nil {
		return register{}, err
	}
	d.mapped = append(d.mapped, p)
	at := func(i int) register {
		return register{page: p.id, half: spacing / 2, at: unsafe.Pointer(&p.memory[bfOffset+i*spacing])}
	}
	for i := 1; i < count; i++ {
		d.free = append(d.free, at(i))
	}
	return at(0), nil
}

// release makes a register available to other queue pairs.
func (d *device) release(r register) {
	d.pages.Lock()
	defer d.pages.Unlock()
	d.free = append(d.free, r)
}

// A register is a queue pair's doorbell register. A register with write combining has two
// halves, which are used in turn: the processor may still hold a store to the other half.
type register struct {
	page uint32
	at   unsafe.Pointer
	half int // half size in bytes, 0 without write combining
	next int // offset to the half to use
}

// ring publishes the posted block count in the doorbell record, then writes to the
// register: blocks from first (BlueFlame; the adapter does not read them from memory), or
// with size 0 only the first 8 bytes. The size is at most a half's size.
func (r *register) ring(record *uint32, posted uint32, first *block, size int) {
	doorbell(record, wire32(posted), unsafe.Add(r.at, r.next), first, size)
	r.next ^= r.half
}
