// Package bnxt tests the queues of Broadcom's adapters in guests: the kernel module
// test/kmod/verbstest simulates the adapter with the bnxt_re ABI, and Debian's libbnxt_re is the
// reference for its behaviour.
package bnxt
