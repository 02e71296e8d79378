// Package mlx5 tests mlx5 adapter queues in guests: the kernel module test/kmod/verbstest
// simulates the adapter, and Debian's libmlx5 is the reference for its behaviour.
package mlx5
