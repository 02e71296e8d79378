package mad

// PortExtendedSpeedsCounters counts errors that links of FDR and above detect and
// correct (InfiniBand Architecture, Volume 1, 16.1.4.13), by lane, for links with
// Fire code or without forward error correction. For links with RS-FEC see
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

// ID returns AttrPortExtendedSpeedsCounters.
func (*PortExtendedSpeedsCounters) ID() AttrID { return AttrPortExtendedSpeedsCounters }

func (*PortExtendedSpeedsCounters) format() format { return perfFormat }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortExtendedSpeedsCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortExtendedSpeedsCounters) fields(c *codec) {
	bits(c, &a.PortSelect, 8, 8, "PortSelect", decimal)
	bits(c, &a.CounterSelect, 64, 64, "CounterSelect", key)
	bits(c, &a.SyncHeaderErrors, 128, 16, "SyncHeaderErrorCounter", decimal)
	bits(c, &a.UnknownBlocks, 144, 16, "UnknownBlockCounter", decimal)
	array(c, a.ErrorDetection[:], 160, 16, "ErrorDetectionCounterLane", lines)
	array(c, a.CorrectableFEC[:], 352, 32, "FECCorrectableBlockCtrLane", lines)
	array(c, a.UncorrectableFEC[:], 736, 32, "FECUncorrectableBlockCtrLane", lines)
}

// PortRSFECCounters are the PortExtendedSpeedsCounters of a port with
// [PerfRSFECCounters] whose link uses RS-FEC according to PortInfoExtended.
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

// ID returns AttrPortExtendedSpeedsCounters.
func (*PortRSFECCounters) ID() AttrID { return AttrPortExtendedSpeedsCounters }

func (*PortRSFECCounters) format() format { return perfFormat }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortRSFECCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortRSFECCounters) fields(c *codec) {
	bits(c, &a.PortSelect, 8, 8, "PortSelect", decimal)
	bits(c, &a.CounterSelect, 64, 64, "CounterSelect", key)
	bits(c, &a.SyncHeaderErrors, 128, 16, "SyncHeaderErrorCounter", decimal)
	bits(c, &a.UnknownBlocks, 144, 16, "UnknownBlockCounter", decimal)
	array(c, a.CorrectableSymbols[:], 352, 32, "FECCorrectableSymbolCtrLane", lines)
	bits(c, &a.CorrectableBlocks, 1120, 32, "PortFECCorrectableBlockCtr", decimal)
	bits(c, &a.UncorrectableBlocks, 1152, 32, "PortFECUncorrectableBlockCtr", decimal)
	bits(c, &a.CorrectedSymbols, 1184, 32, "PortFECCorrectedSymbolCtr", decimal)
}
