package mad

import "github.com/ibkit/ibkit/ib"

// A ClassPortInfo contains the capabilities of a port's agent of a management
// class, the address to which it redirects requests, and the destination of its
// traps (InfiniBand Architecture, Volume 1, 13.4.8.1). Each class defines its
// capabilities.
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

// ID returns AttrClassPortInfo.
func (*ClassPortInfo) ID() AttrID { return AttrClassPortInfo }

// format returns the format of performance management; the attribute is the same
// in all classes.
func (*ClassPortInfo) format() format { return format{ClassPM, classPortInfoSize} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a ClassPortInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *ClassPortInfo) fields(c *codec) {
	bits(c, &a.BaseVersion, 0, 8, "BaseVersion", decimal)
	bits(c, &a.ClassVersion, 8, 8, "ClassVersion", decimal)
	bits(c, &a.CapMask, 16, 16, "CapabilityMask", hexa)
	bits(c, &a.CapMask2, 32, 27, "CapabilityMask2", hexa)
	bits(c, &a.RespTimeValue, 59, 5, "RespTimeVal", decimal)
	array(c, a.RedirectGID[:], 64, 8, "RedirectGID", hexString)
	bits(c, &a.RedirectTrafficClass, 192, 8, "RedirectTC", hexa)
	bits(c, &a.RedirectSL, 200, 4, "RedirectSL", decimal)
	bits(c, &a.RedirectFlowLabel, 204, 20, "RedirectFL", hexa)
	bits(c, &a.RedirectLID, 224, 16, "RedirectLID", decimal)
	bits(c, &a.RedirectPKey, 240, 16, "RedirectPKey", hexa)
	bits(c, &a.RedirectQP, 264, 24, "RedirectQP", hexa)
	bits(c, &a.RedirectQKey, 288, 32, "RedirectQKey", hexa)
	array(c, a.TrapGID[:], 320, 8, "TrapGID", hexString)
	bits(c, &a.TrapTrafficClass, 448, 8, "TrapTC", hexa)
	bits(c, &a.TrapSL, 456, 4, "TrapSL", decimal)
	bits(c, &a.TrapFlowLabel, 460, 20, "TrapFL", hexa)
	bits(c, &a.TrapLID, 480, 16, "TrapLID", decimal)
	bits(c, &a.TrapPKey, 496, 16, "TrapPKey", hexa)
	bits(c, &a.TrapHopLimit, 512, 8, "TrapHL", decimal)
	bits(c, &a.TrapQP, 520, 24, "TrapQP", hexa)
	bits(c, &a.TrapQKey, 544, 32, "TrapQKey", hexa)
}
