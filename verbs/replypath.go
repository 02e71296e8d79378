package verbs

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// GRHSize is the header size at a received datagram's start.
const GRHSize = 40

// replyHopLimit is the reply hop limit, as in libibverbs' ibv_init_ah_from_wc.
const replyHopLimit = 0xff

// ReplyPath returns the path to a datagram's sender: grh is the receive buffer's
// start, port the local port.
func (c *Context) ReplyPath(received Completion, grh []byte, port uint8) (Path, error) {
	p := Path{DLID: received.SLID, SL: received.SL, SrcPathBits: received.PathBits, Port: port}
	if received.Flags&CompletionGRH == 0 {
		return p, nil
	}
	from, to, err := decodeGRH(&p, grh)
	if err != nil {
		return Path{}, fmt.Errorf("find path to the sender of a datagram: %w", err)
	}
	table, err := c.GIDTable()
	if err != nil {
		return Path{}, err
	}
	p.DGID, p.HopLimit = from, replyHopLimit
	for _, g := range table {
		// RoCE v1 and v2 have the same GIDs. An IPv4 header means version 2.
		if g.Port == uint32(port) && g.GID == to && (!to.Is4In6() || g.Type == GIDTypeRoCEv2) {
			p.SGIDIndex = uint8(g.Index)
			return p, nil
		}
	}
	return Path{}, fmt.Errorf("find path to the sender of a datagram: no GID %v at port %d", to, port)
}

// decodeGRH sets a path's traffic class and flow label, and returns the sender and receiver
// GIDs. Soft-RoCE and adapters store the RoCE v2 IPv4 header
// in the last 20 bytes (InfiniBand Architecture, volume 1, annex A17.4.5.2).
func decodeGRH(p *Path, grh []byte) (from, to netip.Addr, err error) {
	if len(grh) < GRHSize {
		return from, to, fmt.Errorf("got %d bytes, want %d", len(grh), GRHSize)
	}
	switch ipv4 := grh[GRHSize-ipv4Size:]; {
	case isIPv4(ipv4, grh[0]>>4):
		p.TrafficClass = ipv4[1]
		mapped := func(b []byte) netip.Addr { return netip.AddrFrom16(netip.AddrFrom4([4]byte(b)).As16()) }
		return mapped(ipv4[12:16]), mapped(ipv4[16:20]), nil
	case grh[0]>>4 == 6:
		word := binary.BigEndian.Uint32(grh)
		p.TrafficClass, p.FlowLabel = uint8(word>>20), word&(1<<20-1)
		return netip.AddrFrom16([16]byte(grh[8:24])), netip.AddrFrom16([16]byte(grh[24:40])), nil
	}
	return from, to, fmt.Errorf("version: got %d, want 6", grh[0]>>4)
}

// ipv4Size is the IPv4 header size without options.
const ipv4Size = 20

// isIPv4 reports whether a header is an IPv4 header. The bytes before it are undefined: if
// they look like version 6, the checksum decides.
func isIPv4(header []byte, before byte) bool {
	if header[0]>>4 != 4 || before != 6 {
		return header[0]>>4 == 4
	}
	if header[0]&0xf != ipv4Size/4 {
		return false
	}
	sum := uint32(0)
	for i := 0; i < ipv4Size; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(header[i:]))
	}
	return sum>>16+sum&0xffff == 0xffff
}
