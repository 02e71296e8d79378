package perftest

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
)

// A Key identifies a queue pair and the memory that the peer may use.
type Key struct {
	LID      ib.LID // 0 on Ethernet
	OutReads uint32 // reads and atomics in flight; 1 for other tests
	QPN      uint32 // 24 bits
	PSN      uint32 // 24 bits, of the first packet sent
	RKey     uint32
	VAddr    uint64     // of the memory
	GID      netip.Addr // invalid: LIDs only
	SRQN     uint32     // of XRC
}

// Sizes of keys as text with the final NUL.
const (
	sizeLID = len("0000:0000:000000:000000:00000000:0000000000000000:00000000") + 1
	sizeGID = len("0000:0000:000000:000000:00000000:0000000000000000:"+
		"00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00000000:") + 1
)

// size returns the size of a key with or without a GID.
func size(withGID bool) int {
	if withGID {
		return sizeGID
	}
	return sizeLID
}

// Append appends the key in the format of the programs.
func (k Key) Append(b []byte) []byte {
	b = fmt.Appendf(b, "%04x:%04x:%06x:%06x:%08x:%016x:", k.LID, k.OutReads&0xffff, k.QPN&0xffffff, k.PSN&0xffffff, k.RKey, k.VAddr)
	if !k.GID.IsValid() {
		return append(fmt.Appendf(b, "%08x", k.SRQN), 0)
	}
	for _, octet := range k.GID.As16() {
		b = fmt.Appendf(b, "%02x:", octet)
	}
	return append(fmt.Appendf(b, "%08x:", k.SRQN), 0)
}

// ParseKey parses a key with or without a GID.
func ParseKey(b []byte, withGID bool) (Key, error) {
	bad := fmt.Errorf("parse key %.120q: not in the format of perftest", b)
	if len(b) != size(withGID) || b[len(b)-1] != 0 {
		return Key{}, bad
	}
	fields := strings.Split(string(b[:len(b)-1]), ":")
	// Widths of LID, reads, QPN, PSN, RKey, address and SRQ. The octets of a GID come
	// before the SRQ, and an empty field comes after it.
	bits := []int{16, 16, 24, 24, 32, 64, 32}
	const octets = 16
	if withGID {
		if len(fields) != len(bits)+octets+1 || fields[len(fields)-1] != "" {
			return Key{}, bad
		}
	} else if len(fields) != len(bits) {
		return Key{}, bad
	}
	var gid [octets]byte
	if withGID {
		for i := range gid {
			v, err := strconv.ParseUint(fields[6+i], 16, 8)
			if err != nil {
				return Key{}, bad
			}
			gid[i] = byte(v)
		}
		fields = append(fields[:6:6], fields[6+octets])
	}
	values := make([]uint64, len(bits))
	for i := range values {
		v, err := strconv.ParseUint(fields[i], 16, bits[i])
		if err != nil {
			return Key{}, bad
		}
		values[i] = v
	}
	k := Key{
		LID: ib.LID(values[0]), OutReads: uint32(values[1]), QPN: uint32(values[2]), PSN: uint32(values[3]),
		RKey: uint32(values[4]), VAddr: values[5], SRQN: uint32(values[6]),
	}
	if withGID {
		k.GID = netip.AddrFrom16(gid)
	}
	return k, nil
}

// Sizes of binary keys: struct pingpong_dest of perftest's src/perftest_resources.h in
// version 4.5, and with the address of tail markers in version 26.04.
const (
	sizeBinary     = 56
	sizeBinaryTail = 64
)

// appendBinary appends the key in the format of connections of the connection manager.
// Numbers are in network byte order.
func (k Key) appendBinary(b []byte, tail bool) []byte {
	for _, v := range []uint32{uint32(k.LID), k.OutReads, k.QPN, k.PSN, k.RKey, 0} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	b = binary.BigEndian.AppendUint64(b, k.VAddr)
	if tail {
		b = binary.BigEndian.AppendUint64(b, 0)
	}
	var gid [16]byte
	if k.GID.IsValid() {
		gid = k.GID.As16()
	}
	b = append(b, gid[:]...)
	b = binary.BigEndian.AppendUint32(b, k.SRQN)
	return binary.BigEndian.AppendUint32(b, 0) // index of the GID
}

// parseBinaryKey parses a key of the connection manager.
func parseBinaryKey(b []byte, tail, withGID bool) (Key, error) {
	want := sizeBinary
	if tail {
		want = sizeBinaryTail
	}
	if len(b) != want {
		return Key{}, fmt.Errorf("parse key: got %d bytes, want %d", len(b), want)
	}
	number := binary.BigEndian.Uint32
	k := Key{
		OutReads: number(b[4:]), QPN: number(b[8:]), PSN: number(b[12:]), RKey: number(b[16:]),
		VAddr: binary.BigEndian.Uint64(b[24:]), SRQN: number(b[want-8:]),
	}
	lid := number(b)
	if lid > 0xffff || k.OutReads > 0xffff || k.QPN > 0xffffff || k.PSN > 0xffffff {
		return Key{}, fmt.Errorf("parse key %x: a number is out of range", b)
	}
	k.LID = ib.LID(lid)
	if withGID {
		k.GID = netip.AddrFrom16([16]byte(b[want-24:]))
	}
	return k, nil
}
