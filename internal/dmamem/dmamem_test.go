package dmamem

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
)

func TestMemory(t *testing.T) {
	page := os.Getpagesize()
	for _, length := range []int{1, page - 1, page, page + 1, transparent, transparent + 1} {
		t.Run(strconv.Itoa(length), func(t *testing.T) {
			m, err := New(length, Options{})
			if err != nil {
				t.Fatal(err)
			}
			b := m.Bytes()
			if len(b) != length || cap(b) != length || m.Len() != length || m.Addr()%uint64(page) != 0 || len(m.mapping)%page != 0 {
				t.Errorf("got length %d, capacity %d, address %#x, want %d on whole pages", len(b), cap(b), m.Addr(), length)
			}
			for i := range b {
				if b[i] != 0 {
					t.Fatalf("byte %d: got %d, want 0", i, b[i])
				}
			}
			b[length-1] = 1
			// All pages are allocated.
			resident := make([]byte, len(m.mapping)/page)
			if err := mincore(m.mapping, resident); err != nil {
				t.Error(err)
			}
			for i, there := range resident {
				if there&1 == 0 {
					t.Errorf("page %d: got no memory, want all pages allocated", i)
				}
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if b := m.Bytes(); b != nil {
				t.Errorf("after Close: got %d bytes, want nil", len(b))
			}
		})
	}
}

func TestMemoryRefused(t *testing.T) {
	for length, want := range map[int]error{0: unix.EINVAL, -1: unix.EINVAL, 1 << 62: unix.ENOMEM, 1<<63 - 1: unix.ENOMEM} {
		if _, err := New(length, Options{}); !errors.Is(err, want) {
			t.Errorf("%d bytes: got error %v, want %v", length, err, want)
		}
	}
	for _, node := range []int{-1, 1 << 20} {
		if _, err := New(1, Options{Node: &node}); !errors.Is(err, unix.EINVAL) {
			t.Errorf("node %d: got error %v, want %v", node, err, unix.EINVAL)
		}
	}
}

// Without reserved huge pages, the error names the setting that reserves them.
func TestHuge(t *testing.T) {
	m, err := New(1, Options{Huge: true})
	if err == nil {
		if len(m.mapping) != hugePageSize() || m.Addr()%uint64(hugePageSize()) != 0 || m.Len() != 1 {
			t.Errorf("got %d bytes at %#x, want one huge page of %d", len(m.mapping), m.Addr(), hugePageSize())
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	if errors.Is(err, unix.ENOMEM) && !strings.Contains(err.Error(), "vm.nr_hugepages") {
		t.Errorf("got error %v, want vm.nr_hugepages in it", err)
	}
}

// The node is a preference: a node that does not exist is no error.
func TestNode(t *testing.T) {
	for _, node := range []int{0, 1000} {
		m, err := New(4*transparent, Options{Node: &node})
		if err != nil {
			t.Fatal(err)
		}
		m.Bytes()[0] = 1
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestHold(t *testing.T) {
	m, err := New(1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := m.Hold(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := m.Close(); !errors.Is(err, ErrRegistered) {
			t.Errorf("Close of held memory: got error %v, want %v", err, ErrRegistered)
		}
		m.Release()
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := m.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second Close: got error %v, want %v", err, fs.ErrClosed)
	}
	if err := m.Hold(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Hold of closed memory: got error %v, want %v", err, fs.ErrClosed)
	}
}

// mincore stores in each byte's bit 0 whether a page is in memory.
func mincore(b, resident []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(unsafe.Pointer(unsafe.SliceData(resident))))
	if errno != 0 {
		return errno
	}
	return nil
}

// mark identifies a test's memory at its first address.
const mark = 0x6d61726b6d61726b

// marked reports whether a test's memory is still at an address. Another mapping
// can take unmapped memory's place.
func marked(t *testing.T, addr uint64) bool {
	t.Helper()
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	var b [8]byte
	if _, err := memory.ReadAt(b[:], int64(addr)); err != nil {
		return false
	}
	return binary.NativeEndian.Uint64(b[:]) == mark
}

// Memory that is dropped is unmapped, unless a slice into it may be in use.
func TestMemory_Forgotten(t *testing.T) {
	const size = 64 << 20
	m, err := New(size, Options{})
	if err != nil {
		t.Fatal(err)
	}
	kept := m.Bytes()
	binary.NativeEndian.PutUint64(kept, mark)
	collected := make(chan struct{})
	runtime.AddCleanup(m, func(c chan struct{}) { close(c) }, collected)
	dropped := dropMemory(t, size)
	testenv.Await(t, "end of the mapping of memory without slices", func() bool { runtime.GC(); return !marked(t, dropped) })
	testenv.Receive(t, "collection of memory with a slice", collected)
	kept[size-1] = 1
	if !marked(t, uint64(uintptr(unsafe.Pointer(&kept[0])))) {
		t.Error("memory with a slice: got it unmapped")
	}
	if err := unix.Munmap(kept); err != nil {
		t.Error(err)
	}
}

func dropMemory(t *testing.T, size int) (addr uint64) {
	m, err := New(size, Options{})
	if err != nil {
		t.Fatal(err)
	}
	binary.NativeEndian.PutUint64(m.mapping, mark)
	return m.Addr()
}
