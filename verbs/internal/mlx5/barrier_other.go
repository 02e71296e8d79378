//go:build !amd64 && !arm64 && !ppc64le && !riscv64 && !s390x

package mlx5

import "unsafe"

const haveBarriers = false

func storeBarrier() {}

func deviceBarrier() {}

func storeDevice(unsafe.Pointer, uint64) {}

func storeBlock(unsafe.Pointer, *block) {}
