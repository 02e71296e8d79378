// Package perftest measures with the programs of perftest (ib_send_lat, ib_write_bw and
// others): it speaks the protocol over which they agree on a test.
//
// The protocol has neither headers nor lengths: both sides know the next message. Each
// exchange is in lockstep: the client writes and then reads a number of bytes, the
// server reads and then writes the same number. A program treats a short read as an
// error, so that each message must be a single write. The order of the exchanges
// depends on the test.
//
// The protocol is that of perftest's src/perftest_communication.c in versions 4.5-0.17
// (6.06 on the wire) and 26.04 (6.29).
package perftest

// Port is the default TCP port of the programs.
const Port = 18515

// qkey is the Q_Key of datagrams.
const qkey = 0x11111111

// HopLimit is the hop limit of all packets.
const HopLimit = 255

// Version is this side's protocol version: the last before programs began to compare
// their settings (6.28), in a message with a size that depends on their build. Both old
// and new programs accept it.
const Version = "6.27"

// oldest is the oldest version that the programs accept. newest is the newest version with
// a known protocol.
const (
	oldest = 5.70
	newest = 6.29
)
