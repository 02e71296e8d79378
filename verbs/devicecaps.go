package verbs

// DeviceCaps are device capabilities (the lower half of enum
// ib_uverbs_device_cap_flags).
type DeviceCaps uint32

var deviceCapBits = []bit[DeviceCaps]{
	{1 << 0, "RESIZE_MAX_WR"},
	{1 << 1, "BAD_PKEY_CNTR"},
	{1 << 2, "BAD_QKEY_CNTR"},
	{1 << 3, "RAW_MULTI"},
	{1 << 4, "AUTO_PATH_MIG"},
	{1 << 5, "CHANGE_PHY_PORT"},
	{1 << 6, "UD_AV_PORT_ENFORCE"},
	{1 << 7, "CURR_QP_STATE_MOD"},
	{1 << 8, "SHUTDOWN_PORT"},
	{1 << 9, "INIT_TYPE"},
	{1 << 10, "PORT_ACTIVE_EVENT"},
	{1 << 11, "SYS_IMAGE_GUID"},
	{1 << 12, "RC_RNR_NAK_GEN"},
	{1 << 13, "SRQ_RESIZE"},
	{1 << 14, "N_NOTIFY_CQ"},
	{1 << 17, "MEM_WINDOW"},
	{1 << 18, "UD_IP_CSUM"},
	{1 << 20, "XRC"},
	{1 << 21, "MEM_MGT_EXTENSIONS"},
	{1 << 23, "MEM_WINDOW_TYPE_2A"},
	{1 << 24, "MEM_WINDOW_TYPE_2B"},
	{1 << 25, "RC_IP_CSUM"},
	{1 << 26, "RAW_IP_CSUM"},
	{1 << 29, "MANAGED_FLOW_STEERING"},
}

// Names returns the capability names as ibv_devinfo spells and orders them,
// and the bits without a name.
func (c DeviceCaps) Names() (known []string, rest DeviceCaps) { return names(c, deviceCapBits) }

// DeviceCapsEx are device capabilities (enum ib_uverbs_device_cap_flags).
// The lower half usually equals DeviceCaps.
type DeviceCapsEx uint64

var deviceCapExBits = []bit[DeviceCapsEx]{
	{1 << 34, "RAW_SCATTER_FCS"},
	{1 << 36, "PCI_WRITE_END_PADDING"},
	{1 << 38, "FLUSH_GLOBAL"},
	{1 << 39, "FLUSH_PERSISTENT"},
	{1 << 40, "ATOMIC_WRITE"},
	{1 << 41, "CC_DMA_BOUNCE"},
}

// Names returns the capability names in the upper half, and the upper half's bits without a
// name. The ibv_devinfo in rdma-core 65 has no names for FLUSH_GLOBAL, FLUSH_PERSISTENT and
// ATOMIC_WRITE.
func (c DeviceCapsEx) Names() (known []string, rest DeviceCapsEx) {
	return names(c&^(1<<32-1), deviceCapExBits)
}

// RawPacketCaps are the raw packet queue pair capabilities (enum
// ib_uverbs_raw_packet_caps).
type RawPacketCaps uint32

var rawPacketBits = []bit[RawPacketCaps]{
	{1 << 0, "C-VLAN stripping offload"},
	{1 << 1, "Scatter FCS offload"},
	{1 << 2, "IP csum offload"},
	{1 << 3, "Delay drop"},
}

// Names returns the capability names as ibv_devinfo spells and orders them,
// and the bits without a name.
func (c RawPacketCaps) Names() (known []string, rest RawPacketCaps) { return names(c, rawPacketBits) }

// ODPGeneral are the general on-demand paging capabilities (enum
// ib_uverbs_odp_general_cap_bits).
type ODPGeneral uint64

var odpGeneralBits = []bit[ODPGeneral]{
	{1 << 0, "ODP_SUPPORT"},
	{1 << 1, "ODP_SUPPORT_IMPLICIT"},
}

// Names returns the capability names as ibv_devinfo spells and orders them,
// and the bits without a name.
func (c ODPGeneral) Names() (known []string, rest ODPGeneral) { return names(c, odpGeneralBits) }

// ODPTransport are a transport's operations that support on-demand paging (enum
// ib_uverbs_odp_transport_cap_bits).
type ODPTransport uint32

var odpTransportBits = []bit[ODPTransport]{
	{1 << 0, "SUPPORT_SEND"},
	{1 << 1, "SUPPORT_RECV"},
	{1 << 2, "SUPPORT_WRITE"},
	{1 << 3, "SUPPORT_READ"},
	{1 << 4, "SUPPORT_ATOMIC"},
	{1 << 5, "SUPPORT_SRQ"},
	{1 << 6, "SUPPORT_FLUSH"},
	{1 << 7, "SUPPORT_ATOMIC_WRITE"},
}

// Names returns the operation names as ibv_devinfo spells and orders them,
// and the bits without a name.
func (c ODPTransport) Names() (known []string, rest ODPTransport) { return names(c, odpTransportBits) }

// TagMatching are tag matching kinds (enum ibv_tm_cap_flags).
type TagMatching uint32

var tagMatchingBits = []bit[TagMatching]{{1 << 0, "IBV_TM_CAP_RC"}}

// Names returns the kind names as ibv_devinfo spells them, and the bits
// without a name.
func (c TagMatching) Names() (known []string, rest TagMatching) { return names(c, tagMatchingBits) }

// AtomicCap is the scope within which atomic operations are atomic (enum
// ib_atomic_cap).
type AtomicCap uint32

// String returns the text that ibv_devinfo prints.
func (c AtomicCap) String() string {
	switch c {
	case 0:
		return "ATOMIC_NONE"
	case 1:
		return "ATOMIC_HCA"
	case 2:
		return "ATOMIC_GLOB"
	}
	return "invalid atomic capability"
}
