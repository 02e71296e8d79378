//go:build arm64 || ppc64le || riscv64

package mmio

// Available reports that the package knows the processor: false means that no provider of an
// adapter with registers can run.
const Available = true

// StoreBarrier orders earlier stores to memory before later stores, as the adapter sees
// them.
func StoreBarrier()

// DeviceBarrier orders earlier stores before later stores to the adapter, and sends combined
// stores.
func DeviceBarrier()
