// Package lldp receives LLDP frames (IEEE 802.1AB), in which a switch or another neighbour of
// a network device describes itself.
package lldp

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/ibkit/ibkit/internal/dcbnl"
)

// A Neighbour is the other end of a network device's cable. Pointers and slices are nil for
// values that it does not send.
type Neighbour struct {
	Chassis         string  `json:"chassis_id"`       // MAC address, or another name
	Port            string  `json:"port_id"`          // for example "Ethernet1/3"
	PortDescription *string `json:"port_description"` //
	System          *string `json:"system"`           // host name
	PFC             []int   `json:"pfc"`              // priorities with flow control
	MaxFrame        *uint16 `json:"max_frame"`        // in bytes
}

// TLV types, and subtypes of organizations.
const (
	typeEnd             = 0
	typeChassis         = 1
	typePort            = 2
	typePortDescription = 4
	typeSystem          = 5
	typeOrganization    = 127

	headerSize = 2
	orgSize    = 4 // organization and subtype

	flowControl = 0x0080c2_0b // IEEE 802.1Qbb
	maxFrame    = 0x00120f_04 // IEEE 802.3
)

// Parse parses the TLVs of a frame, without its Ethernet header.
func Parse(b []byte) (*Neighbour, error) {
	n := &Neighbour{}
	for i := 0; ; i++ {
		if len(b) < headerSize {
			return nil, fmt.Errorf("parse LLDP frame: got %d bytes, want an end", len(b))
		}
		head := binary.BigEndian.Uint16(b)
		kind, size := head>>9, int(head&0x1ff)
		if len(b) < headerSize+size {
			return nil, fmt.Errorf("parse LLDP frame: TLV %d has %d bytes, want %d", kind, len(b)-headerSize, size)
		}
		value := b[headerSize : headerSize+size]
		b = b[headerSize+size:]
		if kind == typeEnd {
			break
		}
		n.set(kind, value)
	}
	if n.Chassis == "" || n.Port == "" {
		return nil, fmt.Errorf("parse LLDP frame: got chassis %q and port %q", n.Chassis, n.Port)
	}
	return n, nil
}

// set sets the value of a TLV. TLVs of other types are ignored.
func (n *Neighbour) set(kind uint16, value []byte) {
	switch {
	case kind == typeChassis && n.Chassis == "":
		n.Chassis = identifier(value, 4, 5)
	case kind == typePort && n.Port == "":
		n.Port = identifier(value, 3, 4)
	case kind == typePortDescription:
		n.PortDescription = new(text(value))
	case kind == typeSystem:
		n.System = new(text(value))
	case kind == typeOrganization && len(value) >= orgSize:
		switch data := value[orgSize:]; binary.BigEndian.Uint32(value) {
		case flowControl:
			if len(data) >= 2 {
				n.PFC = dcbnl.PrioritiesIn(data[1])
			}
		case maxFrame:
			if len(data) >= 2 {
				n.MaxFrame = new(binary.BigEndian.Uint16(data))
			}
		}
	}
}

// identifier formats a chassis or a port, given the subtypes for a MAC and a network address.
func identifier(value []byte, mac, network byte) string {
	const ipv4, ipv6 = 1, 2 // address families
	if len(value) < 2 {
		return ""
	}
	switch id := value[1:]; {
	case value[0] == mac && len(id) == 6:
		return net.HardwareAddr(id).String()
	case value[0] == network && (id[0] == ipv4 || id[0] == ipv6):
		if a, ok := netip.AddrFromSlice(id[1:]); ok {
			return a.String()
		}
		return fmt.Sprintf("%x", id)
	default:
		return text(id)
	}
}

// text returns a text without the zeros at its end.
func text(b []byte) string { return strings.TrimRight(string(b), "\x00") }
