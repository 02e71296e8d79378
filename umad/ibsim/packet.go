package ibsim

import (
	"encoding/binary"
	"syscall"

	"github.com/ibkit/ibkit/umad"
)

// Offsets in struct sim_request (ibsim, include/ibsim.h), which carries one MAD
// in either direction. Numbers are big-endian, but for the LIDs: those are two
// big-endian bytes in the low half of a word of the host.
const (
	offDLID   = 0
	offSLID   = 4
	offDQP    = 8
	offSQP    = 12
	offStatus = 16
	offLength = 24
	offMAD    = 32

	packetSize = offMAD + 256
)

// encodePacket writes the packet that carries m. What ibsim does not simulate
// is left out: service levels, P_Keys, path bits and global route headers. The
// server fills in the source LID.
func encodePacket(b *[packetSize]byte, m *umad.Message) {
	clear(b[:offMAD])
	putLID(b[offDLID:], m.Addr.LID)
	if m.Addr.LID == umad.PermissiveLID {
		putLID(b[offSLID:], umad.PermissiveLID)
	}
	binary.BigEndian.PutUint32(b[offDQP:], m.Addr.QPN)
	binary.BigEndian.PutUint32(b[offSQP:], m.Addr.QPN)
	binary.BigEndian.PutUint64(b[offLength:], uint64(len(m.MAD)))
	copy(b[offMAD:], m.MAD[:])
}

// decodePacket fills m from a packet and reports whether it was one.
func decodePacket(m *umad.Message, b []byte) bool {
	if len(b) != packetSize {
		return false
	}
	m.Addr = umad.Addr{LID: lid(b[offSLID:]), QPN: binary.BigEndian.Uint32(b[offSQP:])}
	if m.Addr.QPN != 0 {
		m.Addr.QKey = umad.QP1QKey
	}
	m.Timeout = 0
	m.Status = syscall.Errno(binary.BigEndian.Uint32(b[offStatus:]))
	copy(m.MAD[:], b[offMAD:])
	return true
}

// putLID stores htons(lid) as a uint32 of the host, as the C clients do.
func putLID(b []byte, lid uint16) {
	var be [2]byte
	binary.BigEndian.PutUint16(be[:], lid)
	binary.NativeEndian.PutUint32(b, uint32(binary.NativeEndian.Uint16(be[:])))
}

func lid(b []byte) uint16 {
	var be [2]byte
	binary.NativeEndian.PutUint16(be[:], uint16(binary.NativeEndian.Uint32(b)))
	return binary.BigEndian.Uint16(be[:])
}
