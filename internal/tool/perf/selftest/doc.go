// Package selftest checks that a device's queues work as the specification requires:
// every operation, size and error, over loopback between queue pairs of this process,
// with verified payloads and completions.
//
// [Run] runs all cases on a port and returns a [Report] for the maintainers of a
// provider, who do not have each adapter. It does not measure.
package selftest
