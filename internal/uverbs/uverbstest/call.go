// Package uverbstest has kernel test doubles for package verbs.
package uverbstest

import (
	"encoding/binary"
	"slices"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
)

// A Call is a request as the kernel sees it.
type Call struct {
	t      *testing.T
	Header uapi.UverbsHeader
	Attrs  []*uapi.UverbsAttr
	Probe  bool // the attributes are unreadable
}

// Parse parses an ioctl request, and checks the lengths.
func Parse(t *testing.T, request []byte) Call {
	t.Helper()
	c := Call{t: t, Header: uapi.Decode[uapi.UverbsHeader](request)}
	if want := uapi.UverbsHeaderSize + uapi.UverbsAttrSize*int(c.Header.NumAttrs); int(c.Header.Length) != want {
		t.Errorf("request with %d attributes: got length %d, want %d", c.Header.NumAttrs, c.Header.Length, want)
	}
	c.Probe = len(request) == uapi.UverbsHeaderSize && c.Header.NumAttrs > 0
	if c.Probe {
		return c
	}
	if len(request) != int(c.Header.Length) {
		t.Errorf("got request of %d bytes, want %d", len(request), c.Header.Length)
	}
	for rest := request[uapi.UverbsHeaderSize:]; len(rest) > 0; rest = rest[uapi.UverbsAttrSize:] {
		c.Attrs = append(c.Attrs, (*uapi.UverbsAttr)(unsafe.Pointer(unsafe.SliceData(rest))))
	}
	return c
}

// Is reports whether the call is for a method.
func (c Call) Is(object, method uint16) bool {
	return c.Header.Object == object && c.Header.Method == method
}

// Command returns the command that INVOKE_WRITE carries.
func (c Call) Command() (uint64, bool) {
	if !c.Is(uapi.ObjectDevice, uapi.MethodInvokeWrite) || c.Probe {
		return 0, false
	}
	return c.Number(uapi.AttrWriteCmd), true
}

// Attr returns an attribute, or nil.
func (c Call) Attr(id uint16) *uapi.UverbsAttr {
	i := slices.IndexFunc(c.Attrs, func(a *uapi.UverbsAttr) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return c.Attrs[i]
}

// Number returns the value that an attribute contains.
func (c Call) Number(id uint16) uint64 {
	a := c.Attr(id)
	if a == nil {
		c.t.Errorf("got no attribute %#x", id)
		return 0
	}
	return binary.NativeEndian.Uint64(a.Data[:])
}

// Memory returns the memory that an attribute points to.
func (c Call) Memory(id uint16) []byte {
	a := c.Attr(id)
	if a == nil {
		c.t.Errorf("got no attribute %#x", id)
		return nil
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&a.Data)), a.Len)
}

// Input returns the input bytes, which an attribute with up to 8 bytes contains.
func (c Call) Input(id uint16) []byte {
	if a := c.Attr(id); a != nil && int(a.Len) <= len(a.Data) {
		return a.Data[:a.Len]
	}
	return c.Memory(id)
}

// Set writes an output.
func (c Call) Set(id uint16, b []byte) {
	if a := c.Attr(id); a != nil {
		copy(c.Memory(id), b)
		a.Flags |= uapi.AttrValidOutput
	}
}

// SetHandle writes a created object's handle.
func (c Call) SetHandle(id uint16, handle uint32) {
	if a := c.Attr(id); a != nil {
		binary.NativeEndian.PutUint64(a.Data[:], uint64(handle))
	}
}
