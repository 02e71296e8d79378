package register

import "github.com/ibkit/ibkit/mad"

// Groups of counters in PPCNT.
const (
	groupPhysical   = 0x12
	groupBitErrors  = 0x16
	groupShort      = 0x20
	groupLong       = 0x21
	groupRetransmit = 0x22
	groupHistogram  = 0x23
	groupDies       = 0x24
	groupPackets    = 0x25
)

// A CounterIndex selects a port's counters in PPCNT.
type CounterIndex struct {
	LocalPort LocalPort
	Group     uint8 // 6 bits
}

// layout declares the first 8 bytes.
func (i *CounterIndex) layout(c *mad.Codec) {
	bits(c, &i.Group, 0, 0, 6, "Grp")
	i.LocalPort.layout(c)
}

// Part returns the group.
func (i CounterIndex) Part() Part { return Part{IDPPCNT, i} }

// Spec returns the spec of the register's first block, which has all fields in most groups.
func (CounterIndex) Spec() mad.Spec { return spec(BlockSize) }

const counterSize = 0x100 // of PPCNT, in bytes

// PhysicalCounters are a port's counters in the physical layer since the link came up or
// since they were cleared.
type PhysicalCounters struct {
	CounterIndex
	TimeSinceLastClear  uint64    // milliseconds
	SymbolErrors        uint64    // not corrected
	CorrectedBlocks     uint64    // by Reed-Solomon FEC
	UncorrectableBlocks uint64    //
	CleanBlocks         uint64    // without errors
	CorrectedSymbols    uint64    //
	LaneSymbols         [4]uint64 // corrected symbols on lanes 0 to 3
	LinkDowns           uint32
	Recoveries          uint32
	UnintentionalDowns  uint32
	IntentionalDowns    uint32
}

// NewPhysicalCounters returns the request for a port's counters.
func NewPhysicalCounters(p LocalPort) *PhysicalCounters {
	return &PhysicalCounters{CounterIndex: CounterIndex{p, groupPhysical}}
}

// Spec returns the register's spec.
func (*PhysicalCounters) Spec() mad.Spec { return spec(counterSize) }

// MarshalJSON writes the fields as an object; see package mad.
func (r PhysicalCounters) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *PhysicalCounters) Layout(c *mad.Codec) {
	r.layout(c)
	count(c, &r.TimeSinceLastClear, 0x08, "TimeSinceLastClear")
	count(c, &r.SymbolErrors, 0x10, "SymbolErrors")
	count(c, &r.CorrectedBlocks, 0x80, "RsFecCorrectedBlocks")
	count(c, &r.UncorrectableBlocks, 0x88, "RsFecUncorrectableBlocks")
	count(c, &r.CleanBlocks, 0x90, "RsFecNoErrorsBlocks")
	count(c, &r.CorrectedSymbols, 0xa0, "RsFecCorrectedSymbolsTotal")
	for i, name := range laneSymbolNames {
		count(c, &r.LaneSymbols[i], 0xa8+8*i, name)
	}
	bits(c, &r.LinkDowns, 0xc8, 0, 32, "LinkDownEvents")
	bits(c, &r.Recoveries, 0xcc, 0, 32, "SuccessfulRecoveryEvents")
	bits(c, &r.UnintentionalDowns, 0xf8, 0, 32, "UnintentionalLinkDownEvents")
	bits(c, &r.IntentionalDowns, 0xfc, 0, 32, "IntentionalLinkDownEvents")
}

var laneSymbolNames = [...]string{
	"RsFecCorrectedSymbolsLane0", "RsFecCorrectedSymbolsLane1", "RsFecCorrectedSymbolsLane2", "RsFecCorrectedSymbolsLane3",
}

// BitErrors are a port's bit error rates since the link came up or since the counters were
// cleared.
type BitErrors struct {
	CounterIndex
	TimeSinceLastClear uint64    // milliseconds
	ReceivedBits       uint64    //
	SymbolErrors       uint64    // after all correction
	CorrectedBits      uint64    //
	RawErrors          [8]uint64 // per lane, before correction
	RawBER             BER       // before correction
	EffectiveBER       BER       // after forward error correction
	SymbolBER          BER       // after retransmission, too
	LaneBER            [8]BER    // raw, per lane
	EffectiveErrors    uint64
}

