package mmio

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Available reports that the package knows the processor: false means that no provider of an
// adapter with registers can run.
const Available = true

// StoreBarrier orders earlier stores to memory before later stores: the processor does.
func StoreBarrier() {}

// DeviceBarrier orders earlier stores before a system call, which does so itself.
func DeviceBarrier() {}

// Store32 writes 4 bytes to a register.
func Store32(p unsafe.Pointer, v uint32) { write(p, unsafe.Pointer(&v), unsafe.Sizeof(v)) }

// Store64 writes 8 bytes to a register.
func Store64(p unsafe.Pointer, v uint64) { write(p, unsafe.Pointer(&v), unsafe.Sizeof(v)) }

// StoreBlock stores a block in a register.
func StoreBlock(p unsafe.Pointer, b *[8]uint64) { write(p, unsafe.Pointer(b), unsafe.Sizeof(*b)) }

// StoreWords stores a block's words in a register.
func StoreWords(p *[8]uint64, a, b, c, d, e, f, g, h uint64) {
	StoreBlock(unsafe.Pointer(p), &[8]uint64{a, b, c, d, e, f, g, h})
}

// PlainRegisters is set by tests, whose registers are ordinary memory.
var PlainRegisters bool

// write writes to a register. Stores do not reach PCI devices; the system call works on all
// machines and makes a single write from a block (s390_pci_mmio_write(2)). It fails only for an
// address that is not mapped.
func write(p, from unsafe.Pointer, size uintptr) {
	if PlainRegisters {
		copy(unsafe.Slice((*byte)(p), size), unsafe.Slice((*byte)(from), size))
		return
	}
	_, _, _ = unix.RawSyscall(unix.SYS_S390_PCI_MMIO_WRITE, uintptr(p), uintptr(from), size)
}
