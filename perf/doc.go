// Package perf measures latency and bandwidth between two hosts, by sends, writes,
// reads and atomics of RDMA.
//
// [Serve] serves any test of many clients; [Run] is the client and decides
// everything. Both talk over TCP about a [Test], in messages of JSON (see message),
// and then each runs one of the loops of package loop on an endpoint of its own.
// Packages perftest and pingpong know what other programs say instead: [RunPeer].
//
// On either side a test is a shape, what that side does and needs of a device; a
// side, from its endpoint to its figures; and a running, its loops while data moves.
// What says when is a client, or what the server has for one: served.
package perf

// Port is the TCP port that the server listens on.
const Port = 18516
