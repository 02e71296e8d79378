package verbs

// A PortAttr is a port and its link.
type PortAttr struct {
	State         PortState
	MaxMTU        MTU
	ActiveMTU     MTU
	SMLID         uint16
	LID           uint16
	LMC           uint8
	LinkLayer     LinkLayer
	MaxMsgSize    uint32 // bytes
	Caps          PortCaps
	Caps2         uint16 // PortInfo's CapabilityMask2
	MaxVL         VLNum
	BadPKeys      uint32
	QKeyViols     uint32
	SMSL          uint8
	PKeyTableLen  uint16
	GIDTableLen   uint32
	SubnetTimeout uint8 // 4.096 µs · 2^n
	InitTypeReply uint8
	ActiveWidth   LinkWidth
	ActiveSpeed   LinkSpeed
	PhysState     PhysState
	GRHRequired   bool
}

// PortCaps are a port's capabilities: PortInfo's CapabilityMask, but for bit 26,
// which says that GIDs are made of IP addresses (enum
// ib_uverbs_query_port_cap_flags).
type PortCaps uint32

// IPBasedGIDs tells that GIDs are made of IP addresses.
func (c PortCaps) IPBasedGIDs() bool { return c&(1<<26) != 0 }

// PortState is the logical state of a port (enum ib_port_state).
type PortState uint8

// States of ports.
const (
	PortNop         PortState = 0
	PortDown        PortState = 1
	PortInit        PortState = 2
	PortArmed       PortState = 3
	PortActive      PortState = 4
	PortActiveDefer PortState = 5
)

// String returns what ibv_devinfo prints.
func (s PortState) String() string {
	switch s {
	case PortDown:
		return "PORT_DOWN"
	case PortInit:
		return "PORT_INIT"
	case PortArmed:
		return "PORT_ARMED"
	case PortActive:
		return "PORT_ACTIVE"
	}
	return "invalid state"
}

// PhysState is the physical state of a port (PortPhysicalState of PortInfo).
type PhysState uint8

// String returns what ibv_devinfo prints, misspelling included.
func (s PhysState) String() string {
	switch s {
	case 1:
		return "SLEEP"
	case 2:
		return "POLLING"
	case 3:
		return "DISABLED"
	case 4:
		return "PORT_CONFIGURATION TRAINNING"
	case 5:
		return "LINK_UP"
	case 6:
		return "LINK_ERROR_RECOVERY"
	case 7:
		return "PHY TEST"
	}
	return "invalid physical state"
}

// MTU is how much a packet carries at most (enum ib_mtu).
type MTU uint8

// Bytes returns the size in bytes, 0 if it is none.
func (m MTU) Bytes() int {
	if m < 1 || m > 5 {
		return 0
	}
	return 128 << m
}

// String returns what ibv_devinfo prints.
func (m MTU) String() string {
	switch m {
	case 1:
		return "256"
	case 2:
		return "512"
	case 3:
		return "1024"
	case 4:
		return "2048"
	case 5:
		return "4096"
	}
	return "invalid MTU"
}

// VLNum is how many virtual lanes a port has, in PortInfo's code.
type VLNum uint8

// String returns what ibv_devinfo prints.
func (n VLNum) String() string {
	switch n {
	case 1:
		return "1"
	case 2:
		return "2"
	case 3:
		return "4"
	case 4:
		return "8"
	case 5:
		return "15"
	}
	return "invalid value"
}

// LinkLayer is what is below a port (enum rdma_link_layer).
type LinkLayer uint8

// Link layers.
const (
	LinkLayerUnspecified LinkLayer = 0
	LinkLayerInfiniBand  LinkLayer = 1
	LinkLayerEthernet    LinkLayer = 2
)

// String returns what ibv_devinfo prints.
func (l LinkLayer) String() string {
	switch l {
	case LinkLayerUnspecified:
		return "Unspecified"
	case LinkLayerInfiniBand:
		return "InfiniBand"
	case LinkLayerEthernet:
		return "Ethernet"
	}
	return "Unknown"
}
