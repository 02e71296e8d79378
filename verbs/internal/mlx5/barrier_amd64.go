package mlx5

import "unsafe"

const haveBarriers = true

// storeBarrier orders earlier stores to memory before later ones, as the adapter sees
// them: the processor does, and the compiler keeps the store order.
func storeBarrier() {}

// deviceBarrier orders earlier stores before later ones to the adapter, and sends combined
// stores. Write-combined stores need SFENCE for both.
func deviceBarrier()

// storeDevice stores 8 bytes in a register with one instruction.
//
//go:noinline
func storeDevice(p unsafe.Pointer, v uint64) { *(*uint64)(p) = v }

// doorbell stores a word in the doorbell record, after all earlier stores, then blocks or,
// with a size of 0, the first 8 bytes in a register, and sends what the processor has
// combined. It is one function in assembly because calls are a large part of the cost of
// posting one work request.
//
//go:noescape
func doorbell(record *uint32, word uint32, register unsafe.Pointer, first *block, size int)
