package verbs

import "github.com/ibkit/ibkit/ib"

// A DeviceAttr is what a device can do. Parts that are nil are not told: the
// kernel is too old for them, or the driver tells none.
type DeviceAttr struct {
	FW           FWVersion
	NodeGUID     ib.GUID
	SysImageGUID ib.GUID

	MaxMRSize   uint64 // bytes
	PageSizeCap uint64 // a bit for each page size in bytes

	VendorID     uint32
	VendorPartID uint32
	HWVersion    uint32
	Caps         DeviceCaps

	MaxQP                 uint32
	MaxQPWR               uint32
	MaxSGE                uint32
	MaxSGERd              uint32
	MaxCQ                 uint32
	MaxCQE                uint32
	MaxMR                 uint32
	MaxPD                 uint32
	MaxQPRdAtom           uint32
	MaxEERdAtom           uint32
	MaxResRdAtom          uint32
	MaxQPInitRdAtom       uint32
	MaxEEInitRdAtom       uint32
	AtomicCap             AtomicCap
	MaxEE                 uint32
	MaxRDD                uint32
	MaxMW                 uint32
	MaxRawIPv6QP          uint32
	MaxRawEthyQP          uint32
	MaxMcastGroup         uint32
	MaxMcastQPAttach      uint32
	MaxTotalMcastQPAttach uint32
	MaxAH                 uint32
	MaxFMR                uint32
	MaxMapPerFMR          uint32
	MaxSRQ                uint32
	MaxSRQWR              uint32
	MaxSRQSGE             uint32
	MaxPKeys              uint16
	LocalCAAckDelay       uint8 // 4.096 µs · 2^n
	PhysPortCount         uint8

	// Of the extended command, in the order in which kernels learned them.
	ODP           *ODPCaps
	TimestampMask *uint64 // bits of a completion's timestamp
	CoreClock     *uint64 // kHz
	CapsEx        *DeviceCapsEx
	RSS           *RSSCaps
	MaxWQTypeRQ   *uint32
	RawPacket     *RawPacketCaps
	TagMatching   *TagMatchingCaps
	CQModeration  *CQModerationCaps
	MaxDMSize     *uint64 // device memory, bytes
	XRCODP        *ODPTransport

	// Of the driver: mlx4 and mlx5 tell some.
	TSO          *TSOCaps
	RxHash       *RxHashCaps
	PacketPacing *PacketPacingCaps
}

// ODPCaps is what of memory regions that are paged in on demand a device can do.
// That of XRC is apart, for it came later.
type ODPCaps struct {
	General    ODPGeneral
	RC, UC, UD ODPTransport
}

// RSSCaps is how a device spreads what it receives over work queues.
type RSSCaps struct {
	QPTypes                    QPTypes
	MaxRWQIndirectionTables    uint32
	MaxRWQIndirectionTableSize uint32
}

// RxHashCaps is what RSS can hash. The values are the driver's.
type RxHashCaps struct {
	Function uint8
	Fields   uint64
}

// TSOCaps is how a device cuts large sends into packets.
type TSOCaps struct {
	Max     uint32 // bytes
	QPTypes QPTypes
}

// PacketPacingCaps is between which rates a device holds the sending of a queue
// pair.
type PacketPacingCaps struct {
	Min, Max uint32 // kbit/s
	QPTypes  QPTypes
}

// TagMatchingCaps is what of matching messages with tagged buffers a device can
// do.
type TagMatchingCaps struct {
	MaxRndvHdrSize uint32 // bytes
	MaxNumTags     uint32 // 0: no tag matching
	Flags          TagMatching
	MaxOps         uint32
	MaxSGE         uint32
}

// CQModerationCaps is how long a completion queue may hold back events.
type CQModerationCaps struct {
	MaxCount  uint16 // completions
	MaxPeriod uint16 // µs
}
