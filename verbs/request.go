package verbs

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
)

// maxAttrs exceeds every method's attribute count.
const maxAttrs = 16

// A request is a call to an object's method: a header, attributes and the memory
// that they point to. It can be sent once.
type request struct {
	op    string // operation, for errors: "query port 1"
	frame struct {
		header uapi.UverbsHeader
		attrs  [maxAttrs]uapi.UverbsAttr
	}
	buffers [maxAttrs]*byte // memory that the attributes point to
	err     error           // the first error in building the request
}

// newRequest returns a request without attributes.
func newRequest(op string, object, method uint16) *request {
	r := &request{op: op}
	r.frame.header.Object = object
	r.frame.header.Method = method
	return r
}

// add appends an attribute and returns it. All attributes are mandatory: a kernel
// fails the request rather than ignore an attribute that it does not know.
func (r *request) add(id uint16) *uapi.UverbsAttr {
	a := &r.frame.attrs[r.frame.header.NumAttrs]
	r.frame.header.NumAttrs++
	a.ID, a.Flags = id, uapi.AttrMandatory
	return a
}

// optional makes the last attribute optional: a kernel that does not know it ignores
// it.
func (r *request) optional() {
	r.frame.attrs[r.frame.header.NumAttrs-1].Flags &^= uapi.AttrMandatory
}

// in adds bytes for the kernel to read: within the attribute if they fit, as the
// kernel expects, else by address. An empty slice adds no attribute.
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

// out adds bytes for the kernel to write, always by address. An empty slice adds no
// attribute.
func (r *request) out(id uint16, b []byte) {
	if len(b) == 0 {
		return
	}
	r.buffers[r.frame.header.NumAttrs] = unsafe.SliceData(b)
	r.add(id).Len = r.length(len(b))
}

// constant adds a number, for example a port or an enum value (CONST_IN).
func (r *request) constant(id uint16, v uint64) {
	a := r.add(id)
	a.Len = 8
	binary.NativeEndian.PutUint64(a.Data[:], v)
}

// flags32 adds 4-byte flags (FLAGS_IN).
func (r *request) flags32(id uint16, v uint32) {
	a := r.add(id)
	a.Len = 4
	binary.NativeEndian.PutUint32(a.Data[:], v)
}

// handle adds an existing object's handle, or 0 for an object that the kernel
// creates (IDR).
func (r *request) handle(id uint16, h uint32) *uapi.UverbsAttr {
	a := r.add(id)
	binary.NativeEndian.PutUint64(a.Data[:], uint64(h))
	return a
}

// fd adds an existing file, or 0 for a file that the kernel creates (FD).
func (r *request) fd(id uint16, fd int) *uapi.UverbsAttr {
	a := r.add(id)
	binary.NativeEndian.PutUint64(a.Data[:], uint64(fd))
	return a
}

// createdHandle returns the handle or file that the kernel has created. The kernel
// writes it before the method runs, so it is valid only if the call succeeds.
func createdHandle(a *uapi.UverbsAttr) int {
	return int(int64(binary.NativeEndian.Uint64(a.Data[:])))
}

// length checks that a buffer length fits its field.
func (r *request) length(n int) uint16 {
	if n > math.MaxUint16 && r.err == nil {
		r.err = fmt.Errorf("%s: buffer of %d bytes is too long", r.op, n)
	}
	return uint16(n)
}

// do sends the request. The kernel may write to the request and its buffers until do
// returns.
func (r *request) do(k kernel, fd int, driver DriverID) error {
	if r.err != nil {
		return r.err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	return k.Ioctl(fd, r.prepare(&pins, driver))
}

// prepare returns the request's bytes. It pins them and the memory that they
// point to.
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
