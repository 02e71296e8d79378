package devinfo

import "github.com/ibkit/ibkit/verbs"

// Extended is what of offloads and extensions a device can do: what the kernel
// tells by its extended command, and drivers of mlx4 and mlx5. Parts that are not
// told are nil. Flags go by the names of rdma-core (libibverbs/verbs.h, without
// their prefixes), those without a name are left out.
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
}

// ODP is which memory regions may be paged in on demand, by transport.
type ODP struct {
	General []string `json:"general"`
	RC      []string `json:"rc"`
	UC      []string `json:"uc"`
	UD      []string `json:"ud"`
	XRC     []string `json:"xrc"` // nil where the kernel is too old to tell
}

// RSS is how what is received is spread over work queues.
type RSS struct {
	QPTypes       []string `json:"qp_types"`
	MaxTables     uint32   `json:"max_rwq_indirection_tables"`
	MaxTableSize  uint32   `json:"max_rwq_indirection_table_size"`
	HashFunctions *uint8   `json:"rx_hash_functions"` // the driver's bits
	HashFields    *uint64  `json:"rx_hash_fields"`    // the driver's bits
}

// TSO is how large sends are cut into packets.
type TSO struct {
	Max     uint32   `json:"max"` // bytes
	QPTypes []string `json:"qp_types"`
}

// PacketPacing is between which rates a queue pair can be held, in kbit/s.
type PacketPacing struct {
	Min     uint32   `json:"min_kbps"`
	Max     uint32   `json:"max_kbps"`
	QPTypes []string `json:"qp_types"`
}

// TagMatching is how messages are matched with tagged buffers.
type TagMatching struct {
	MaxRndvHdrSize uint32   `json:"max_rndv_hdr_size"` // bytes
	MaxNumTags     uint32   `json:"max_num_tags"`
	Flags          []string `json:"flags"`
	MaxOps         uint32   `json:"max_ops"`
	MaxSGE         uint32   `json:"max_sge"`
}

// CQModeration is for how long events may be held back.
type CQModeration struct {
	MaxCount  uint16 `json:"max_count"`
	MaxPeriod uint16 `json:"max_period_us"`
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

// known returns the names of those flags of a set that have one.
func known[T interface{ Names() ([]string, T) }](flags T) []string {
	names, _ := flags.Names()
	if names == nil {
		names = []string{}
	}
	return names
}
