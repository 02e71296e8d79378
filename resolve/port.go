package resolve

import (
	"net"
	"net/netip"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// A Source is who says something of a port.
type Source uint8

// The sources.
const (
	FromAddress    Source = iota + 1 // the address itself says where packets go
	FromSA                           // subnet administration
	FromScan                         // a scan of the fabric
	FromNode                         // the node itself
	FromNeighbours                   // the kernel's routes and neighbour table
	FromHost                         // sysfs: it is a port of this host
)

var sourceNames = [...]string{FromAddress: "address", FromSA: "sa", FromScan: "scan", FromNode: "node", FromNeighbours: "neighbours", FromHost: "host"}

// String returns a word such as "sa"; "" for the zero Source.
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return "?"
}

// A Port is one that an address leads to: how packets get there, and what is
// known of it. What is not known is the zero value, or nil.
type Port struct {
	// To is how packets get there in an InfiniBand fabric; only a subnet
	// management agent is reached by a route.
	To umad.Target

	// Host is what is known of a host on an IP network. Where IP runs over
	// InfiniBand, To is known too.
	Host *Host

	FoundBy Source // who knew how to get there

	// PortGUID is that of the port which the address means; 0: whichever is
	// there.
	PortGUID ib.GUID

	// What the port, or somebody else, says of itself. Of NodeInfo the port's own
	// members are those of this port.
	Node        *mad.NodeInfo
	Description *mad.NodeDescription
	Info        *mad.PortInfo
	GUIDs       []ib.GUID // of the port's GUID table, as far as they are not 0
	DescribedBy Source

	Findings []Finding // what is wrong with it

	// Err is why less than all was found out; nil: all was.
	Err error
}

// Number returns the number of the port; false: it is not known.
func (p *Port) Number() (uint8, bool) {
	switch {
	case p.Node == nil:
		return 0, false
	case p.Node.NodeType == mad.NodeTypeSwitch:
		return 0, true // the one that has LIDs
	}
	return p.Node.LocalPort, true
}

// LIDs returns the first and the last LID of the port, and 0 where it has none or
// they are not known.
func (p *Port) LIDs() (first, last ib.LID) {
	switch {
	case p.Info == nil && p.To.Route != "": // its LID is where the route begins
		return 0, 0
	case p.Info == nil:
		return p.To.LID, p.To.LID
	case p.Info.LID == 0:
		return 0, 0
	}
	return p.Info.LID, p.Info.LID + 1<<p.Info.LMC - 1
}

// GIDs returns the port's GIDs, the one that it always has first.
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

// A Host is a place on an IP network.
type Host struct {
	IP      netip.Addr // invalid: it was named by a GID
	Netdev  string     // of this host, by which packets go; "" where it is not known
	Local   bool       // it is this host
	Gateway netip.Addr // invalid: it is on the link

	LinkAddr net.HardwareAddr // of it or of the gateway

	// Ways are those by which RDMA packets get there, the best for a request and
	// its response first.
	Ways []Way
}

// A Way is a GID of a host and what goes with it.
type Way struct {
	GID  ib.GID
	Type string // "RoCE v1", "RoCE v2", "IB"; "": not known

	// From is the port of this host to send from, and SGIDIndex the entry of its
	// GID table. nil and -1: there is none that fits.
	From      *device.Candidate
	SGIDIndex int

	// Derived says that the host was not asked for the GID: it is the one that
	// Linux gives a port of RoCE by the link-layer address of its network device.
	Derived bool

	// OneWay says that Linux drops responses to what is sent this way, so that a
	// request and its answer have to be two packets of which neither is one.
	OneWay bool
}

// GRH returns the global route header of packets that go this way.
func (w *Way) GRH() *umad.GRH {
	return &umad.GRH{SGIDIndex: uint8(w.SGIDIndex), HopLimit: device.HopLimit, DGID: w.GID}
}

func (h *Host) gids() []ib.GID {
	var gids []ib.GID
	for _, w := range h.Ways {
		gids = append(gids, w.GID)
	}
	return gids
}
