package perftest

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// A Key identifies a queue pair and the memory that the peer may use.
type Key struct {
	LID      uint16 // 0 on Ethernet
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
		LID: uint16(values[0]), OutReads: uint32(values[1]), QPN: uint32(values[2]), PSN: uint32(values[3]),
		RKey: uint32(values[4]), VAddr: values[5], SRQN: uint32(values[6]),
	}
	if withGID {
		k.GID = netip.AddrFrom16(gid)
	}
	return k, nil
}
