// Package dmamem maps memory that devices read and write. It lies outside Go's
// heap, so the collector neither moves nor reuses it.
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

// ErrRegistered is returned by Close if the memory is registered with a device.
var ErrRegistered = errors.New("memory is still registered with a device")

// Options select the memory. The zero value means pages with the usual size on any
// NUMA node.
type Options struct {
	// Huge selects huge pages with the default size, which the administrator has to
	// reserve (vm.nr_hugepages). New fails if too few are free.
	Huge bool

	// Node is the preferred NUMA node, nil for any. If the node has no free memory,
	// or a container forbids the choice, the pages are from other nodes.
	Node *int
}

// hugePageSize returns a huge page's default size in bytes: 2 MiB on most
// processors, 512 MiB on arm64 with 64 KiB pages, 1 MiB on s390x, or the size on
// the kernel's command line.
var hugePageSize = sync.OnceValue(func() int {
	info, _ := os.ReadFile("/proc/meminfo") // without the file, the size below
	for line := range strings.Lines(string(info)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "Hugepagesize: %d kB", &kib); n == 1 && kib > 0 {
			return kib << 10
		}
	}
	return 2 << 20
})

// HugePageSize returns a huge page's size in bytes. The memory size on huge pages is
// rounded up to a multiple of it.
func HugePageSize() int { return hugePageSize() }

// Memory is a mapping with bytes that are initially zero. Its size is rounded up to
// whole pages, but Bytes has the requested length.
//
// The garbage collector unmaps Memory that is dropped without Close, but only if
// Bytes was never called, because it does not track slices into a mapping.
type Memory struct {
	lock    sync.Mutex
	mapping []byte
	length  int
	holds   int // registrations
	closed  bool
	cleanup runtime.Cleanup // unmaps Memory that is dropped
	lent    bool            // Bytes was called: cleanup is stopped
}

// New maps length bytes, at least 1. All pages are allocated when it returns.
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

// transparent is the huge page size on most processors in bytes. Shorter memory cannot
// contain a huge page.
const transparent = 2 << 20

// prepare sets the pages' policy and allocates them.
func prepare(b []byte, o Options) error {
	if o.Node != nil {
		if *o.Node < 0 || *o.Node >= maxNodes-1 {
			return fmt.Errorf("prefer NUMA node %d: %w", *o.Node, unix.EINVAL)
		}
		prefer(b, *o.Node)
	}
	if !o.Huge && len(b) >= transparent {
		// Transparent huge pages take fewer entries in the device's tables. A
		// kernel without them returns EINVAL.
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
	// A fork must not copy a page that a device writes to.
	_ = unix.Madvise(b, unix.MADV_DONTFORK)
	err := unix.Madvise(b, unix.MADV_POPULATE_WRITE)
	if errors.Is(err, unix.EINVAL) { // since Linux 5.14
		for i := 0; i < len(b); i += unix.Getpagesize() {
			b[i] = 0
		}
		return nil
	}
	return err
}

// mpolPreferred is MPOL_PREFERRED in <linux/mempolicy.h>.
const mpolPreferred = 1

// maxNodes is the NUMA node count in a node mask.
const maxNodes = 1024

// prefer sets the preferred node for pages that are not allocated yet. It has no
// effect in a kernel without NUMA, for a node outside the cpuset, and if a container's
// system call filter forbids it.
func prefer(b []byte, node int) {
	const word = 8 * unsafe.Sizeof(uintptr(0))
	var mask [maxNodes / word]uintptr
	mask[uintptr(node)/word] = 1 << (uintptr(node) % word)
	_, _, _ = unix.Syscall6(unix.SYS_MBIND, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		mpolPreferred, uintptr(unsafe.Pointer(&mask)), maxNodes, 0)
}

// Bytes returns the memory, or nil after Close. Slices are invalid after Close: an
// access is a fault.
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

// Len returns the requested length in bytes.
func (m *Memory) Len() int { return m.length }

// Addr returns the first byte's address.
func (m *Memory) Addr() uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.mapping))))
}

// Hold prevents Close until a matching Release call.
func (m *Memory) Hold() error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.closed {
		return fmt.Errorf("register memory: %w", fs.ErrClosed)
	}
	m.holds++
	return nil
}

// Release undoes a single Hold call.
func (m *Memory) Release() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.holds--
}

// Close unmaps the memory. It returns ErrRegistered while the memory is registered,
// and fs.ErrClosed if it is closed already.
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
