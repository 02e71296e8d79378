package lookup

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the `ibkit addr` JSON document, which schema/addr.json
// describes. An incompatible change gets another number.
const ReportSchema = "ibkit/addr/3"

// A Report is the `ibkit addr --json` JSON document. A nil pointer stands for a value
// that does not exist or is unknown.
type Report struct {
	report.Head
	Local   *ReportLocal   `json:"local"`
	Targets []ReportTarget `json:"targets"`
}

// A ReportLocal describes the local port that was used.
type ReportLocal struct {
	Device    string   `json:"device"`
	Port      uint8    `json:"port"`
	LinkLayer string   `json:"link_layer"`
	PortGUID  *ib.GUID `json:"port_guid"`
	LID       *ib.LID  `json:"lid"`
}

// A ReportTarget has the ports of an address.
type ReportTarget struct {
	Target string       `json:"target"`
	Kind   string       `json:"kind"`
	Ports  []ReportPort `json:"ports"`
	Error  *string      `json:"error"`
	Hint   *string      `json:"hint"`
}

// A ReportPort has a port's addresses and attributes.
type ReportPort struct {
	Name        *string `json:"name"`
	Description *string `json:"description"` // a blank for each byte that is not printable ASCII
	// DescriptionHex has Description's bytes; nil if they are all printable ASCII.
	DescriptionHex *string       `json:"description_hex"`
	NodeType       *string       `json:"type"`
	NodeGUID       *ib.GUID      `json:"node_guid"`
	SystemGUID     *ib.GUID      `json:"system_guid"`
	PortGUID       *ib.GUID      `json:"port_guid"`
	Port           *uint8        `json:"port"`
	LID            *ib.LID       `json:"lid"`
	LastLID        *ib.LID       `json:"last_lid"`
	LMC            *uint8        `json:"lmc"`
	SL             uint8         `json:"sl"`
	Route          *mad.Route    `json:"route"`
	SMLID          *ib.LID       `json:"sm_lid"`
	State          *string       `json:"state"`
	PhysState      *string       `json:"phys_state"`
	GIDs           []ib.GID      `json:"gids"`
	Host           *ReportHost   `json:"host"`
	FoundBy        string        `json:"found_by"`
	DescribedBy    *string       `json:"described_by"`
	Findings       []report.Kind `json:"findings"`
	Error          *string       `json:"error"`
}

// A ReportHost describes a host on an IP network.
type ReportHost struct {
	IP          *string      `json:"ip"`
	Local       bool         `json:"local"`
	Netdev      *string      `json:"netdev"`
	Gateway     *string      `json:"gateway"`
	LinkAddress *string      `json:"link_address"`
	Paths       []ReportPath `json:"ways"`
}

// A ReportPath describes a path to a host.
type ReportPath struct {
	GID       ib.GID  `json:"gid"`
	Type      *string `json:"type"`
	Device    *string `json:"device"`
	Port      *uint8  `json:"port"`
	SGIDIndex *int    `json:"sgid_index"`
	Derived   bool    `json:"derived"`
	OneWay    bool    `json:"one_way"`
}
