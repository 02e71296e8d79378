// Package perf measures the latency and bandwidth of RDMA sends, writes, reads and
// atomics between two hosts.
//
// [Serve] serves any test of many clients. [Run] is the client and selects the tests.
// They negotiate each [Test] over TCP, in JSON messages (see message), and then run the
// loops of package loop on endpoints of their own. [RunPeer] measures with programs of
// perftest and libibverbs instead, whose protocols are in packages perftest and
// pingpong.
//
// Each side represents a test by a role, which derives the resources from the Test; an
// endpointTest, which lasts from the endpoint to the figures; and a runner, which moves
// the data. Client and session (on the server) control them.
package perf

// Port is the default TCP port of the server.
const Port = 18516
