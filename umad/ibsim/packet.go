package ibsim

import (
	"syscall"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// encodePacket fills p with m. ibsim does not simulate service levels, P_Keys, path bits
// and global route headers. The server sets the source LID.
func encodePacket(p *ibsimproto.Packet, m *umad.Message) {
	p.Reset()
	source := ib.LID(0)
	if m.Addr.LID == ib.PermissiveLID {
		source = ib.PermissiveLID
	}
	p.SetLIDs(m.Addr.LID, source)
	p.SetQueuePairs(m.Addr.QPN, m.Addr.QPN)
	copy(p.MAD(), m.MAD[:])
}

// decodePacket fills m from a datagram and reports whether it was a packet.
func decodePacket(m *umad.Message, b []byte) bool {
	if len(b) != ibsimproto.PacketSize {
		return false
	}
	p := (*ibsimproto.Packet)(b)
	m.Addr = umad.Addr{LID: p.SLID(), QPN: p.SQP()}
	if m.Addr.QPN != 0 {
		m.Addr.QKey = umad.QP1QKey
	}
	m.Timeout = 0
	m.Status = syscall.Errno(p.Status())
	copy(m.MAD[:], p.MAD())
	const headerSize = 24
	if n := p.Length(); n >= headerSize && n < len(m.MAD) {
		clear(m.MAD[n:]) // libumad2sim.so sends its stack contents there
	}
	setLongLength(&m.MAD, p.Length())
	return true
}

// setLongLength sets the length of an unsegmented reply in a class with RMPP, which only
// the packet contains.
func setLongLength(m *mad.Packet, length int) {
	h := m.RMPP()
	if m.Class().HasRMPP() && h.Type == mad.RMPPNone && h.Flags.Has(mad.RMPPActive) && h.Length == 0 {
		h.Length = uint32(max(length-(mad.Size-mad.RMPPPayloadSize), 0))
		m.SetRMPP(h)
	}
}
