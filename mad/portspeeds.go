package mad

// PortExtendedSpeedsCounters counts errors that links at FDR and above detect and
// correct (InfiniBand Architecture, Volume 1, 16.1.4.13), by lane, for links with Fire
// code or without forward error correction. For links with RS-FEC see
// [PortRSFECCounters].
type PortExtendedSpeedsCounters struct {
	PortSelect       uint8
	CounterSelect    uint64
	SyncHeaderErrors uint16
	UnknownBlocks    uint16
	ErrorDetection   [12]uint16
	CorrectableFEC   [12]uint32 // blocks
	UncorrectableFEC [12]uint32 // blocks
}

// Spec returns the AttrPortExtendedSpeedsCounters spec.
func (*PortExtendedSpeedsCounters) Spec() Spec { return perfSpec(AttrPortExtendedSpeedsCounters) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortExtendedSpeedsCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortExtendedSpeedsCounters) Layout(c *Codec) {
	Bits(c, &a.PortSelect, 8, 8, "PortSelect", Decimal)
	Bits(c, &a.CounterSelect, 64, 64, "CounterSelect", HexString)
	Bits(c, &a.SyncHeaderErrors, 128, 16, "SyncHeaderErrorCounter", Decimal)
	Bits(c, &a.UnknownBlocks, 144, 16, "UnknownBlockCounter", Decimal)
	Array(c, a.ErrorDetection[:], 160, 16, "ErrorDetectionCounterLane", Lines)
	Array(c, a.CorrectableFEC[:], 352, 32, "FECCorrectableBlockCtrLane", Lines)
	Array(c, a.UncorrectableFEC[:], 736, 32, "FECUncorrectableBlockCtrLane", Lines)
}

// PortRSFECCounters are the PortExtendedSpeedsCounters on a port with
// [PerfRSFECCounters] and a link that uses RS-FEC according to PortInfoExtended.
type PortRSFECCounters struct {
	PortSelect          uint8
	CounterSelect       uint64
	SyncHeaderErrors    uint16
	UnknownBlocks       uint16
	CorrectableSymbols  [12]uint32 // by lane
	CorrectableBlocks   uint32
	UncorrectableBlocks uint32
	CorrectedSymbols    uint32
}

// Spec returns the AttrPortExtendedSpeedsCounters spec.
func (*PortRSFECCounters) Spec() Spec { return perfSpec(AttrPortExtendedSpeedsCounters) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortRSFECCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortRSFECCounters) Layout(c *Codec) {
	Bits(c, &a.PortSelect, 8, 8, "PortSelect", Decimal)
	Bits(c, &a.CounterSelect, 64, 64, "CounterSelect", HexString)
	Bits(c, &a.SyncHeaderErrors, 128, 16, "SyncHeaderErrorCounter", Decimal)
	Bits(c, &a.UnknownBlocks, 144, 16, "UnknownBlockCounter", Decimal)
	Array(c, a.CorrectableSymbols[:], 352, 32, "FECCorrectableSymbolCtrLane", Lines)
	Bits(c, &a.CorrectableBlocks, 1120, 32, "PortFECCorrectableBlockCtr", Decimal)
	Bits(c, &a.UncorrectableBlocks, 1152, 32, "PortFECUncorrectableBlockCtr", Decimal)
	Bits(c, &a.CorrectedSymbols, 1184, 32, "PortFECCorrectedSymbolCtr", Decimal)
}
