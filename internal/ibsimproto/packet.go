// Package ibsimproto implements the datagrams and socket names in the protocol between
// ibsim, the linux-rdma fabric simulator, and its clients (ibsim: include/ibsim.h).
package ibsimproto

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/ib"
)

// Offsets in struct sim_request. Numbers are big-endian, except LIDs, which are two
// big-endian bytes in a word's low half in host byte order.
const (
	offDLID   = 0
	offSLID   = 4
	offDQP    = 8
	offSQP    = 12
	offStatus = 16
	offLength = 24
	offMAD    = 32
	madSize   = 256
)

// PacketSize is the datagram size in bytes on a data socket.
const PacketSize = offMAD + madSize

// StatusDropped is the status in a request that is returned without a reply: ETIMEDOUT on
// most architectures.
const StatusDropped = 110

// A Packet is struct sim_request: a MAD with source and destination.
type Packet [PacketSize]byte

// Reset clears everything except the MAD.
func (p *Packet) Reset() {
	clear(p[:offMAD])
	binary.BigEndian.PutUint64(p[offLength:], madSize)
}

// DLID returns the destination LID, 0xffff for a directed route.
func (p *Packet) DLID() ib.LID { return lid(p[offDLID:]) }

// SLID returns the source LID; 0 leaves it to the server to fill in.
func (p *Packet) SLID() ib.LID { return lid(p[offSLID:]) }

// DQP returns the destination queue pair.
func (p *Packet) DQP() uint32 { return binary.BigEndian.Uint32(p[offDQP:]) }

// SQP returns the source queue pair.
func (p *Packet) SQP() uint32 { return binary.BigEndian.Uint32(p[offSQP:]) }

// Status returns 0 or an error number.
func (p *Packet) Status() uint32 { return binary.BigEndian.Uint32(p[offStatus:]) }

// Length returns the MAD length in bytes. It is less than 256 for messages that do not
// contain a length, such as a subnet administration table.
func (p *Packet) Length() int {
	return int(min(binary.BigEndian.Uint64(p[offLength:]), madSize))
}

// SetLength sets the MAD length.
func (p *Packet) SetLength(n int) { binary.BigEndian.PutUint64(p[offLength:], uint64(n)) }

// MAD returns the 256 MAD bytes, in place.
func (p *Packet) MAD() []byte { return p[offMAD:] }

// SetLIDs sets the destination and the source LID.
func (p *Packet) SetLIDs(to, from ib.LID) {
	putLID(p[offDLID:], to)
	putLID(p[offSLID:], from)
}

// SetQueuePairs sets the destination and the source queue pair.
func (p *Packet) SetQueuePairs(to, from uint32) {
	binary.BigEndian.PutUint32(p[offDQP:], to)
	binary.BigEndian.PutUint32(p[offSQP:], from)
}

// SetStatus sets the error number, 0 for none.
func (p *Packet) SetStatus(errno uint32) { binary.BigEndian.PutUint32(p[offStatus:], errno) }

// putLID stores htons(lid) as a uint32 in host byte order, like the C programs.
func putLID(b []byte, lid ib.LID) {
	var be [2]byte
	binary.BigEndian.PutUint16(be[:], uint16(lid))
	binary.NativeEndian.PutUint32(b, uint32(binary.NativeEndian.Uint16(be[:])))
}

func lid(b []byte) ib.LID {
	var be [2]byte
	binary.NativeEndian.PutUint16(be[:], uint16(binary.NativeEndian.Uint32(b)))
	return ib.LID(binary.BigEndian.Uint16(be[:]))
}
