package device

import (
	"encoding/binary"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// encode fills p with a message and the agent that sends it.
func (p *packet) encode(m *umad.Message, agent uint32) {
	h := &p.UMADHeader
	*h = uapi.UMADHeader{
		ID:        agent,
		TimeoutMS: uint32((m.Timeout + time.Millisecond - 1) / time.Millisecond),
		Length:    uapi.UMADHeaderSize + mad.Size + uint32(len(m.Rest)),
		SL:        m.Addr.SL,
		PathBits:  m.Addr.PathBits,
		PKeyIndex: m.Addr.PKeyIndex,
	}
	binary.BigEndian.PutUint32(h.QPN[:], m.Addr.QPN)
	binary.BigEndian.PutUint32(h.QKey[:], m.Addr.QKey)
	binary.BigEndian.PutUint16(h.LID[:], uint16(m.Addr.LID))
	if g := m.Addr.GRH; g != nil {
		h.GRHPresent, h.GIDIndex, h.HopLimit, h.TrafficClass, h.GID = 1, g.SGIDIndex, g.HopLimit, g.TrafficClass, g.DGID
		binary.BigEndian.PutUint32(h.FlowLabel[:], g.FlowLabel)
	}
	p.mad = m.MAD
}

// minMAD is the minimum MAD size: the kernel returns the common MAD header of a request
// without a reply.
const minMAD = 24

// decode fills m from an n-byte message, and reports whether it is a MAD.
func (p *packet) decode(m *umad.Message, n int) bool {
	if n < uapi.UMADHeaderSize+minMAD || n > packetSize {
		return false
	}
	h := &p.UMADHeader
	m.Addr = umad.Addr{
		LID:       ib.LID(binary.BigEndian.Uint16(h.LID[:])),
		QPN:       binary.BigEndian.Uint32(h.QPN[:]),
		QKey:      binary.BigEndian.Uint32(h.QKey[:]),
		SL:        h.SL,
		PathBits:  h.PathBits,
		PKeyIndex: h.PKeyIndex,
	}
	if h.GRHPresent != 0 {
		m.Addr.GRH = &umad.GRH{
			SGIDIndex:    h.GIDIndex,
			HopLimit:     h.HopLimit,
			TrafficClass: h.TrafficClass,
			FlowLabel:    binary.BigEndian.Uint32(h.FlowLabel[:]),
			DGID:         h.GID,
		}
	}
	m.Timeout = 0
	m.Status = syscall.Errno(h.Status)
	m.MAD = p.mad
	clear(m.MAD[n-uapi.UMADHeaderSize:])
	return true
}
