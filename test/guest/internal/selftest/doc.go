// Package selftest runs ibkit perf --self-test in a guest.
package selftest
