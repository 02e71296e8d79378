package mad

import (
	"encoding/binary"
	"net/netip"
	"strconv"
)

// A GID is a global identifier in network byte order: that of a port, a subnet
// prefix with a GUID behind it, or that of a multicast group (InfiniBand
// Architecture, Volume 1, 4.1.1).
type GID [16]uint8

// MakeGID returns the GID of a port.
func MakeGID(prefix, guid uint64) GID {
	var g GID
	binary.BigEndian.PutUint64(g[:8], prefix)
	binary.BigEndian.PutUint64(g[8:], guid)
	return g
}

// Prefix returns the upper half, a port's subnet prefix.
func (g GID) Prefix() uint64 { return binary.BigEndian.Uint64(g[:8]) }

// GUID returns the lower half, a port's GUID.
func (g GID) GUID() uint64 { return binary.BigEndian.Uint64(g[8:]) }

// IsMulticast reports whether the GID is that of a multicast group.
func (g GID) IsMulticast() bool { return g[0] == 0xff }

// String writes the GID as an IPv6 address, for example "fe80::2:c903:fe:d671".
func (g GID) String() string { return netip.AddrFrom16(g).String() }

// MarshalText writes the GID in the form of [GID.String].
func (g GID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// asGID is the style of a GID.
var asGID = &arrayStyle{
	dump: func(b []byte, name string, v []uint64, _ int) []byte {
		return append(append(appendDotted(b, name), gidOf(v).String()...), '\n')
	},
	json: func(b []byte, v []uint64) []byte { return strconv.AppendQuote(b, gidOf(v).String()) },
}

func gidOf(v []uint64) (g GID) {
	for i := range g {
		g[i] = uint8(v[i])
	}
	return g
}
