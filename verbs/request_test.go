package verbs

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
)

// catch records the last request and responds with answer.
type catch struct {
	linux
	request []byte
	answer  func(request []byte)
}

func (c *catch) Ioctl(_ int, request []byte) error {
	c.request = bytes.Clone(request)
	if c.answer != nil {
		c.answer(request)
	}
	return nil
}

// The bytes follow <rdma/rdma_user_ioctl_cmds.h>, written by hand.
func TestRequestBytes(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("requires a little-endian machine")
	}
	long := []byte("sixteen bytes...")
	r := newRequest("test", uapi.ObjectQP, uapi.MethodQPCreate)
	r.constant(0x01, 0x1122334455667788)
	r.in(0x02, []byte{1, 2, 3, 4})
	r.in(0x03, long)
	r.optional()
	r.flags32(0x04, 0xa0b0c0d0)
	r.handle(0x05, 7)
	r.fd(0x06, 9)
	r.in(0x07, nil)
	r.out(0x1001, long[:4])
	var k catch
	if err := r.do(&k, 3, DriverMLX5); err != nil {
		t.Fatal(err)
	}
	at := func(b []byte) []byte {
		return binary.NativeEndian.AppendUint64(nil, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))))
	}
	want := bytes.Join([][]byte{
		{136, 0, 4, 0, 0, 0, 7, 0}, make([]byte, 8), {1, 0, 0, 0, 0, 0, 0, 0},
		{1, 0, 8, 0, 1, 0, 0, 0}, {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11},
		{2, 0, 4, 0, 1, 0, 0, 0}, {1, 2, 3, 4, 0, 0, 0, 0},
		{3, 0, 16, 0, 0, 0, 0, 0}, at(long),
		{4, 0, 4, 0, 1, 0, 0, 0}, {0xd0, 0xc0, 0xb0, 0xa0, 0, 0, 0, 0},
		{5, 0, 0, 0, 1, 0, 0, 0}, {7, 0, 0, 0, 0, 0, 0, 0},
		{6, 0, 0, 0, 1, 0, 0, 0}, {9, 0, 0, 0, 0, 0, 0, 0},
		{1, 0x10, 4, 0, 1, 0, 0, 0}, at(long),
	}, nil)
	if !bytes.Equal(k.request, want) {
		t.Errorf("got\n% x, want\n% x", k.request, want)
	}
}

func TestCreatedHandle(t *testing.T) {
	r := newRequest("test", uapi.ObjectAsyncEvent, uapi.MethodAsyncEventAlloc)
	fd := r.fd(0, 0)
	k := catch{answer: func(b []byte) { b[24+8] = 42 }}
	if err := r.do(&k, 3, DriverRXE); err != nil {
		t.Fatal(err)
	}
	if createdHandle(fd) != 42 {
		t.Errorf("got %d, want 42", createdHandle(fd))
	}
}

// A buffer that is too long is an error before the call.
func TestRequestTooLong(t *testing.T) {
	r := newRequest("do something", 0, 0)
	r.out(0, make([]byte, 1<<16))
	r.in(1, make([]byte, 1<<17))
	var k catch
	err := r.do(&k, 3, DriverRXE)
	if err == nil || !strings.HasPrefix(err.Error(), "do something: buffer of 65536 bytes") {
		t.Errorf("got error %v, want the length of the buffer", err)
	}
	if k.request != nil {
		t.Errorf("got request % x, want none", k.request)
	}
}
