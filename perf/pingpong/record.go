// Package pingpong talks to the example programs of libibverbs: ibv_rc_pingpong,
// ibv_uc_pingpong, ibv_ud_pingpong and ibv_srq_pingpong tell each other over a TCP
// connection where their queue pairs are.
//
// Nothing is said of sizes, iterations or the MTU: both sides have to be started
// with the same. (rdma-core, libibverbs/examples.)
package pingpong

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
)

// Port is the TCP port that the programs listen on.
const Port = 18515

// QKey is that of the datagrams of ibv_ud_pingpong.
const QKey = 0x11111111

// A Record is where a queue pair is.
type Record struct {
	LID uint16     // 0 on Ethernet
	QPN uint32     // 24 bits
	PSN uint32     // 24 bits, of the first packet that it sends
	GID netip.Addr // the zero GID: packets go without a GRH
}

// Size is the length of a record as text, with the NUL that ends it.
const Size = len("0000:000000:000000:00000000000000000000000000000000") + 1

// Append adds the record as the programs write it.
func (r Record) Append(b []byte) []byte {
	gid := gid16(r.GID)
	b = fmt.Appendf(b, "%04x:%06x:%06x:", r.LID, r.QPN&0xffffff, r.PSN&0xffffff)
	b = hex.AppendEncode(b, gid[:])
	return append(b, 0)
}

// Parse reads a record of Size bytes.
func Parse(b []byte) (Record, error) {
	bad := func() (Record, error) {
		return Record{}, fmt.Errorf("parse record %.60q: it is not LID:QPN:PSN:GID of a pingpong program", b)
	}
	if len(b) != Size || b[4] != ':' || b[11] != ':' || b[18] != ':' || b[Size-1] != 0 {
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
	if _, err := hex.Decode(gid[:], b[19:Size-1]); err != nil {
		return bad()
	}
	return Record{LID: uint16(lid), QPN: uint32(qpn), PSN: uint32(psn), GID: netip.AddrFrom16(gid)}, nil
}

// NeedsGRH tells whether packets to the record's queue pair carry a GRH: the
// programs ask whether the lower half of the GID, its interface ID, is there.
func (r Record) NeedsGRH() bool {
	gid := gid16(r.GID)
	return [8]byte(gid[8:]) != [8]byte{}
}

// gid16 is As16 for the zero Addr too.
func gid16(a netip.Addr) [16]byte {
	if !a.IsValid() {
		return [16]byte{}
	}
	return a.As16()
}
