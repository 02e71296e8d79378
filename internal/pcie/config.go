package pcie

import (
	"encoding/binary"
	"fmt"
)

// configSize is the size of the extended configuration space. The kernel returns 64 bytes
// to users without CAP_SYS_ADMIN, and 256 bytes for functions without extended space.
const configSize = 4096

// A Config has the settings in a function's configuration space (PCI Express Base
// Specification 5.0, section 7.5; the comments have the names of lspci -vv). Pointers are nil
// for a capability that the function does not have, or that was not read.
type Config struct {
	// Restricted is true if only the header was read: the rest requires root.
	Restricted bool

	PortType *PortType

	MaxPayload      *int // DevCtl MaxPayload in bytes
	MaxReadRequest  *int // DevCtl MaxReadReq in bytes
	RelaxedOrdering *bool

	ACS *ACS
	ATS *bool // enabled
}

// A PortType is a PCI Express function's type (lspci: "Express ... Root Port").
type PortType uint8

// Port types.
const (
	Endpoint       PortType = 0
	RootPort       PortType = 4
	UpstreamPort   PortType = 5
	DownstreamPort PortType = 6
)

func (t PortType) String() string {
	switch t {
	case Endpoint, 1: // 1: legacy endpoint
		return "endpoint"
	case RootPort:
		return "root port"
	case UpstreamPort:
		return "switch upstream port"
	case DownstreamPort:
		return "switch downstream port"
	case 7, 8:
		return "bridge to PCI"
	case 9, 10:
		return "integrated in the root complex"
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// ACS has the bits of Access Control Services (ACSCtl) that send transfers between two
// functions through the root complex.
type ACS struct {
	RequestRedirect    bool // ReqRedir
	CompletionRedirect bool // CmpltRedir
}

// Redirects reports whether transfers between two functions below the bridge go through the
// root complex.
func (a *ACS) Redirects() bool { return a != nil && (a.RequestRedirect || a.CompletionRedirect) }

// Offsets in the configuration space, and capability IDs.
const (
	offsetStatus       = 0x06 // bit 4: capability list
	offsetCapabilities = 0x34
	headerSize         = 0x40
	extendedStart      = 0x100

	capabilityExpress = 0x10
	extendedACS       = 0x0d
	extendedATS       = 0x0f
)

// ParseConfig decodes a configuration space, of which b may be the beginning.
func ParseConfig(b []byte) *Config {
	c := &Config{Restricted: len(b) <= headerSize}
	if e := capability(b, capabilityExpress); e >= 0 && e+10 <= len(b) {
		flags, control := le16(b, e+2), le16(b, e+8)
		c.PortType = new(PortType(flags >> 4 & 15))
		c.MaxPayload, c.MaxReadRequest = payload(control>>5), payload(control>>12)
		c.RelaxedOrdering = new(control&0x10 != 0)
	}
	if a := extended(b, extendedACS); a >= 0 && a+8 <= len(b) {
		control := le16(b, a+6)
		c.ACS = &ACS{control&4 != 0, control&8 != 0}
	}
	if a := extended(b, extendedATS); a >= 0 && a+8 <= len(b) {
		c.ATS = new(le16(b, a+6)&0x8000 != 0)
	}
	return c
}

func le16(b []byte, at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }

// payload decodes a size of 3 bits: 128 bytes to 4096. The values 6 and 7 are reserved.
func payload(bits uint16) *int {
	if bits&7 > 5 {
		return nil
	}
	return new(128 << (bits & 7))
}

// capability returns the offset of a capability, or -1. A list that ends outside of the
// bytes, or that has a loop, does not have it.
func capability(b []byte, id byte) int {
	if len(b) <= headerSize || b[offsetStatus]&0x10 == 0 {
		return -1
	}
	at := int(b[offsetCapabilities] &^ 3)
	for range 48 { // capabilities have at least 4 bytes
		switch {
		case at < headerSize || at+2 > len(b):
			return -1
		case b[at] == id:
			return at
		}
		at = int(b[at+1] &^ 3)
	}
	return -1
}

// extended returns the offset of an extended capability, or -1.
func extended(b []byte, id uint16) int {
	at := extendedStart
	for range (configSize - extendedStart) / 8 {
		if at < extendedStart || at+4 > len(b) {
			return -1
		}
		header := binary.LittleEndian.Uint32(b[at:])
		switch {
		case header == 0 || header == 1<<32-1:
			return -1
		case uint16(header) == id:
			return at
		}
		at = int(header >> 20 &^ 3)
	}
	return -1
}
