// Package irdma tests the queues of Intel's adapters in guests: the kernel module
// test/kmod/verbstest simulates the adapter with the irdma ABI, and Debian's libirdma is the
// reference for its behaviour.
package irdma
