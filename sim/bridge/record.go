package bridge

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/mad"
)

// recordSize is that of struct ibtest_record (test/kmod/ibtest/ibtest.h): what
// one read of the device gives, and one write takes.
const recordSize = 336

// kind is enum ibtest_kind: what a record is about.
type kind uint32

const (
	sent   kind = 1 // a datagram that leaves the port
	query  kind = 2 // a request of this host to the port's own agents
	caps   kind = 3 // what the host has added to the port's capabilities
	toHost kind = 16
)

// To the kernel.
const (
	arrived  = toHost + iota // a datagram that comes in
	answer                   // the reply to a query
	decline                  // no agent of the port takes the query
	portAttr                 // what the port is like from now on
	nodeAttr                 // what the device is like from now on
)

// record is struct ibtest_record. Its numbers have the host's byte order, but
// for GUIDs and what is as on the wire.
type record [recordSize]byte

// Where the fields are.
const (
	offKind   = 0
	offPort   = 4
	offCookie = 8
	offUnion  = 16

	offDestQP = offUnion // struct ibtest_mad
	offSrcQP  = offUnion + 4
	offQKey   = offUnion + 8
	offSLID   = offUnion + 12
	offDLID   = offUnion + 14
	offPKey   = offUnion + 16
	offSL     = offUnion + 18
	offHasGRH = offUnion + 19
	offGRH    = offUnion + 20
	offMAD    = offUnion + 60

	offAdded = offUnion // struct ibtest_caps
)

// Where the GIDs are in a global route header.
const (
	offSGID = offGRH + 8
	offDGID = offGRH + 24
	gidSize = 16
)

func newRecord(k kind, port uint32) record {
	var r record
	binary.NativeEndian.PutUint32(r[offKind:], uint32(k))
	binary.NativeEndian.PutUint32(r[offPort:], port)
	return r
}

func (r *record) u16(at int) uint16 { return binary.NativeEndian.Uint16(r[at:]) }
func (r *record) u32(at int) uint32 { return binary.NativeEndian.Uint32(r[at:]) }

func (r *record) kind() kind       { return kind(r.u32(offKind)) }
func (r *record) port() uint32     { return r.u32(offPort) }
func (r *record) dlid() uint16     { return r.u16(offDLID) }
func (r *record) destQP() uint32   { return r.u32(offDestQP) }
func (r *record) added() uint32    { return r.u32(offAdded) }
func (r *record) mad() *mad.Packet { return (*mad.Packet)(r[offMAD:]) }

func (r *record) setCookieOf(q *record) { copy(r[offCookie:offUnion], q[offCookie:]) }

// arrival makes of a datagram that was sent one that arrives at a port.
func (r *record) arrival(port uint32, p *mad.Packet) record {
	a := newRecord(arrived, port)
	copy(a[offUnion:], r[offUnion:])
	*a.mad() = *p
	return a
}

func (r *record) setLIDs(slid, dlid uint16) {
	binary.NativeEndian.PutUint16(r[offSLID:], slid)
	binary.NativeEndian.PutUint16(r[offDLID:], dlid)
}

// turn makes a datagram go back to where it came from.
func (r *record) turn() {
	r.setLIDs(r.u16(offDLID), r.u16(offSLID))
	src, dest := r.u32(offSrcQP), r.u32(offDestQP)
	binary.NativeEndian.PutUint32(r[offSrcQP:], dest)
	binary.NativeEndian.PutUint32(r[offDestQP:], src)
	if r[offHasGRH] != 0 {
		var sgid [gidSize]byte
		copy(sgid[:], r[offSGID:])
		copy(r[offSGID:], r[offDGID:offDGID+gidSize])
		copy(r[offDGID:], sgid[:])
	}
}
