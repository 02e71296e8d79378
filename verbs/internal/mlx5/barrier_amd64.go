package mlx5

import "unsafe"

const haveBarriers = true

// storeBarrier orders earlier stores to memory before later stores, as the adapter sees
// them: the processor does, and the compiler keeps the store order.
func storeBarrier() {}

// deviceBarrier orders earlier stores before later stores to the adapter, and sends combined
// stores. Write-combined stores need SFENCE for both.
func deviceBarrier()

// storeDevice stores 8 bytes in a register with a single instruction.
//
//go:noinline
func storeDevice(p unsafe.Pointer, v uint64) { *(*uint64)(p) = v }

// doorbell stores a word in the doorbell record, after all earlier stores, then blocks or,
// with size 0, the first 8 bytes in a register, and sends what the processor has
// combined. It is a single function in assembly because calls are a large part in the cost
// to post a single work request.
//
//go:noescape
func doorbell(record *uint32, word uint32, register unsafe.Pointer, first *block, size int)
