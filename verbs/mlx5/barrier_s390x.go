package mlx5

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const haveBarriers = true

// storeBarrier orders earlier stores to memory before later ones: the processor does.
func storeBarrier() {}

// deviceBarrier orders earlier stores before a system call, which does so itself.
func deviceBarrier() {}

// storeDevice writes 8 bytes to a register. Stores do not reach PCI devices; the system
// call works on all machines (s390_pci_mmio_write(2)). It fails only for an address that
// is not mapped.
func storeDevice(p unsafe.Pointer, v uint64) {
	_, _, _ = unix.RawSyscall(unix.SYS_S390_PCI_MMIO_WRITE, uintptr(p), uintptr(unsafe.Pointer(&v)), unsafe.Sizeof(v))
}

// storeBlock stores a block in a register.
func storeBlock(p unsafe.Pointer, b *block) {
	for i, v := range b {
		storeDevice(unsafe.Add(p, 8*i), v)
	}
}
