package verbs

import "github.com/ibkit/ibkit/ib"

// DeviceAttr are device attributes and limits. Nil fields are unknown: the
// kernel is too old or the driver does not report them.
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

	// Reported by the extended command, in the order in which kernels added them.
	ODP           *ODPCaps
	TimestampMask *uint64 // completion timestamp bits
	CoreClock     *uint64 // kHz
	CapsEx        *DeviceCapsEx
	RSS           *RSSCaps
	MaxWQTypeRQ   *uint32
	RawPacket     *RawPacketCaps
	TagMatching   *TagMatchingCaps
	CQModeration  *CQModerationCaps
	MaxDMSize     *uint64 // device memory, bytes
	XRCODP        *ODPTransport

	// Reported by the drivers mlx4 and mlx5.
	TSO          *TSOCaps
	RxHash       *RxHashCaps
	PacketPacing *PacketPacingCaps
}

// ODPCaps are the on-demand paging capabilities. The XRC capabilities are in
// DeviceAttr.XRCODP, because kernels added them later.
type ODPCaps struct {
	General    ODPGeneral
	RC, UC, UD ODPTransport
}

// RSSCaps are the receive side scaling limits, which distributes received packets
// over work queues.
type RSSCaps struct {
	QPTypes                    QPTypes
	MaxRWQIndirectionTables    uint32
	MaxRWQIndirectionTableSize uint32
}

// RxHashCaps are the receive side scaling hash functions and packet fields, in the driver's
// encoding.
type RxHashCaps struct {
	Function uint8
	Fields   uint64
}

// TSOCaps are the TCP segmentation offload limits.
type TSOCaps struct {
	Max     uint32 // bytes
	QPTypes QPTypes
}

// PacketPacingCaps are the rates to which a device can limit a queue pair's
// sends.
type PacketPacingCaps struct {
	Min, Max uint32 // kbit/s
	QPTypes  QPTypes
}

// TagMatchingCaps are the tag matching limits, which delivers messages to tagged
// buffers.
type TagMatchingCaps struct {
	MaxRndvHdrSize uint32 // bytes
	MaxNumTags     uint32 // 0: no tag matching
	Flags          TagMatching
	MaxOps         uint32
	MaxSGE         uint32
}

// CQModerationCaps are the completion queue moderation limits, which delays
// events.
type CQModerationCaps struct {
	MaxCount  uint16 // completions
	MaxPeriod uint16 // µs
}
