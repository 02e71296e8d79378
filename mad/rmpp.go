package mad

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Where the header of RMPP is (InfiniBand Architecture, Volume 1, 13.6.2.1), and
// what follows it: the header of the class and its data, which is what lengths
// in the header count.
const (
	offRMPP        = 24
	offRMPPPayload = 36

	// RMPPPayloadSize is how many bytes of one packet count as payload.
	RMPPPayloadSize = Size - offRMPPPayload
)

// RMPPVersion is the one version of RMPP that there is.
const RMPPVersion = 1

// NoRespTime in [RMPP] says that the sender does not tell its response time.
const NoRespTime = 0x1f

// An RMPPType says what an RMPP packet is for (13.6.2.1).
type RMPPType uint8

// The types. RMPPNone is that of a packet without RMPP.
const (
	RMPPNone  RMPPType = 0
	RMPPData  RMPPType = 1
	RMPPAck   RMPPType = 2
	RMPPStop  RMPPType = 3 // the receiver has run out of something
	RMPPAbort RMPPType = 4 // one side has given up
)

var rmppTypeNames = names{"none", "DATA", "ACK", "STOP", "ABORT"}

// String returns the name of the specification, for example "DATA".
func (t RMPPType) String() string { return rmppTypeNames.text(uint64(t)) }

// RMPPFlags are the flags of an RMPP packet.
type RMPPFlags uint8

// The flags. A packet that is not active is a plain one, whatever else is in
// its RMPP header.
const (
	RMPPActive RMPPFlags = 1 << 0
	RMPPFirst  RMPPFlags = 1 << 1
	RMPPLast   RMPPFlags = 1 << 2
)

// Has reports whether all of flags are set.
func (f RMPPFlags) Has(flags RMPPFlags) bool { return f&flags == flags }

// String returns the names of the flags that are set, for example
// "active,first".
func (f RMPPFlags) String() string {
	var set []string
	for bit, name := range []string{"active", "first", "last"} {
		if f&(1<<bit) != 0 {
			set = append(set, name)
		}
	}
	return strings.Join(set, ",")
}

// An RMPPStatus is why a transfer was stopped or aborted (13.6.2.2). The values
// from 128 on are left to classes, those from 192 on to vendors.
type RMPPStatus uint8

// The statuses. All but the first two are those of an ABORT.
const (
	RMPPNormal          RMPPStatus = 0
	RMPPNoResources     RMPPStatus = 1 // that of a STOP
	RMPPTimeTooLong     RMPPStatus = 118
	RMPPBadLength       RMPPStatus = 119 // the last flag and the payload length contradict
	RMPPBadSegment      RMPPStatus = 120 // the first flag and the segment number contradict
	RMPPBadType         RMPPStatus = 121
	RMPPWindowTooSmall  RMPPStatus = 122 // the new window ends before the segment that is acknowledged
	RMPPSegmentTooBig   RMPPStatus = 123 // what is acknowledged was not sent
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

// String returns what the status means, for example "too many retries".
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

// An RMPP is the header by which a message is spread over several MADs
// (InfiniBand Architecture, Volume 1, 13.6.2.1).
type RMPP struct {
	Version  uint8 // RMPPVersion
	Type     RMPPType
	RespTime uint8 // 5 bits: 4.096 µs << RespTime, or NoRespTime
	Flags    RMPPFlags
	Status   RMPPStatus

	// Segment is the number of a DATA packet, counted from 1, or of the last
	// one that an ACK is for.
	Segment uint32

	// Length has two meanings. In a DATA packet it is how many bytes of payload
	// there are, the class's header in each packet included: in the first
	// segment those of all, or 0 where the sender does not know; in the last
	// its own; in the others 0. In an ACK it is the number of the last segment
	// that may be sent.
	Length uint32
}

// HasRMPP reports whether packets of the class have a header of RMPP behind the
// common one.
func (c Class) HasRMPP() bool { return c == ClassSA || c == classDevAdm || c == classBIS || c.HasOUI() }

// Two more classes with RMPP, which are not used otherwise.
const (
	classDevAdm Class = 0x10 // device administration
	classBIS    Class = 0x12 // boot information service
)

// RMPP reads the header of RMPP, which only packets of some classes have; see
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

// SetRMPP overwrites the header of RMPP.
func (p *Packet) SetRMPP(h RMPP) {
	p[offRMPP], p[offRMPP+1] = h.Version, byte(h.Type)
	p[offRMPP+2] = h.RespTime<<3 | byte(h.Flags&7)
	p[offRMPP+3] = byte(h.Status)
	binary.BigEndian.PutUint32(p[offRMPP+4:], h.Segment)
	binary.BigEndian.PutUint32(p[offRMPP+8:], h.Length)
}
