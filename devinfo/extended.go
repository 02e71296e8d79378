package devinfo

import "github.com/ibkit/ibkit/verbs"

// Extended describes the offloads and extensions of a device, as reported by the
// extended query command of the kernel and by the drivers mlx4 and mlx5. Unreported
// parts are nil. Flags have the names of libibverbs/verbs.h without their prefixes;
// unknown flags are omitted.
type Extended struct {
	ODP           *ODP          `json:"odp"`
	TimestampMask *uint64       `json:"timestamp_mask"`
	CoreClock     *uint64       `json:"core_clock_khz"`
	RSS           *RSS          `json:"rss"`
	MaxWQTypeRQ   *uint32       `json:"max_wq_type_rq"`
	RawPacket     []string      `json:"raw_packet"`
	TSO           *TSO          `json:"tso"`
	PacketPacing  *PacketPacing `json:"packet_pacing"`
	TagMatching   *TagMatching  `json:"tag_matching"`
	CQModeration  *CQModeration `json:"cq_moderation"`
	MaxDMSize     *uint64       `json:"max_dm_size"` // bytes
	CompCounters  *CompCounters `json:"completion_counters"`
	DMABuf        *bool         `json:"dma_buf"` // registers memory of other devices, such as GPUs
}

// ODP lists the operations that support on-demand paging, by transport.
type ODP struct {
	General []string `json:"general"`
	RC      []string `json:"rc"`
	UC      []string `json:"uc"`
	UD      []string `json:"ud"`
	XRC     []string `json:"xrc"` // nil if the kernel is too old to report it
}

// RSS describes how received packets are distributed over work queues.
type RSS struct {
	QPTypes       []string `json:"qp_types"`
	MaxTables     uint32   `json:"max_rwq_indirection_tables"`
	MaxTableSize  uint32   `json:"max_rwq_indirection_table_size"`
	HashFunctions *uint8   `json:"rx_hash_functions"` // bits defined by the driver
	HashFields    *uint64  `json:"rx_hash_fields"`    // bits defined by the driver
}

// TSO describes the segmentation of large sends into packets.
type TSO struct {
	Max     uint32   `json:"max"` // bytes
	QPTypes []string `json:"qp_types"`
}

// PacketPacing contains the range of the send rate limit of a queue pair.
type PacketPacing struct {
	Min     uint32   `json:"min_kbps"` // kbit/s
	Max     uint32   `json:"max_kbps"` // kbit/s
	QPTypes []string `json:"qp_types"`
}

// TagMatching describes the matching of messages with tagged buffers.
type TagMatching struct {
	MaxRndvHdrSize uint32   `json:"max_rndv_hdr_size"` // bytes
	MaxNumTags     uint32   `json:"max_num_tags"`
	Flags          []string `json:"flags"`
	MaxOps         uint32   `json:"max_ops"`
	MaxSGE         uint32   `json:"max_sge"`
}

// CQModeration contains the limits for delaying completion events.
type CQModeration struct {
	MaxCount  uint16 `json:"max_count"`
	MaxPeriod uint16 `json:"max_period_us"`
}

// CompCounters contains the limits of completion counters, which count the completed
// operations of queue pairs.
type CompCounters struct {
	MaxCounters uint32   `json:"max_counters"`
	MaxValue    uint64   `json:"max_value"`
	AttachOps   []string `json:"attach_operations"`
}

func newCompCounters(c *verbs.CompCounterCaps) *CompCounters {
	return &CompCounters{MaxCounters: c.MaxCounters, MaxValue: c.MaxValue, AttachOps: known(c.AttachOps)}
}

func newExtended(a *verbs.DeviceAttr) *Extended {
	e := &Extended{
		TimestampMask: a.TimestampMask,
		CoreClock:     a.CoreClock,
		MaxWQTypeRQ:   a.MaxWQTypeRQ,
		MaxDMSize:     a.MaxDMSize,
	}
	if a.ODP != nil {
		e.ODP = &ODP{General: known(a.ODP.General), RC: known(a.ODP.RC), UC: known(a.ODP.UC), UD: known(a.ODP.UD)}
		if a.XRCODP != nil {
			e.ODP.XRC = known(*a.XRCODP)
		}
	}
	if a.RSS != nil {
		e.RSS = &RSS{QPTypes: known(a.RSS.QPTypes), MaxTables: a.RSS.MaxRWQIndirectionTables, MaxTableSize: a.RSS.MaxRWQIndirectionTableSize}
		if a.RxHash != nil {
			e.RSS.HashFunctions, e.RSS.HashFields = &a.RxHash.Function, &a.RxHash.Fields
		}
	}
	if a.RawPacket != nil {
		e.RawPacket = known(*a.RawPacket)
	}
	if a.TSO != nil {
		e.TSO = &TSO{Max: a.TSO.Max, QPTypes: known(a.TSO.QPTypes)}
	}
	if a.PacketPacing != nil {
		e.PacketPacing = &PacketPacing{Min: a.PacketPacing.Min, Max: a.PacketPacing.Max, QPTypes: known(a.PacketPacing.QPTypes)}
	}
	if t := a.TagMatching; t != nil {
		e.TagMatching = &TagMatching{MaxRndvHdrSize: t.MaxRndvHdrSize, MaxNumTags: t.MaxNumTags, Flags: known(t.Flags), MaxOps: t.MaxOps, MaxSGE: t.MaxSGE}
	}
	if a.CQModeration != nil {
		e.CQModeration = (*CQModeration)(a.CQModeration)
	}
	return e
}

// known returns the names of the known flags of a set.
func known[T interface{ Names() ([]string, T) }](flags T) []string {
	names, _ := flags.Names()
	if names == nil {
		names = []string{}
	}
	return names
}
