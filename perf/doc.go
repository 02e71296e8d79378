// Package perf measures latency and bandwidth between two hosts, by sends, writes,
// reads and atomics of RDMA.
//
// [Serve] serves any test of many clients; [Run] is the client and decides
// everything. Both talk over TCP about a [Test], in messages of JSON (see message),
// and then each runs one of the loops of package loop on an endpoint of its own.
// Packages perftest and pingpong know what other programs say instead.
package perf

// Port is the TCP port that the server listens on.
const Port = 18516
