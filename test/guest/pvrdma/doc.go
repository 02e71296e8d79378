// Package pvrdma tests VMware adapter queues in guests: the kernel module
// test/kmod/verbstest simulates the adapter with the vmw_pvrdma ABI, and Debian's
// libvmw_pvrdma is the reference for its behaviour.
package pvrdma
