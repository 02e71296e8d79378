package lookup

import (
	"net"
	"net/netip"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// A Source is a source of information about a port.
type Source uint8

// The sources.
const (
	FromAddress    Source = iota + 1 // the address itself
	FromSA                           // subnet administration
	FromScan                         // fabric scan
	FromNode                         // node's agents
	FromNeighbours                   // kernel's routes and neighbour table
	FromHost                         // sysfs: a port on this host
)

var sourceNames = [...]string{FromAddress: "address", FromSA: "sa", FromScan: "scan", FromNode: "node", FromNeighbours: "neighbours", FromHost: "host"}

// String returns a word such as "sa", or "" for the zero Source.
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return "?"
}

// A Port is a port with its path and attributes. Unknown values are zero or nil.
type Port struct {
	// To is the path of packets in an InfiniBand fabric. Only a subnet management
	// agent can be reached by a directed route.
	To umad.Target

	// Host describes a host on an IP network. If IP runs over InfiniBand, To is
	// set, too.
	Host *Host

	FoundBy Source // of the path

	// PortGUID is the port's GUID if the address specifies the port; 0: the port at To,
	// whichever it is.
	PortGUID ib.GUID

	// The port's attributes. NodeInfo's port members are this port's members.
	Node        *mad.NodeInfo
	Description *mad.NodeDescription
	Info        *mad.PortInfo
	GUIDs       []ib.GUID // GUID table entries that are not 0
	DescribedBy Source

	Findings []report.Finding // without a subject

	// Err is the reason why attributes are missing, or nil.
	Err error
}

// Number returns the port number, and false if it is unknown.
func (p *Port) Number() (uint8, bool) {
	switch {
	case p.Node == nil:
		return 0, false
	case p.Node.IsSwitch():
		return 0, true // the port with LIDs
	}
	return p.Node.LocalPort, true
}

// LIDs returns the port's first and last LID, or 0 if they are unknown or not assigned.
func (p *Port) LIDs() (first, last ib.LID) {
	switch {
	case p.Info == nil && p.To.IsDirected(): // To.LID is the route's start
		return 0, 0
	case p.Info == nil:
		return p.To.LID, p.To.LID
	case p.Info.LID == 0:
		return 0, 0
	}
	return p.Info.LID, p.Info.LID + 1<<p.Info.LMC - 1
}

// GIDs returns the port's GIDs, first the GID with the port's own GUID.
func (p *Port) GIDs() []ib.GID {
	if p.Host != nil && p.Node == nil {
		return p.Host.gids()
	}
	if p.Node == nil || p.Info == nil {
		return nil
	}
	own := p.Node.PortGUID
	gids := []ib.GID{ib.MakeGID(p.Info.GIDPrefix, own)}
	for _, guid := range p.GUIDs {
		if guid != own {
			gids = append(gids, ib.MakeGID(p.Info.GIDPrefix, guid))
		}
	}
	return gids
}

// A Host is a host on an IP network.
type Host struct {
	IP      netip.Addr // invalid if the address was a GID
	Netdev  string     // this host's network device for packets to the host; "": unknown
	Local   bool       // this host
	Gateway netip.Addr // invalid if the host is on the link

	LinkAddr net.HardwareAddr // of the host or of the gateway

	// Paths for RDMA packets to the host, the best path for requests and responses
	// first.
	Paths []Path
}

// A Path is a host GID, with the local port and GID to send from.
type Path struct {
	GID  ib.GID
	Type string // "RoCE v1", "RoCE v2", "IB"; "": unknown

	// Device and Port are the local port to send from, and SGIDIndex is its GID's
	// index. "", 0 and -1: no local port has a suitable GID.
	Device    string
	Port      uint8
	SGIDIndex int

	// Derived reports that the GID was not looked up: it is the default GID that Linux
	// derives from a network device's link-layer address.
	Derived bool

	// OneWay reports that Linux drops responses on this path. A request and its
	// answer must be two packets that are not request and response.
	OneWay bool
}

// GRH returns the global route header for packets on the path.
func (p *Path) GRH() *umad.GRH {
	return &umad.GRH{SGIDIndex: uint8(p.SGIDIndex), HopLimit: device.HopLimit, DGID: p.GID}
}

func (h *Host) gids() []ib.GID {
	var gids []ib.GID
	for _, p := range h.Paths {
		gids = append(gids, p.GID)
	}
	return gids
}
