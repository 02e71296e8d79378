package dcbnl

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/mdlayher/netlink"
)

// Sizes of structures.
const (
	etsSize    = 59 // struct ieee_ets
	bufferSize = 44 // struct dcbnl_buffer
)

// ETS is the schedule of the traffic classes (struct ieee_ets; IEEE 802.1Qaz).
type ETS struct {
	Willing   bool
	Classes   uint8             // count of traffic classes; 0: all
	Share     [Priorities]uint8 // percentage by traffic class, if its algorithm is ETS
	Algorithm [Priorities]Algorithm
	Class     [Priorities]uint8 // traffic class by priority
}

// An Algorithm selects the next packet of a traffic class (IEEE_8021QAZ_TSA_*).
type Algorithm uint8

// The algorithms.
const (
	Strict  Algorithm = 0
	Credit  Algorithm = 1
	Shared  Algorithm = 2
	Private Algorithm = 255
)

// String returns the algorithm as the program dcb prints it.
func (a Algorithm) String() string {
	switch a {
	case Strict:
		return "strict"
	case Credit:
		return "cbs"
	case Shared:
		return "ets"
	case Private:
		return "vendor"
	}
	return fmt.Sprintf("algorithm %d", uint8(a))
}

// parseETS parses struct ieee_ets: __u8 willing, ets_cap, cbs, tc_tx_bw[8], tc_rx_bw[8],
// tc_tsa[8], prio_tc[8] and recommendations.
func parseETS(b []byte) *ETS {
	e := &ETS{Willing: b[0] != 0, Classes: b[1]}
	for i := range Priorities {
		e.Share[i], e.Algorithm[i], e.Class[i] = b[3+i], Algorithm(b[19+i]), b[27+i]
	}
	return e
}

// Buffers are the receive buffers (struct dcbnl_buffer).
type Buffers struct {
	Buffer [Priorities]uint8  // buffer by priority
	Size   [Priorities]uint32 // in bytes, by buffer
	Total  uint32             // in bytes
}

// parseBuffers parses struct dcbnl_buffer: __u8 prio2buffer[8]; __u32 buffer_size[8],
// total_size, in host byte order.
func parseBuffers(b []byte) *Buffers {
	s := &Buffers{Total: binary.NativeEndian.Uint32(b[40:])}
	for i := range Priorities {
		s.Buffer[i], s.Size[i] = b[i], binary.NativeEndian.Uint32(b[8+4*i:])
	}
	return s
}

// DCBX is the agent that exchanges settings with the peer (DCB_CAP_DCBX_*).
type DCBX uint8

// Flags of DCBX.
const (
	ByHost     DCBX = 1 << iota // a program of the host
	ByFirmware                  // the adapter's firmware
	CEE
	IEEE
	Static // fixed settings
)

// String returns the flags as the program dcb prints them.
func (d DCBX) String() string {
	var names []string
	for i, name := range []string{"host", "lld-managed", "cee", "ieee", "static"} {
		if d>>i&1 == 1 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// selectors are packet fields by selector (dcb_app_sel).
var selectors = map[uint8]string{byType: "ethertype", 2: "stream-port", 3: "dgram-port", 4: "port", byDSCP: "dscp", 255: "pcp"}

// readTrust parses the trusted selectors, in their order.
func (p *Bridging) readTrust(ad *netlink.AttributeDecoder) error {
	p.Trust = []string{}
	for ad.Next() {
		if b := ad.Bytes(); len(b) > 0 && selectors[b[0]] != "" {
			p.Trust = append(p.Trust, selectors[b[0]])
		}
	}
	return ad.Err()
}
