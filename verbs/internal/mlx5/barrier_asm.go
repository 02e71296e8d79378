//go:build arm64 || ppc64le || riscv64

package mlx5

import "unsafe"

const haveBarriers = true

// storeBarrier orders earlier stores to memory before later stores, as the adapter sees
// them.
func storeBarrier()

// deviceBarrier orders earlier stores before later stores to the adapter, and sends combined
// stores.
func deviceBarrier()

// storeDevice stores 8 bytes in a register with a single instruction.
//
//go:noinline
func storeDevice(p unsafe.Pointer, v uint64) { *(*uint64)(p) = v }

// storeBlock stores a block in a register, 8 bytes at a time.
//
//go:noinline
func storeBlock(p unsafe.Pointer, b *block) {
	to := (*block)(p)
	to[0], to[1], to[2], to[3] = b[0], b[1], b[2], b[3]
	to[4], to[5], to[6], to[7] = b[4], b[5], b[6], b[7]
}
