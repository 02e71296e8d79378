// Package devinfo describes the RDMA devices of a host: their ports, GIDs,
// capabilities and PCI slots, and problems with them.
//
// It reads sysfs, queries the kernel over NETLINK_RDMA and opens each device once.
// Each of these sources may be missing. The fields that only a missing source
// provides are nil, and a Problem contains the reason.
package devinfo

import (
	"net/netip"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/verbs"
)

// Schema identifies the version of the JSON encoding of a Result. The file
// schema/devinfo.json describes it.
const Schema = "ibkit/devinfo/4"

// A Result describes the devices of a host. Its JSON encoding is the output of ibkit
// devinfo --json. Pointers are nil for values that the kernel does not provide.
type Result struct {
	report.Head
	Devices  []*Device `json:"devices"`
	Problems []Problem `json:"-"` // the failures, with advice
}

// NodeTypes are the names of RDMA device types, by their numbers in the kernel.
var NodeTypes = []string{1: "CA", 2: "Switch", 3: "Router", 4: "RNIC", 5: "usNIC", 6: "usNIC UDP", 7: "unspecified"}

// A Device is an RDMA device. The comments name the source of a field: a file below
// class/infiniband/<Name>, unless noted otherwise.
type Device struct {
	Name         string   `json:"name"`
	Index        *uint32  `json:"index"`           // NETLINK_RDMA
	NodeType     *string  `json:"type"`            // node_type: one of NodeTypes
	NodeDesc     *string  `json:"description"`     // node_desc
	NodeDescHex  *string  `json:"description_hex"` // the bytes of NodeDesc; nil if they are all printable ASCII
	NodeGUID     *ib.GUID `json:"node_guid"`       // node_guid
	SysImageGUID *ib.GUID `json:"system_guid"`     // sys_image_guid
	Firmware     *string  `json:"firmware"`        // fw_ver
	HWRev        *string  `json:"hw_rev"`          // hw_rev
	HCAType      *string  `json:"hca_type"`        // hca_type
	BoardID      *string  `json:"board_id"`        // board_id
	Model        *string  `json:"model"`           // name for the PCI IDs in device/vendor and device/device; nil: unknown
	Driver       *string  `json:"driver"`          // device/driver
	DriverID     *string  `json:"driver_id"`       // uverbs
	NUMANode     *int     `json:"numa_node"`       // device/numa_node; -1 if the host has no NUMA nodes
	PCI          *PCI     `json:"pci"`             // device, if it is a PCI function
	UVerbs       *string  `json:"uverbs"`          // class/infiniband_verbs/uverbs<N>/ibdev
	RDMACM       bool     `json:"rdma_cm"`         // class/misc/rdma_cm exists
	SMI          bool     `json:"smi"`             // NETLINK_RDMA: only for subnet management packets of Parent
	Parent       *string  `json:"parent"`          // NETLINK_RDMA: device of the same adapter; nil: none

	Attr        *verbs.DeviceAttr `json:"-"`
	CompVectors *uint32           `json:"comp_vectors"`
	Limits      map[string]uint64 `json:"limits"` // limits in Attr, by their names in ibv_devinfo
	Caps        []string          `json:"capabilities"`
	Extended    *Extended         `json:"extended"`

	CompCounters *verbs.CompCounterCaps `json:"-"`
	UAPI         []Method               `json:"uapi"`        // set if Options.UAPI is set
	Parameters   map[string]string      `json:"parameters"`  // module parameters
	HWCounts     map[string]uint64      `json:"hw_counters"` // hw_counters/, without the ports' counters
	Ports        []*Port                `json:"ports"`
	OpenError    error                  `json:"-"` // reason why the device could not be opened
	QueryError   error                  `json:"-"`
	GIDs         []verbs.GIDEntry       `json:"-"`
}

// A Port is a port of a device. The comments name the source of a field: a file below
// ports/<Number>, unless noted otherwise.
type Port struct {
	Number    int               `json:"port"`
	State     *ib.PortState     `json:"state"`      // state
	PhysState *ib.PhysState     `json:"phys_state"` // phys_state
	LinkLayer *string           `json:"link_layer"` // link_layer
	Rate      *string           `json:"rate"`       // rate: "100 Gb/sec (4X EDR)"
	LID       *uint16           `json:"lid"`        // lid
	LMC       *uint8            `json:"lmc"`        // lid_mask_count
	SMLID     *uint16           `json:"sm_lid"`     // sm_lid
	SMSL      *uint8            `json:"sm_sl"`      // sm_sl
	CapMask   *uint32           `json:"cap_mask"`   // cap_mask
	GID0      *netip.Addr       `json:"gid0"`       // gids/0
	MTU       *int              `json:"mtu"`        // uverbs: active MTU in bytes
	MaxMTU    *int              `json:"max_mtu"`    // uverbs: highest MTU in bytes
	Netdev    *string           `json:"netdev"`     // gid_attrs/ndevs, NETLINK_RDMA, or IPoIB
	NetdevMTU *int              `json:"netdev_mtu"` // class/net/<Netdev>/mtu, in bytes
	UMAD      *string           `json:"umad"`       // class/infiniband_mad/umad<N>
	ISSM      *string           `json:"issm"`       // class/infiniband_mad/issm<N>
	GIDs      []GID             `json:"gids"`
	PKeys     []PKey            `json:"pkeys"`
	Counters  map[string]uint64 `json:"counters"`    // counters/
	HWCounts  map[string]uint64 `json:"hw_counters"` // hw_counters/

	Lifespan   *uint64         `json:"-"` // hw_counters/lifespan: maximum age of HWCounts in ms
	Attr       *verbs.PortAttr `json:"-"`
	QueryError error           `json:"-"`
	// Effective is the rate of all lanes together in units of 100 Mbit/s; nil if the kernel
	// or the driver does not report it (Linux 7.0).
	Effective *uint64 `json:"effective_rate"`
}

// A Method is a method of the uverbs ioctl interface, or a command of its write
// interface.
type Method struct {
	Object string `json:"object"` // for example "DEVICE"; "WRITE" for commands
	Name   string `json:"method"` // for example "QUERY_PORT"
	Known  bool   `json:"known"`  // the kernel supports it for this device
}

// A GID is an entry of the GID table of a port.
type GID struct {
	Index  uint32     `json:"index"`
	GID    netip.Addr `json:"gid"`
	Type   *string    `json:"type"` // "IB", "RoCE v1", "RoCE v2"
	Netdev *string    `json:"netdev"`
}

// A PKey is an entry of the P_Key table of a port. Empty entries are omitted.
type PKey struct {
	Index int    `json:"index"`
	Key   uint16 `json:"pkey"`
}

// PCI describes the PCI Express link of a device. Widths are numbers of lanes; speeds
// have the format of sysfs, for example "16.0 GT/s PCIe".
type PCI struct {
	Address  string  `json:"address"`
	Width    *int    `json:"width"`     // current_link_width
	MaxWidth *int    `json:"max_width"` // max_link_width
	Speed    *string `json:"speed"`     // current_link_speed
	MaxSpeed *string `json:"max_speed"` // max_link_speed
}

// A Problem is a source that could not be read.
type Problem struct {
	Device string // "" if it concerns all devices
	Err    error
	Advice string // or ""
}

func (p Problem) Error() string { return p.Err.Error() }

// Unwrap returns the reason.
func (p Problem) Unwrap() error { return p.Err }

// Hint returns the advice, as commands print it.
func (p Problem) Hint() string { return p.Advice }

// failure returns the problem as documents list it.
func (p Problem) failure() report.Failure { return report.Failure{Subject: p.Device, Error: p.Error()} }
