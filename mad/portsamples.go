package mad

// A PortSamplesControl starts counter sampling over an interval and lists the counters
// that can be sampled (InfiniBand Architecture, Volume 1, 16.1.3.2).
type PortSamplesControl struct {
	OpCode                uint8
	PortSelect            uint8
	Tick                  uint8
	CounterWidth          uint8  // 3 bits
	CounterMask0          uint8  // 3 bits
	CounterMasks1To9      uint32 // 27 bits
	CounterMasks10To14    uint16 // 15 bits
	SampleMechanisms      uint8
	SampleStatus          uint8  // 2 bits; 0 done, 1 running, 2 not yet started
	OptionMask            uint64 // supported optional counters and attributes
	VendorMask            uint64
	SampleStart           uint32 // ticks from now
	SampleInterval        uint32 // ticks
	Tag                   uint16
	CounterSelect         [15]uint16 // the selected counters
	SamplesOnlyOptionMask uint64
}

// Spec returns the AttrPortSamplesControl spec.
func (*PortSamplesControl) Spec() Spec { return perfSpec(AttrPortSamplesControl) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortSamplesControl) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortSamplesControl) Layout(c *Codec) {
	Bits(c, &a.OpCode, 0, 8, "OpCode", Hex)
	Bits(c, &a.PortSelect, 8, 8, "PortSelect", Decimal)
	Bits(c, &a.Tick, 16, 8, "Tick", Hex)
	Bits(c, &a.CounterWidth, 29, 3, "CounterWidth", Decimal)
	Bits(c, &a.CounterMask0, 34, 3, "CounterMask0", Hex)
	Bits(c, &a.CounterMasks1To9, 37, 27, "CounterMasks1to9", Hex)
	Bits(c, &a.CounterMasks10To14, 65, 15, "CounterMasks10to14", Hex)
	Bits(c, &a.SampleMechanisms, 80, 8, "SampleMechanisms", Decimal)
	Bits(c, &a.SampleStatus, 94, 2, "SampleStatus", Decimal)
	Bits(c, &a.OptionMask, 96, 64, "OptionMask", HexString)
	Bits(c, &a.VendorMask, 160, 64, "VendorMask", HexString)
	Bits(c, &a.SampleStart, 224, 32, "SampleStart", Decimal)
	Bits(c, &a.SampleInterval, 256, 32, "SampleInterval", Decimal)
	Bits(c, &a.Tag, 288, 16, "Tag", Hex)
	Array(c, a.CounterSelect[:], 304, 16, "CounterSelect", HexLines)
	Bits(c, &a.SamplesOnlyOptionMask, 576, 64, "SamplesOnlyOptionMask", HexString)
}