// NewBitErrors returns the request for a port's bit error rates.
func NewBitErrors(p LocalPort) *BitErrors {
	return &BitErrors{CounterIndex: CounterIndex{p, groupBitErrors}}
}

// MarshalJSON writes the fields as an object; see package mad.
func (r BitErrors) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *BitErrors) Layout(c *mad.Codec) {
	r.layout(c)
	count(c, &r.TimeSinceLastClear, 0x08, "TimeSinceLastClear")
	count(c, &r.ReceivedBits, 0x10, "PhyReceivedBits")
	count(c, &r.SymbolErrors, 0x18, "PhySymbolErrors")
	count(c, &r.CorrectedBits, 0x20, "PhyCorrectedBits")
	for i, name := range rawErrorNames {
		count(c, &r.RawErrors[i], 0x28+8*i, name)
	}
	r.RawBER.layout(c, 0x68, 0, rawBER)
	r.EffectiveBER.layout(c, 0x6c, 0, effectiveBER)
	r.SymbolBER.layout(c, 0x70, 0, symbolBER)
	for i := range r.LaneBER {
		r.LaneBER[i].layout(c, 0x74+i/2*4, 16-i%2*16, laneBER[i])
	}
	count(c, &r.EffectiveErrors, 0x84, "PhyEffectiveErrors")
}

var (
	rawErrorNames = [...]string{
		"PhyRawErrorsLane0", "PhyRawErrorsLane1", "PhyRawErrorsLane2", "PhyRawErrorsLane3",
		"PhyRawErrorsLane4", "PhyRawErrorsLane5", "PhyRawErrorsLane6", "PhyRawErrorsLane7",
	}

	rawBER, effectiveBER, symbolBER = newBERName("RawBer", ""), newBERName("EffectiveBer", ""), newBERName("SymbolBer", "")

	laneBER = func() (names [8]berName) {
		for i, lane := range perLane("_Lane") {
			names[i] = newBERName("RawBer", lane)
		}
		return names
	}()
)

// Retransmission counts physical layer retransmission (PLR).
type Retransmission struct {
	CounterIndex
	Received      uint64
	Errors        uint64 // code words with errors
	Uncorrectable uint64
	Sent          uint64
	Resent        uint64
	ResendEvents  uint64
	SyncEvents    uint64
	Lost          uint64
}

// NewRetransmission returns the request for a port's retransmission counters.
func NewRetransmission(p LocalPort) *Retransmission {
	return &Retransmission{CounterIndex: CounterIndex{p, groupRetransmit}}
}

// MarshalJSON writes the fields as an object; see package mad.
func (r Retransmission) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *Retransmission) Layout(c *mad.Codec) {
	r.layout(c)
	count(c, &r.Received, 0x08, "PlrRcvCodes")
	count(c, &r.Errors, 0x10, "PlrRcvCodeErr")
	count(c, &r.Uncorrectable, 0x18, "PlrRcvUncorrectableCode")
	count(c, &r.Sent, 0x20, "PlrXmitCodes")
	count(c, &r.Resent, 0x28, "PlrXmitRetryCodes")
	count(c, &r.ResendEvents, 0x30, "PlrXmitRetryEvents")
	count(c, &r.SyncEvents, 0x38, "PlrSyncEvents")
	count(c, &r.Lost, 0x40, "PlrCodesLoss")
}

// A FECHistogram counts Reed-Solomon blocks by the number of symbols that were corrected
// in them.
type FECHistogram struct {
	CounterIndex
	Blocks [21]uint64
}

// NewFECHistogram returns the request for a port's histogram.
func NewFECHistogram(p LocalPort) *FECHistogram {
	return &FECHistogram{CounterIndex: CounterIndex{p, groupHistogram}}
}

// MarshalJSON writes the fields as an object; see package mad.
func (r FECHistogram) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *FECHistogram) Layout(c *mad.Codec) {
	r.layout(c)
	mad.Array(c, r.Blocks[:], 0x08*8, 64, "Hist", mad.Lines)
}
