package mmio

import "sync/atomic"

// Available reports that the package knows the processor: false means that no provider of an
// adapter with registers can run.
const Available = true

// StoreBarrier orders earlier stores to memory before later stores, as the adapter sees
// them: the processor does, and the compiler keeps the store order.
func StoreBarrier() {}

// DeviceBarrier orders earlier stores before later stores to the adapter, and sends combined
// stores. An instruction with a lock waits until all earlier stores are done, and ends combining
// (Intel, Software Developer's Manual, volume 3, Strengthening or Weakening the
// Memory-Ordering Model; AMD, Software Optimization Guide 25112, table 12). SFENCE does the same,
// but Go reaches it through two calls.
func DeviceBarrier() {
	var unused uint32
	atomic.SwapUint32(&unused, 1)
}
