package mad

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Offsets in the RMPP header (InfiniBand Architecture, Volume 1, 13.6.2.1) and of the
// payload, which consists of the class header and the data.
const (
	offRMPP        = 24
	offRMPPPayload = 36

	// RMPPPayloadSize is the payload per packet in bytes.
	RMPPPayloadSize = Size - offRMPPPayload
)

// RMPPVersion is the only RMPP version.
const RMPPVersion = 1

// NoRespTime is a sender's RespTime in [RMPP] if the response time is unknown.
const NoRespTime = 0x1f

// An RMPPType is an RMPP packet's type (13.6.2.1).
type RMPPType uint8

// The types. RMPPNone is the type in a packet without RMPP.
const (
	RMPPNone  RMPPType = 0
	RMPPData  RMPPType = 1
	RMPPAck   RMPPType = 2
	RMPPStop  RMPPType = 3 // the receiver lacks resources
	RMPPAbort RMPPType = 4 // a side ended the transfer
)

var rmppTypeNames = names{"none", "DATA", "ACK", "STOP", "ABORT"}

// String returns the specification's name, for example "DATA".
func (t RMPPType) String() string { return rmppTypeNames.text(uint64(t)) }

// RMPPFlags are an RMPP packet's flags.
type RMPPFlags uint8

// The flags. Without RMPPActive the rest of the RMPP header is ignored.
const (
	RMPPActive RMPPFlags = 1 << 0
	RMPPFirst  RMPPFlags = 1 << 1
	RMPPLast   RMPPFlags = 1 << 2
)

// Has reports whether all of flags are set.
func (f RMPPFlags) Has(flags RMPPFlags) bool { return f&flags == flags }

// String returns the set flags by name, for example "active,first".
func (f RMPPFlags) String() string {
	var set []string
	for bit, name := range []string{"active", "first", "last"} {
		if f&(1<<bit) != 0 {
			set = append(set, name)
		}
	}
	return strings.Join(set, ",")
}

// An RMPPStatus is the reason for a STOP or an ABORT (13.6.2.2). Values from 128 on are
// defined by classes, values from 192 on by vendors.
type RMPPStatus uint8

// The statuses. All except the first two belong to ABORT.
const (
	RMPPNormal          RMPPStatus = 0
	RMPPNoResources     RMPPStatus = 1 // STOP
	RMPPTimeTooLong     RMPPStatus = 118
	RMPPBadLength       RMPPStatus = 119 // the last flag and the payload length contradict
	RMPPBadSegment      RMPPStatus = 120 // the first flag and the segment number contradict
	RMPPBadType         RMPPStatus = 121
	RMPPWindowTooSmall  RMPPStatus = 122 // the new window ends before the segment that is acknowledged
	RMPPSegmentTooBig   RMPPStatus = 123 // the acknowledged segment was not sent
	RMPPBadStatus       RMPPStatus = 124
	RMPPBadVersion      RMPPStatus = 125
	RMPPTooManyRetries  RMPPStatus = 126
	RMPPUnspecified     RMPPStatus = 127
	rmppStatusOfClasses RMPPStatus = 128
	rmppStatusOfVendors RMPPStatus = 192
)

var rmppStatusNames = map[RMPPStatus]string{
	RMPPNormal:         "normal",
	RMPPNoResources:    "resources exhausted",
	RMPPTimeTooLong:    "total time too long",
	RMPPBadLength:      "inconsistent last flag and payload length",
	RMPPBadSegment:     "inconsistent first flag and segment number",
	RMPPBadType:        "bad RMPP type",
	RMPPWindowTooSmall: "new window too small",
	RMPPSegmentTooBig:  "segment number too big",
	RMPPBadStatus:      "illegal status",
	RMPPBadVersion:     "unsupported version",
	RMPPTooManyRetries: "too many retries",
	RMPPUnspecified:    "unspecified",
}

// String returns the status meaning, for example "too many retries".
func (s RMPPStatus) String() string {
	if name, ok := rmppStatusNames[s]; ok {
		return name
	}
	switch {
	case s >= rmppStatusOfVendors:
		return fmt.Sprintf("vendor's status %d", uint8(s))
	case s >= rmppStatusOfClasses:
		return fmt.Sprintf("class's status %d", uint8(s))
	}
	return fmt.Sprintf("reserved status %d", uint8(s))
}

// An RMPP is the header in a MAD that carries a segment of a longer message (InfiniBand
// Architecture, Volume 1, 13.6.2.1).
type RMPP struct {
	Version  uint8 // RMPPVersion
	Type     RMPPType
	RespTime uint8 // 5 bits: 4.096 µs << RespTime, or NoRespTime
	Flags    RMPPFlags
	Status   RMPPStatus

	// Segment is a DATA packet's number, from 1, or the last segment that an ACK
	// acknowledges.
	Segment uint32

	// Length has two meanings. In DATA packets it is a payload length in bytes
	// that includes the class's header in each packet: in the first segment the
	// total length over all segments, or 0 if unknown; in the last segment
	// its own length; in the others 0. In an ACK it is the last segment
	// number that may be sent.
	Length uint32
}

// HasRMPP reports whether the class's packets have an RMPP header after
// the common header.
func (c Class) HasRMPP() bool { return c == ClassSA || c == classDevAdm || c == classBIS || c.HasOUI() }

// Other classes with RMPP.
const (
	classDevAdm Class = 0x10 // device administration
	classBIS    Class = 0x12 // boot information service
)

// RMPP returns the RMPP header. Only packets in some classes have it; see
// [Class.HasRMPP].
func (p *Packet) RMPP() RMPP {
	return RMPP{
		Version:  p[offRMPP],
		Type:     RMPPType(p[offRMPP+1]),
		RespTime: p[offRMPP+2] >> 3,
		Flags:    RMPPFlags(p[offRMPP+2] & 7),
		Status:   RMPPStatus(p[offRMPP+3]),
		Segment:  binary.BigEndian.Uint32(p[offRMPP+4:]),
		Length:   binary.BigEndian.Uint32(p[offRMPP+8:]),
	}
}

// SetRMPP overwrites the RMPP header.
func (p *Packet) SetRMPP(h RMPP) {
	p[offRMPP], p[offRMPP+1] = h.Version, byte(h.Type)
	p[offRMPP+2] = h.RespTime<<3 | byte(h.Flags&7)
	p[offRMPP+3] = byte(h.Status)
	binary.BigEndian.PutUint32(p[offRMPP+4:], h.Segment)
	binary.BigEndian.PutUint32(p[offRMPP+8:], h.Length)
}
