// Package perftest talks to the programs of perftest (ib_send_lat, ib_write_bw and
// their like) over the TCP connection by which they agree on a test.
//
// There are no headers and no lengths: both sides know what comes next. Each
// exchange is in step, the client writes and reads, the server reads and writes,
// the same number of bytes each. A side takes a short read for an error, so each
// message is one write. The protocol was read in perftest's
// src/perftest_communication.c, of the versions 4.5-0.17 (6.06 on the wire) and
// 26.04 (6.29).
//
// The order of the exchanges depends on the test, and is the caller's.
package perftest

// Port is the TCP port that the programs listen on.
const Port = 18515

// QKey is that of datagrams.
const QKey = 0x11111111

// HopLimit is that of all packets.
const HopLimit = 255

// Version is what this side says it speaks: the protocol before the programs began
// to compare their settings (6.28), whose size depends on how a program was built.
// With it old and new programs do the same.
const Version = "6.27"

// oldest is the version from which on programs talk to others.
const oldest = 5.70
