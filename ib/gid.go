package ib

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// DefaultPrefix is the subnet prefix if the administrator assigned no other,
// and the prefix in link-local GIDs (InfiniBand Architecture, Volume 1, 4.1.1).
const DefaultPrefix uint64 = 0xfe80 << 48

// A GID is a global identifier in network byte order: a port's subnet prefix
// and GUID, a RoCE port's IP address, or a multicast group (InfiniBand
// Architecture, Volume 1, 4.1.1).
type GID [16]byte

// MakeGID returns a port's GID from its subnet prefix and GUID.
func MakeGID(prefix uint64, guid GUID) GID {
	var g GID
	binary.BigEndian.PutUint64(g[:8], prefix)
	binary.BigEndian.PutUint64(g[8:], uint64(guid))
	return g
}

// GIDFrom returns the GID with the same bytes as an IP address; an IPv4 address
// becomes ::ffff:a.b.c.d, the form that RoCE uses. The zone is dropped. The
// invalid address becomes the zero GID.
func GIDFrom(a netip.Addr) GID {
	if !a.IsValid() {
		return GID{}
	}
	return a.As16()
}

// ParseGID parses a GID in any IPv6 address text form without a zone.
func ParseGID(s string) (GID, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is6() || a.Zone() != "" {
		return GID{}, fmt.Errorf("parse GID %q: not an IPv6 address without zone", s)
	}
	return a.As16(), nil
}

// Prefix returns the upper half: the subnet prefix of a port's GID.
func (g GID) Prefix() uint64 { return binary.BigEndian.Uint64(g[:8]) }

// GUID returns the lower half: the GUID of a port's GID.
func (g GID) GUID() GUID { return GUID(binary.BigEndian.Uint64(g[8:])) }

// Addr returns the GID as an IPv6 address; see [netip.Addr.Unmap] for RoCE over
// IPv4.
func (g GID) Addr() netip.Addr { return netip.AddrFrom16(g) }

// IsMulticast reports whether the GID identifies a multicast group.
func (g GID) IsMulticast() bool { return g[0] == 0xff }

// IsZero reports whether all bits are 0, as in an unused GID table entry.
func (g GID) IsZero() bool { return g == GID{} }

// String returns the GID in IPv6 address text form, for example
// "fe80::2:c903:fe:d671".
func (g GID) String() string { return g.Addr().String() }

// AppendText appends the [GID.String] text to b. The error is always nil.
func (g GID) AppendText(b []byte) ([]byte, error) { return g.Addr().AppendTo(b), nil }

// MarshalText returns the [GID.String] text. The error is always nil.
func (g GID) MarshalText() ([]byte, error) { return g.AppendText(nil) }

// UnmarshalText parses the forms that [ParseGID] accepts.
func (g *GID) UnmarshalText(text []byte) (err error) {
	*g, err = ParseGID(string(text))
	return err
}
