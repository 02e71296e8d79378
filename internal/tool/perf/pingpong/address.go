// Package pingpong measures with the example programs of libibverbs: ibv_rc_pingpong,
// ibv_uc_pingpong, ibv_ud_pingpong, ibv_srq_pingpong and ibv_xsrq_pingpong, which exchange
// the addresses of their queue pairs over TCP.
//
// The protocol contains neither sizes, iterations nor MTU: both sides must be started
// with the same settings. (rdma-core, libibverbs/examples.)
package pingpong

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/ibkit/ibkit/ib"
)

// qkey is the Q_Key of ibv_ud_pingpong.
const qkey = 0x11111111

// An Address identifies a queue pair and its port.
type Address struct {
	LID ib.LID     // 0 on Ethernet
	QPN uint32     // 24 bits
	PSN uint32     // 24 bits, of the first packet sent
	GID netip.Addr // zero: packets have no GRH
}

// recordSize is the length of a record as text with the final NUL.
const recordSize = len("0000:000000:000000:00000000000000000000000000000000") + 1

// append appends the record in the format of the programs.
func (r Address) append(b []byte) []byte {
	gid := gid16(r.GID)
	b = fmt.Appendf(b, "%04x:%06x:%06x:", r.LID, r.QPN&0xffffff, r.PSN&0xffffff)
	b = hex.AppendEncode(b, gid[:])
	return append(b, 0)
}

// parseRecord parses a record of recordSize bytes.
func parseRecord(b []byte) (Address, error) {
	bad := func() (Address, error) {
		return Address{}, fmt.Errorf("the peer is not a pingpong program: it sent %.60q, want LID:QPN:PSN:GID", b)
	}
	if len(b) != recordSize || b[4] != ':' || b[11] != ':' || b[18] != ':' || b[recordSize-1] != 0 {
		return bad()
	}
	lid, err := strconv.ParseUint(string(b[:4]), 16, 16)
	if err != nil {
		return bad()
	}
	qpn, err := strconv.ParseUint(string(b[5:11]), 16, 24)
	if err != nil {
		return bad()
	}
	psn, err := strconv.ParseUint(string(b[12:18]), 16, 24)
	if err != nil {
		return bad()
	}
	var gid [16]byte
	if _, err := hex.Decode(gid[:], b[19:recordSize-1]); err != nil {
		return bad()
	}
	return Address{LID: ib.LID(lid), QPN: uint32(qpn), PSN: uint32(psn), GID: netip.AddrFrom16(gid)}, nil
}

// needsGRH reports whether packets to the queue pair carry a GRH. The programs check
// whether the lower half of the GID, its interface ID, is zero.
func (r Address) needsGRH() bool {
	gid := gid16(r.GID)
	return [8]byte(gid[8:]) != [8]byte{}
}

// gid16 is As16 for any Addr.
func gid16(a netip.Addr) [16]byte {
	if !a.IsValid() {
		return [16]byte{}
	}
	return a.As16()
}
