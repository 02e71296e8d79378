// Package mlx5 tests the queues of mlx5 adapters in guests: the kernel module
// test/kmod/mlx5test simulates the adapter, and Debian's libmlx5 is the reference for its
// behaviour.
package mlx5
