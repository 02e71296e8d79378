package main

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// recordSize is the size of struct ibtest_record (test/kmod/ibtest/ibtest.h). Each device
// read and each device write transfers a single record.
const recordSize = 336

// kind is enum ibtest_kind.
type kind uint32

const (
	sent   kind = 1 // a datagram that leaves the port
	query  kind = 2 // a request from this host to the port's agents
	caps   kind = 3 // capabilities that the host has added to the port
	toHost kind = 16
)

// To the kernel.
const (
	arrived  = toHost + iota // a datagram that arrives at the port
	answer                   // the reply to a query
	decline                  // no agent on the port answers the query
	portAttr                 // new port attributes
	nodeAttr                 // new device attributes
)

// record is struct ibtest_record. Integers are in host byte order; GUIDs and MADs are
// in wire byte order.
type record [recordSize]byte

// Field offsets.
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

// GID offsets in a global route header.
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

func (r *record) kind() kind        { return kind(r.u32(offKind)) }
func (r *record) port() uint32      { return r.u32(offPort) }
func (r *record) dlid() ib.LID      { return ib.LID(r.u16(offDLID)) }
func (r *record) destQP() uint32    { return r.u32(offDestQP) }
func (r *record) pkeyIndex() uint16 { return r.u16(offPKey) }
func (r *record) added() uint32     { return r.u32(offAdded) }
func (r *record) mad() *mad.Packet  { return (*mad.Packet)(r[offMAD:]) }

func (r *record) setCookieOf(q *record) { copy(r[offCookie:offUnion], q[offCookie:]) }

// arrival returns a sent datagram as the record that arrives at a port.
func (r *record) arrival(port uint32, p *mad.Packet) record {
	a := newRecord(arrived, port)
	copy(a[offUnion:], r[offUnion:])
	*a.mad() = *p
	return a
}

func (r *record) setLIDs(slid, dlid ib.LID) {
	binary.NativeEndian.PutUint16(r[offSLID:], uint16(slid))
	binary.NativeEndian.PutUint16(r[offDLID:], uint16(dlid))
}

// setQueuePairs sets both queue pairs of a datagram.
func (r *record) setQueuePairs(qpn uint32) {
	binary.NativeEndian.PutUint32(r[offSrcQP:], qpn)
	binary.NativeEndian.PutUint32(r[offDestQP:], qpn)
}

// turn swaps a datagram's source and destination.
func (r *record) turn() {
	r.setLIDs(ib.LID(r.u16(offDLID)), ib.LID(r.u16(offSLID)))
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
