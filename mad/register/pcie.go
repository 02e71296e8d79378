package register

import "github.com/ibkit/ibkit/mad"

// A PCIeLink is an adapter's PCI Express link.
type PCIeLink struct {
	SpeedEnabled, SpeedActive PCIeSpeed
	WidthEnabled, WidthActive uint8  // lanes
	PayloadSize               uint8  // 128 bytes << PayloadSize
	ReadRequestSize           uint8  // 128 bytes << ReadRequestSize
	Status                    uint16 // bit set: 1 correctable error, 2 not fatal, 4 fatal, 8 unsupported request
}

// Part returns the register's number.
func (*PCIeLink) Part() Part { return Part{ID: IDMPEIN} }

// Spec returns the register's spec.
func (*PCIeLink) Spec() mad.Spec { return spec(0x30) }

// MarshalJSON writes the fields as an object; see package mad.
func (r PCIeLink) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *PCIeLink) Layout(c *mad.Codec) {
	bits(c, &r.SpeedEnabled, 0x08, 0, 16, "LinkSpeedEnabled")
	bits(c, &r.WidthEnabled, 0x08, 16, 8, "LinkWidthEnabled")
	bits(c, &r.SpeedActive, 0x0c, 0, 16, "LinkSpeedActive")
	bits(c, &r.WidthActive, 0x0c, 16, 8, "LinkWidthActive")
	bits(c, &r.PayloadSize, 0x18, 24, 4, "MaxPayloadSize")
	bits(c, &r.ReadRequestSize, 0x18, 28, 4, "MaxReadRequestSize")
	bits(c, &r.Status, 0x24, 16, 16, "DeviceStatus")
}

// A PCIeSpeed is a speed of PCI Express lanes as a bit set; the highest bit counts.
type PCIeSpeed uint16

// Generation returns the generation, 0 if it is unknown.
func (s PCIeSpeed) Generation() int {
	for i, generation := range []int{6, 5, 4, 3, 2, 1} {
		if s&[]PCIeSpeed{0x40, 0x20, 0x10, 4, 2, 1}[i] != 0 {
			return generation
		}
	}
	return 0
}

// PCIeCounters are the error counters of an adapter's PCI Express link.
type PCIeCounters struct {
	RxErrors, TxErrors  uint32
	CRCErrorsDLLP       uint32
	CRCErrorsTLP        uint32
	OverflowPackets     uint64 // that found no room in the buffer
	StalledReads        uint32 // share of time, percent
	StalledWrites       uint32
	CorrectableErrors   uint32 // of forward error correction
	UncorrectableErrors uint32
}

// Part returns the register's number.
func (*PCIeCounters) Part() Part { return Part{ID: IDMPCNT} }

// Spec returns the register's spec: the first block has all fields.
func (*PCIeCounters) Spec() mad.Spec { return spec(BlockSize) }

// MarshalJSON writes the fields as an object; see package mad.
func (r PCIeCounters) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *PCIeCounters) Layout(c *mad.Codec) {
	bits(c, &r.RxErrors, 0x10, 0, 32, "RxErrors")
	bits(c, &r.TxErrors, 0x14, 0, 32, "TxErrors")
	bits(c, &r.CRCErrorsDLLP, 0x28, 0, 32, "CrcErrorDllp")
	bits(c, &r.CRCErrorsTLP, 0x2c, 0, 32, "CrcErrorTlp")
	count(c, &r.OverflowPackets, 0x30, "TxOverflowBufferPkt")
	bits(c, &r.StalledReads, 0x38, 0, 32, "OutboundStalledReads")
	bits(c, &r.StalledWrites, 0x3c, 0, 32, "OutboundStalledWrites")
	bits(c, &r.CorrectableErrors, 0x5c, 0, 32, "FecCorrectableErrorCounter")
	bits(c, &r.UncorrectableErrors, 0x60, 0, 32, "FecUncorrectableErrorCounter")
}

// Errors returns the total of the errors that the link could not correct.
func (r *PCIeCounters) Errors() uint64 {
	return uint64(r.RxErrors) + uint64(r.TxErrors) + uint64(r.CRCErrorsDLLP) + uint64(r.CRCErrorsTLP) + uint64(r.UncorrectableErrors)
}
