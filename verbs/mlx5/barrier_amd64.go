package mlx5

import "unsafe"

const haveBarriers = true

// storeBarrier orders earlier stores to memory before later ones, as the adapter sees
// them: the processor does, and the compiler keeps the order of stores.
func storeBarrier() {}

// deviceBarrier orders earlier stores before later ones to the adapter, and sends combined
// stores. Write-combined stores need SFENCE for both.
func deviceBarrier()

// storeDevice stores 8 bytes in a register with one instruction.
//
//go:noinline
func storeDevice(p unsafe.Pointer, v uint64) { *(*uint64)(p) = v }
