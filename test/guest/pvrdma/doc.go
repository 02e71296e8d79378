// Package pvrdma tests the queues of VMware's adapter in guests: the kernel module
// test/kmod/mlx5test simulates the adapter with the ABI of vmw_pvrdma, and Debian's
// libvmw_pvrdma is the reference for its behaviour.
package pvrdma
