package bnxt

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A toggle is a word of the driver that arming a queue repeats (Thor2): it changes with each
// event. The zero value is that of a driver without toggles.
type toggle struct {
	device *device
	page   []byte
}

// open maps the toggle of a queue.
func (t *toggle) open(d *device, kind uint64, number uint32) error {
	var object uint32
	var page [8]byte
	var length, offset [4]byte
	err := d.Call("get toggle", uapi.BNXTObjectToggle, uapi.BNXTMethodToggle,
		provider.Attr{ID: uapi.BNXTAttrToggle, Handle: &object},
		provider.Attr{ID: uapi.BNXTAttrToggleType, Constant: &kind},
		provider.Attr{ID: uapi.BNXTAttrToggleID, In: uapi.Bytes(&number)},
		provider.Attr{ID: uapi.BNXTAttrTogglePage, Out: page[:]},
		provider.Attr{ID: uapi.BNXTAttrToggleLength, Out: length[:]},
		provider.Attr{ID: uapi.BNXTAttrToggleOffset, Out: offset[:]})
	if err != nil {
		return err
	}
	size := binary.NativeEndian.Uint32(length[:])
	if size < 4 || size > maxPage {
		return fmt.Errorf("toggle in %d bytes: %w", size, provider.ErrCorrupt)
	}
	t.device = d
	t.page, err = d.MapRead(binary.NativeEndian.Uint64(page[:]), int(size))
	return err
}

// load returns the toggle as doorbells have it, in the index.
func (t *toggle) load() uint32 {
	if t.page == nil {
		return 0
	}
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&t.page[0]))) & toggleMask << bellToggle
}

// toggleMask are a toggle's bits (the kernel's roce_hsi.h, DBC_DBC_TOGGLE_MASK).
const toggleMask = 3

// close unmaps the toggle.
func (t *toggle) close() error {
	if t.page == nil {
		return nil
	}
	return t.device.Unmap(t.page)
}
