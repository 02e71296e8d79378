package mad

import "github.com/ibkit/ibkit/ib"

// A ClassPortInfo contains the capabilities of a port's agent in a management class,
// the address to which it redirects requests, and its trap destination (InfiniBand
// Architecture, Volume 1, 13.4.8.1). Each class defines its capabilities.
type ClassPortInfo struct {
	BaseVersion   uint8
	ClassVersion  uint8
	CapMask       uint16 // in performance management a [PerfCapMask]
	CapMask2      uint32 // 27 bits; in performance management a [PerfCapMask2]
	RespTimeValue uint8  // 5 bits; maximum response time 4.096 µs << RespTimeValue

	RedirectGID          [16]uint8
	RedirectTrafficClass uint8
	RedirectSL           uint8  // 4 bits
	RedirectFlowLabel    uint32 // 20 bits
	RedirectLID          ib.LID // 0: no redirection
	RedirectPKey         PKey
	RedirectQP           uint32 // 24 bits
	RedirectQKey         uint32

	TrapGID          [16]uint8
	TrapTrafficClass uint8
	TrapSL           uint8  // 4 bits
	TrapFlowLabel    uint32 // 20 bits
	TrapLID          ib.LID
	TrapPKey         PKey
	TrapHopLimit     uint8
	TrapQP           uint32 // 24 bits
	TrapQKey         uint32
}

const classPortInfoSize = 72

// Spec returns the performance management spec. The attribute is the
// same in all classes.
func (*ClassPortInfo) Spec() Spec {
	return Spec{Class: ClassPM, ID: AttrClassPortInfo, Size: classPortInfoSize}
}

// MarshalJSON writes the fields as an object; see the package comment.
func (a ClassPortInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *ClassPortInfo) Layout(c *Codec) {
	Bits(c, &a.BaseVersion, 0, 8, "BaseVersion", Decimal)
	Bits(c, &a.ClassVersion, 8, 8, "ClassVersion", Decimal)
	Bits(c, &a.CapMask, 16, 16, "CapabilityMask", Hex)
	Bits(c, &a.CapMask2, 32, 27, "CapabilityMask2", Hex)
	Bits(c, &a.RespTimeValue, 59, 5, "RespTimeVal", Decimal)
	Array(c, a.RedirectGID[:], 64, 8, "RedirectGID", Bytes)
	Bits(c, &a.RedirectTrafficClass, 192, 8, "RedirectTC", Hex)
	Bits(c, &a.RedirectSL, 200, 4, "RedirectSL", Decimal)
	Bits(c, &a.RedirectFlowLabel, 204, 20, "RedirectFL", Hex)
	Bits(c, &a.RedirectLID, 224, 16, "RedirectLID", Decimal)
	Bits(c, &a.RedirectPKey, 240, 16, "RedirectPKey", Hex)
	Bits(c, &a.RedirectQP, 264, 24, "RedirectQP", Hex)
	Bits(c, &a.RedirectQKey, 288, 32, "RedirectQKey", Hex)
	Array(c, a.TrapGID[:], 320, 8, "TrapGID", Bytes)
	Bits(c, &a.TrapTrafficClass, 448, 8, "TrapTC", Hex)
	Bits(c, &a.TrapSL, 456, 4, "TrapSL", Decimal)
	Bits(c, &a.TrapFlowLabel, 460, 20, "TrapFL", Hex)
	Bits(c, &a.TrapLID, 480, 16, "TrapLID", Decimal)
	Bits(c, &a.TrapPKey, 496, 16, "TrapPKey", Hex)
	Bits(c, &a.TrapHopLimit, 512, 8, "TrapHL", Decimal)
	Bits(c, &a.TrapQP, 520, 24, "TrapQP", Hex)
	Bits(c, &a.TrapQKey, 544, 32, "TrapQKey", Hex)
}
