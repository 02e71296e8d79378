// Package dmamem has memory that devices read and write: mapped, outside of Go's
// heap, never moved and never given back behind a device's back.
package dmamem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrRegistered means that the memory is still a device's.
var ErrRegistered = errors.New("memory is still registered with a device")

// Options are where memory comes from. The zero value is pages of the usual size
// from anywhere.
type Options struct {
	// Huge takes huge pages of the size that the kernel has by default, from those
	// that the administrator set aside (vm.nr_hugepages). There being none is an
	// error.
	Huge bool

	// Node is the NUMA node to take pages of, nil for any. It is a preference:
	// where the node has none left, or a container may not choose, others serve.
	Node *int
}

// hugePageSize is the size of a huge page by default, in bytes: 2 MiB of most
// processors, but 512 MiB of those of arm64 with pages of 64 KiB, 1 MiB of s390x,
// and what the kernel's command line says.
var hugePageSize = sync.OnceValue(func() int {
	info, _ := os.ReadFile("/proc/meminfo") // as without huge pages
	for line := range strings.Lines(string(info)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "Hugepagesize: %d kB", &kib); n == 1 && kib > 0 {
			return kib << 10
		}
	}
	return 2 << 20
})

// HugePageSize is what memory of huge pages is rounded up to, in bytes.
func HugePageSize() int { return hugePageSize() }

// Memory is zero at first. Its size is rounded up to whole pages, but Bytes has
// the length that was asked for.
type Memory struct {
	lock    sync.Mutex
	mapping []byte
	length  int
	holds   int // registrations
	closed  bool
	cleanup runtime.Cleanup // unmaps memory that is dropped
	lent    bool            // Bytes was called: cleanup is stopped
}

// New maps memory, at least one byte. All pages are there when it returns.
func New(length int, o Options) (*Memory, error) {
	op := fmt.Sprintf("map %d bytes", length)
	if length <= 0 {
		return nil, fmt.Errorf("%s: %w", op, unix.EINVAL)
	}
	page, flags := unix.Getpagesize(), unix.MAP_PRIVATE|unix.MAP_ANON
	if o.Huge {
		page, flags = hugePageSize(), flags|unix.MAP_HUGETLB
	}
	size := (length + page - 1) &^ (page - 1)
	if size < length {
		return nil, fmt.Errorf("%s: %w", op, unix.ENOMEM)
	}
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		if o.Huge && errors.Is(err, unix.ENOMEM) {
			return nil, fmt.Errorf("%s: %w (no huge pages are left: see vm.nr_hugepages)", op, err)
		}
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if err := prepare(b, o); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", op, err), unix.Munmap(b))
	}
	m := &Memory{mapping: b, length: length}
	m.cleanup = runtime.AddCleanup(m, func(b []byte) { _ = unix.Munmap(b) }, b)
	return m, nil
}

// transparent is the least memory, in bytes, that most processors have a huge page
// within.
const transparent = 2 << 20

// prepare says where pages are to come from and takes them.
func prepare(b []byte, o Options) error {
	if o.Node != nil {
		if *o.Node < 0 || *o.Node >= maxNodes-1 {
			return fmt.Errorf("prefer NUMA node %d: %w", *o.Node, unix.EINVAL)
		}
		prefer(b, *o.Node)
	}
	if !o.Huge && len(b) >= transparent {
		// What the kernel can put together to huge pages costs a device fewer
		// entries. A kernel without them says EINVAL.
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
	// A child must not get a copy of a page that a device writes to.
	_ = unix.Madvise(b, unix.MADV_DONTFORK)
	err := unix.Madvise(b, unix.MADV_POPULATE_WRITE)
	if errors.Is(err, unix.EINVAL) { // Linux has it since 5.14
		for i := 0; i < len(b); i += unix.Getpagesize() {
			b[i] = 0
		}
		return nil
	}
	return err
}

// mpolPreferred is MPOL_PREFERRED of <linux/mempolicy.h>.
const mpolPreferred = 1

// maxNodes is how many NUMA nodes a mask holds here.
const maxNodes = 1024

// prefer sets the policy of pages to come. It comes to nothing in a kernel without
// NUMA, where the node is none of the cpuset's, and where a container's filter of
// system calls forbids it.
func prefer(b []byte, node int) {
	const word = 8 * unsafe.Sizeof(uintptr(0))
	var mask [maxNodes / word]uintptr
	mask[uintptr(node)/word] = 1 << (uintptr(node) % word)
	_, _, _ = unix.Syscall6(unix.SYS_MBIND, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		mpolPreferred, uintptr(unsafe.Pointer(&mask)), maxNodes, 0)
}

// Bytes returns the memory, nil after Close. What was returned before must not be
// used then: that is a fault, as with any memory that is not mapped.
func (m *Memory) Bytes() []byte {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.closed {
		return nil
	}
	if !m.lent {
		m.lent = true
		m.cleanup.Stop()
	}
	return m.mapping[:m.length:m.length]
}

// Len returns the length that was asked for, in bytes.
func (m *Memory) Len() int { return m.length }

// Addr returns the address of the first byte.
func (m *Memory) Addr() uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.mapping))))
}

// Hold keeps the memory from being closed until as many Releases.
func (m *Memory) Hold() error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.closed {
		return fmt.Errorf("register memory: %w", fs.ErrClosed)
	}
	m.holds++
	return nil
}

// Release takes a Hold back.
func (m *Memory) Release() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.holds--
}

// Close gives the memory back. While it is registered that is ErrRegistered; a
// second Close is an error.
func (m *Memory) Close() error {
	m.lock.Lock()
	defer m.lock.Unlock()
	switch {
	case m.closed:
		return fmt.Errorf("unmap memory: %w", fs.ErrClosed)
	case m.holds > 0:
		return fmt.Errorf("unmap memory: %w", ErrRegistered)
	}
	m.closed = true
	m.cleanup.Stop()
	return unix.Munmap(m.mapping)
}
