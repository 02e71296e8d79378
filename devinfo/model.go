// Package devinfo finds the RDMA devices of this host and what is to know about
// them: ports, GIDs, capabilities, where they are plugged in, and what is wrong.
//
// It reads sysfs, asks the kernel over NETLINK_RDMA, and opens each device once.
// Each of the three may be missing; what only it knows is then nil, and a
// Problem says why.
package devinfo

import (
	"fmt"
	"net/netip"

	"github.com/ibkit/ibkit/verbs"
)

// A Result is what was found. Pointers are nil where the kernel does not tell.
type Result struct {
	Devices  []*Device `json:"devices"`
	Problems []Problem `json:"problems"` // what could not be seen
	Findings []Finding `json:"findings"` // what is wrong with what was seen
}

// A Device is an RDMA device. Comments name the file below
// class/infiniband/<Name> that a field is from.
type Device struct {
	Name         string  `json:"name"`
	Index        *uint32 `json:"index"`          // of NETLINK_RDMA
	NodeType     *uint8  `json:"node_type"`      // node_type: 1 CA, 2 switch, 3 router, 4 RNIC, 5 usNIC, 6 usNIC UDP, 7 unspecified
	NodeDesc     *string `json:"node_desc"`      // node_desc
	NodeGUID     *GUID   `json:"node_guid"`      // node_guid
	SysImageGUID *GUID   `json:"sys_image_guid"` // sys_image_guid
	Firmware     *string `json:"firmware"`       // fw_ver
	HWRev        *string `json:"hw_rev"`         // hw_rev
	HCAType      *string `json:"hca_type"`       // hca_type
	BoardID      *string `json:"board_id"`       // board_id
	Driver       *string `json:"driver"`         // device/driver
	DriverID     *string `json:"driver_id"`      // of uverbs
	NUMANode     *int    `json:"numa_node"`      // device/numa_node; -1 where there are none
	PCI          *PCI    `json:"pci"`            // device, where it is one
	UVerbs       *string `json:"uverbs"`         // class/infiniband_verbs/uverbs<N>/ibdev
	RDMACM       bool    `json:"rdma_cm"`        // class/misc/rdma_cm is there

	Attr        *verbs.DeviceAttr `json:"-"`
	CompVectors *uint32           `json:"comp_vectors"`
	Limits      map[string]uint64 `json:"limits"` // of Attr, by the names of ibv_devinfo
	Caps        []string          `json:"capabilities"`
	Extended    *Extended         `json:"extended"`
	UAPI        []Method          `json:"uapi"`        // asked for by Options.UAPI
	Parameters  map[string]string `json:"parameters"`  // module parameters
	HWCounts    map[string]uint64 `json:"hw_counters"` // hw_counters/: those of no port
	Ports       []*Port           `json:"ports"`
	OpenError   error             `json:"-"` // why the device could not be opened
	QueryError  error             `json:"-"`
	GIDs        []verbs.GIDEntry  `json:"-"`
}

// A Port is a port of a device. Comments name the file below ports/<Number>.
type Port struct {
	Number    int               `json:"port"`
	State     *uint8            `json:"state"`      // state, as PortInfo has it
	PhysState *uint8            `json:"phys_state"` // phys_state
	LinkLayer *string           `json:"link_layer"` // link_layer
	Rate      *string           `json:"rate"`       // rate: "100 Gb/sec (4X EDR)"
	LID       *uint16           `json:"lid"`        // lid
	LMC       *uint8            `json:"lmc"`        // lid_mask_count
	SMLID     *uint16           `json:"sm_lid"`     // sm_lid
	SMSL      *uint8            `json:"sm_sl"`      // sm_sl
	CapMask   *uint32           `json:"cap_mask"`   // cap_mask
	GID0      *netip.Addr       `json:"gid0"`       // gids/0
	MTU       *int              `json:"mtu"`        // active, bytes
	MaxMTU    *int              `json:"max_mtu"`    // bytes
	Netdev    *string           `json:"netdev"`     // gid_attrs/ndevs, or NETLINK_RDMA
	NetdevMTU *int              `json:"netdev_mtu"` // class/net/<Netdev>/mtu, bytes
	UMAD      *string           `json:"umad"`       // class/infiniband_mad/umad<N>
	ISSM      *string           `json:"issm"`       // class/infiniband_mad/issm<N>
	GIDs      []GID             `json:"gids"`
	PKeys     []PKey            `json:"pkeys"`
	Counters  map[string]uint64 `json:"counters"`    // counters/
	HWCounts  map[string]uint64 `json:"hw_counters"` // hw_counters/

	Attr       *verbs.PortAttr `json:"-"`
	QueryError error           `json:"-"`
	// Effective is the rate over all lanes in units of 100 Mbit/s.
	Effective *uint64 `json:"-"`
}

// A Method is a method of the kernel's, or one of its commands.
type Method struct {
	Object string `json:"object"` // "DEVICE"; "WRITE" for commands
	Name   string `json:"method"` // "QUERY_PORT"
	Known  bool   `json:"known"`  // whether the kernel answers to it for this device
}

// A GID is an entry of a port's GID table.
type GID struct {
	Index  uint32     `json:"index"`
	GID    netip.Addr `json:"gid"`
	Type   *string    `json:"type"` // "IB", "RoCE v1", "RoCE v2"
	Netdev *string    `json:"netdev"`
}

// A PKey is an entry of a port's P_Key table; empty ones are left out.
type PKey struct {
	Index int    `json:"index"`
	Key   uint16 `json:"pkey"`
}

// PCI is where a device is plugged in. Widths are in lanes, speeds as sysfs has
// them: "16.0 GT/s PCIe".
type PCI struct {
	Address  string  `json:"address"`
	Width    *int    `json:"width"`     // current_link_width
	MaxWidth *int    `json:"max_width"` // max_link_width
	Speed    *string `json:"speed"`     // current_link_speed
	MaxSpeed *string `json:"max_speed"` // max_link_speed
}

// GUID is one of 64 bits.
type GUID uint64

// String returns 16 digits behind 0x.
func (g GUID) String() string { return fmt.Sprintf("0x%016x", uint64(g)) }

// MarshalText is String.
func (g GUID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// A Problem is something that could not be seen, with the reason.
type Problem struct {
	Device string `json:"device"` // "" for none in particular
	Text   string `json:"text"`
	Hint   string `json:"hint"`
}

// A Finding is something wrong with a device, or one of its ports.
type Finding struct {
	Device string `json:"device"`
	Port   int    `json:"port"` // 0: the device
	Kind   string `json:"kind"` // such as "port-down"
	Text   string `json:"text"`
	Hint   string `json:"hint"`
}
