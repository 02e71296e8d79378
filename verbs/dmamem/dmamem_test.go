package dmamem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestMemory(t *testing.T) {
	page := os.Getpagesize()
	for _, length := range []int{1, page - 1, page, page + 1, transparent, transparent + 1} {
		m, err := New(length, Options{})
		if err != nil {
			t.Fatal(err)
		}
		b := m.Bytes()
		if len(b) != length || cap(b) != length || m.Len() != length || m.Addr()%uint64(page) != 0 || len(m.mapping)%page != 0 {
			t.Errorf("%d bytes: %d of %d at %#x", length, len(b), cap(b), m.Addr())
		}
		for i := range b {
			if b[i] != 0 {
				t.Fatalf("byte %d is %d", i, b[i])
			}
		}
		b[length-1] = 1
		// All pages are there.
		resident := make([]byte, len(m.mapping)/page)
		if err := mincore(m.mapping, resident); err != nil {
			t.Error(err)
		}
		for i, there := range resident {
			if there&1 == 0 {
				t.Errorf("page %d of %d bytes is not there", i, length)
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if b := m.Bytes(); b != nil {
			t.Errorf("%d bytes after Close", len(b))
		}
	}
}

func TestMemoryRefused(t *testing.T) {
	for length, want := range map[int]error{0: unix.EINVAL, -1: unix.EINVAL, 1 << 62: unix.ENOMEM, 1<<63 - 1: unix.ENOMEM} {
		if _, err := New(length, Options{}); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
	for _, node := range []int{-1, 1 << 20} {
		if _, err := New(1, Options{Node: &node}); !errors.Is(err, unix.EINVAL) {
			t.Errorf("node %d: %v", node, err)
		}
	}
}

// Where the administrator set no huge pages aside the error says what would.
func TestHuge(t *testing.T) {
	m, err := New(1, Options{Huge: true})
	if err == nil {
		if len(m.mapping) != hugePageSize() || m.Addr()%uint64(hugePageSize()) != 0 || m.Len() != 1 {
			t.Errorf("%d bytes at %#x", len(m.mapping), m.Addr())
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	if errors.Is(err, unix.ENOMEM) && !strings.Contains(err.Error(), "vm.nr_hugepages") {
		t.Error(err)
	}
}

// A node is a preference: one that is not there does no harm.
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
			t.Errorf("close what is held: %v", err)
		}
		m.Release()
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := m.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second close: %v", err)
	}
	if err := m.Hold(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("hold what is closed: %v", err)
	}
}

// mincore tells which pages are in memory, by bit 0 of a byte for each.
func mincore(b, resident []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(unsafe.Pointer(unsafe.SliceData(resident))))
	if errno != 0 {
		return errno
	}
	return nil
}

// mapped reports whether an address is in a mapping of this process.
func mapped(t *testing.T, addr uint64) bool {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err == nil && from <= addr && addr < to {
			return true
		}
	}
	return false
}

// Memory that is dropped is unmapped, unless a slice of it may be in use.
func TestMemory_Forgotten(t *testing.T) {
	const size = 64 << 20 // no other mapping takes its place
	m, err := New(size, Options{})
	if err != nil {
		t.Fatal(err)
	}
	kept := m.Bytes()
	collected := make(chan struct{})
	runtime.AddCleanup(m, func(c chan struct{}) { close(c) }, collected)
	dropped := dropMemory(t, size)
	for end := time.Now().Add(20 * time.Second); mapped(t, dropped); {
		if time.Now().After(end) {
			t.Fatal("memory without slices is still mapped after 20 s")
		}
		runtime.GC()
	}
	select {
	case <-collected:
	case <-time.After(20 * time.Second):
		t.Fatal("memory with a slice was not collected after 20 s")
	}
	kept[size-1] = 1
	if !mapped(t, uint64(uintptr(unsafe.Pointer(&kept[0])))) {
		t.Error("memory was unmapped while a slice of it is in use")
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
	return m.Addr()
}
