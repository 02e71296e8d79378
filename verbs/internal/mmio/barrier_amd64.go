package mmio

import "unsafe"

// Available reports that the package knows the processor: false means that no provider of an
// adapter with registers can run.
const Available = true

// StoreBarrier orders earlier stores to memory before later stores, as the adapter sees
// them: the processor does, and the compiler keeps the store order.
func StoreBarrier() {}

// DeviceBarrier orders earlier stores before later stores to the adapter, and sends combined
// stores. Write-combined stores need SFENCE for both.
func DeviceBarrier()

// FencedStore32 is Store32 after a DeviceBarrier.
func FencedStore32(p unsafe.Pointer, v uint32)
