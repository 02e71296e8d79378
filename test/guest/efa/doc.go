// Package efa tests the queues of AWS's adapters in guests: the kernel module
// test/kmod/verbstest simulates the adapter with the efa ABI, and Debian's libefa is the
// reference for its behaviour.
package efa
