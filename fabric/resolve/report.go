package resolve

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Schema identifies the JSON document of `ibkit addr`, which schema/addr.json
// describes. An incompatible change gets another number.
const Schema = "ibkit/addr/1"

// A Report is the JSON document of `ibkit addr --json`. A nil pointer stands for a
// value that does not exist or is unknown.
type Report struct {
	ReportHead
	Targets []TargetReport `json:"targets"`
}

// A ReportHead is the part of a report before the targets.
type ReportHead struct {
	Schema  string       `json:"schema"`
	Partial bool         `json:"partial"` // a target was not found, or ports or attributes may be missing
	Local   *LocalReport `json:"local"`
}

// A LocalReport describes the local port that was used.
type LocalReport struct {
	Device    string   `json:"device"`
	Port      uint8    `json:"port"`
	LinkLayer string   `json:"link_layer"`
	PortGUID  *ib.GUID `json:"port_guid"`
	LID       *ib.LID  `json:"lid"`
}

// A TargetReport has the ports of one address.
type TargetReport struct {
	Target string       `json:"target"`
	Kind   string       `json:"kind"`
	Ports  []PortReport `json:"ports"`
	Error  *string      `json:"error"`
	Hint   *string      `json:"hint"`
}

// A PortReport has the addresses and attributes of a port.
type PortReport struct {
	Name        *string `json:"name"`
	Description *string `json:"description"` // a blank for each byte that is not printable ASCII
	// DescriptionHex has the bytes of Description; nil if they are all printable ASCII.
	DescriptionHex *string         `json:"description_hex"`
	NodeType       *string         `json:"node_type"`
	NodeGUID       *ib.GUID        `json:"node_guid"`
	SystemGUID     *ib.GUID        `json:"system_guid"`
	PortGUID       *ib.GUID        `json:"port_guid"`
	Port           *uint8          `json:"port"`
	LID            *ib.LID         `json:"lid"`
	LastLID        *ib.LID         `json:"last_lid"`
	LMC            *uint8          `json:"lmc"`
	SL             uint8           `json:"sl"`
	Route          *mad.Route      `json:"route"`
	SMLID          *ib.LID         `json:"sm_lid"`
	State          *string         `json:"state"`
	PhysState      *string         `json:"phys_state"`
	GIDs           []ib.GID        `json:"gids"`
	Host           *HostReport     `json:"host"`
	FoundBy        string          `json:"found_by"`
	DescribedBy    *string         `json:"described_by"`
	Findings       []FindingReport `json:"findings"`
	Error          *string         `json:"error"`
}

// A HostReport describes a host on an IP network.
type HostReport struct {
	IP          *string      `json:"ip"`
	Local       bool         `json:"local"`
	Netdev      *string      `json:"netdev"`
	Gateway     *string      `json:"gateway"`
	LinkAddress *string      `json:"link_address"`
	Paths       []PathReport `json:"ways"`
}

// A PathReport describes a path to a host.
type PathReport struct {
	GID       ib.GID  `json:"gid"`
	Type      *string `json:"type"`
	Device    *string `json:"device"`
	Port      *uint8  `json:"port"`
	SGIDIndex *int    `json:"sgid_index"`
	Derived   bool    `json:"derived"`
	OneWay    bool    `json:"one_way"`
}

// A FindingReport is a [Finding].
type FindingReport struct {
	Kind   FindingKind `json:"kind"`
	Detail string      `json:"detail"`
}
