package verbs

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
)

// maxAttrs is more than any method of the kernel has.
const maxAttrs = 24

// A request is a call of a method of an object: a header, attributes and the
// memory that they point to. It is good for one call.
type request struct {
	op    string // what the caller wanted, for errors: "query port 1"
	frame struct {
		header uapi.UverbsHeader
		attrs  [maxAttrs]uapi.UverbsAttr
	}
	buffers [maxAttrs]*byte // what the attributes point to
	err     error           // the first mistake in building it
}

// newRequest returns a request without attributes.
func newRequest(op string, object, method uint16) *request {
	r := &request{op: op}
	r.frame.header.Object = object
	r.frame.header.Method = method
	return r
}

// add appends an attribute and returns it. Each is mandatory: a kernel that does
// not know it says so instead of doing something else.
func (r *request) add(id uint16) *uapi.UverbsAttr {
	a := &r.frame.attrs[r.frame.header.NumAttrs]
	r.frame.header.NumAttrs++
	a.ID, a.Flags = id, uapi.AttrMandatory
	return a
}

// optional makes the attribute added last one that the kernel may not know.
func (r *request) optional() {
	r.frame.attrs[r.frame.header.NumAttrs-1].Flags &^= uapi.AttrMandatory
}

// in adds bytes for the kernel to read: within the attribute where they fit, as
// the kernel expects it, else by their address. No bytes are no attribute.
func (r *request) in(id uint16, b []byte) {
	if len(b) == 0 {
		return
	}
	if len(b) > len(uapi.UverbsAttr{}.Data) {
		r.out(id, b)
		return
	}
	a := r.add(id)
	a.Len = uint16(len(b))
	copy(a.Data[:], b)
}

// out adds bytes for the kernel to write, always by their address. No bytes are
// no attribute.
func (r *request) out(id uint16, b []byte) {
	if len(b) == 0 {
		return
	}
	r.buffers[r.frame.header.NumAttrs] = unsafe.SliceData(b)
	r.add(id).Len = r.length(len(b))
}

// constant adds a number, such as a port or an enum's value (CONST_IN).
func (r *request) constant(id uint16, v uint64) {
	a := r.add(id)
	a.Len = 8
	binary.NativeEndian.PutUint64(a.Data[:], v)
}

// flags32 adds flags of four bytes (FLAGS_IN).
func (r *request) flags32(id uint16, v uint32) {
	a := r.add(id)
	a.Len = 4
	binary.NativeEndian.PutUint32(a.Data[:], v)
}

// handle adds an object that exists, or, with 0, one for the kernel to make
// (IDR).
func (r *request) handle(id uint16, h uint32) *uapi.UverbsAttr {
	a := r.add(id)
	binary.NativeEndian.PutUint64(a.Data[:], uint64(h))
	return a
}

// fd adds a file that exists, or, with 0, one for the kernel to make (FD).
func (r *request) fd(id uint16, fd int) *uapi.UverbsAttr {
	a := r.add(id)
	binary.NativeEndian.PutUint64(a.Data[:], uint64(fd))
	return a
}

// made returns the file or the handle that the kernel made. It writes it before
// the method runs, so it means nothing unless the call succeeded.
func createdHandle(a *uapi.UverbsAttr) int {
	return int(int64(binary.NativeEndian.Uint64(a.Data[:])))
}

// length checks that a buffer's length fits its field.
func (r *request) length(n int) uint16 {
	if n > math.MaxUint16 && r.err == nil {
		r.err = fmt.Errorf("%s: a buffer of %d bytes is too long for the kernel", r.op, n)
	}
	return uint16(n)
}

// do sends the request. The request and its buffers are the kernel's to write
// until do returns.
func (r *request) do(k kernel, fd int, driver DriverID) error {
	if r.err != nil {
		return r.err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	return k.ioctl(fd, r.prepare(&pins, driver))
}

// prepare returns what the kernel gets, pinned with all that it points to.
func (r *request) prepare(pins *runtime.Pinner, driver DriverID) []byte {
	h := &r.frame.header
	h.Length = uapi.UverbsHeaderSize + uapi.UverbsAttrSize*h.NumAttrs
	h.Driver = uint32(driver)
	for i, p := range r.buffers[:h.NumAttrs] {
		if p != nil {
			pins.Pin(p)
			binary.NativeEndian.PutUint64(r.frame.attrs[i].Data[:], uint64(uintptr(unsafe.Pointer(p))))
		}
	}
	pins.Pin(&r.frame)
	return unsafe.Slice((*byte)(unsafe.Pointer(&r.frame)), h.Length)
}
