package mlx5

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const haveBarriers = true

// storeBarrier orders earlier stores to memory before later stores: the processor does.
func storeBarrier() {}

// deviceBarrier orders earlier stores before a system call, which does so itself.
func deviceBarrier() {}

// storeDevice writes 8 bytes to a register.
func storeDevice(p unsafe.Pointer, v uint64) { write(p, unsafe.Pointer(&v), unsafe.Sizeof(v)) }

// storeBlock stores a block in a register.
func storeBlock(p unsafe.Pointer, b *block) { write(p, unsafe.Pointer(b), unsafe.Sizeof(*b)) }

// plainRegisters is set by tests, whose registers are ordinary memory.
var plainRegisters bool

// write writes to a register. Stores do not reach PCI devices; the system call works on all
// machines and makes a single write from a block (s390_pci_mmio_write(2)). It fails only for an
// address that is not mapped.
func write(p, from unsafe.Pointer, size uintptr) {
	if plainRegisters {
		copy(unsafe.Slice((*byte)(p), size), unsafe.Slice((*byte)(from), size))
		return
	}
	_, _, _ = unix.RawSyscall(unix.SYS_S390_PCI_MMIO_WRITE, uintptr(p), uintptr(from), size)
}
