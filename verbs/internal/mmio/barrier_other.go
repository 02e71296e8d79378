//go:build !amd64 && !arm64 && !ppc64le && !riscv64 && !s390x

package mmio

// Available reports that the package knows the processor: false means that no provider of an
// adapter with registers can run.
const Available = false

// StoreBarrier has no effect: no provider runs on these processors.
func StoreBarrier() {}

// DeviceBarrier has no effect, either.
func DeviceBarrier() {}
