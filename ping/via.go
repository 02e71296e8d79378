// Package ping asks ports for a sign of life and keeps account of what came
// back, and how fast; and it answers those who ask so.
package ping

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// Class is the vendor class of OpenFabrics' ping (infiniband-diags, ibping.c).
const Class mad.Class = 0x32

// OUI is the one that ibping's packets carry unless told otherwise: that of the
// OpenIB Alliance.
const OUI = 0x001405

// Via says what answers a probe.
type Via uint8

// What can answer. All but a ping server are in every port of an InfiniBand
// fabric.
const (
	ViaVendor Via = iota // a ping server, as ibping -S
	ViaSMA               // the subnet management agent, asked for NodeInfo on QP0
	ViaPMA               // the performance management agent, asked for ClassPortInfo on QP1
)

var viaNames = [...]string{"vendor", "sma", "pma"}

// String returns the name that [ParseVia] reads.
func (v Via) String() string {
	if int(v) < len(viaNames) {
		return viaNames[v]
	}
	return fmt.Sprintf("Via(%d)", uint8(v))
}

// ParseVia reads "vendor", "sma" or "pma".
func ParseVia(s string) (Via, error) {
	for i, name := range viaNames {
		if s == name {
			return Via(i), nil
		}
	}
	return 0, fmt.Errorf("parse agent %q: neither vendor, sma nor pma", s)
}

// Offsets in a packet of the second range of vendor classes (InfiniBand
// Architecture, Volume 1, 16.5): a common header of 24 bytes, RMPP's of 12, a
// reserved byte, the OUI and the data.
const (
	offOUI  = 37
	offData = 40
)

func putOUI(b []byte, oui uint32) { b[0], b[1], b[2] = byte(oui>>16), byte(oui>>8), byte(oui) }

func ouiOf(p *mad.Packet) uint32 {
	return uint32(p[offOUI])<<16 | uint32(p[offOUI+1])<<8 | uint32(p[offOUI+2])
}
