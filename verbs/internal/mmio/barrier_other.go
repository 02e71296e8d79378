//go:build !amd64 && !arm64 && !ppc64le && !riscv64 && !s390x

package mmio

// Available reports that the package knows the processor: false means that no provider of an
// adapter with registers can run.
const Available = false

// StoreBarrier is not implemented.
func StoreBarrier() {}

// DeviceBarrier is not implemented.
func DeviceBarrier() {}
