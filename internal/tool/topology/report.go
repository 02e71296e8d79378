package topology

import (
	"strconv"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// ReportSchema identifies the JSON form of a [Report]; schema/topology.json describes
// it. A change that breaks readers changes the number.
const ReportSchema = "ibkit/topology/1"

// A Report is the document that "ibkit topology --json" prints. Pointers are nil if a
// value is unknown or does not exist.
type Report struct {
	ReportHead
	Nodes    []ReportNode  `json:"nodes"`
	Cables   []ReportCable `json:"cables"`
	Findings []Finding     `json:"findings"`
	ReportTail
}

// A ReportHead contains the members of a [Report] before the nodes.
type ReportHead struct {
	Schema     string   `json:"schema"`
	Partial    bool     `json:"partial"`    // part of the fabric is missing
	Aborted    *string  `json:"aborted"`    // the reason if the scan ended early
	Unanswered int      `json:"unanswered"` // requests without a response
	Conflicts  []string `json:"conflicts"`
	Start      *ib.GUID `json:"start"` // of the node where the scan began
}

// A ReportNode is a node of a [Report].
type ReportNode struct {
	GUID        ib.GUID       `json:"guid"`
	Type        string        `json:"type"`
	Name        string        `json:"name"`        // from the node name map, else the description
	Description string        `json:"description"` // a blank for each byte that is not printable ASCII
	LID         *ib.LID       `json:"lid"`         // of a switch's port 0 or the first port that is known
	Ports       int           `json:"ports"`
	Links       int           `json:"links"`
	Level       *int          `json:"level"` // of a switch: 0 with end nodes, otherwise the distance from such a switch
	VendorID    uint32        `json:"vendor_id"`
	DeviceID    uint16        `json:"device_id"`
	SystemGUID  ib.GUID       `json:"system_guid"`
	System      *ReportSystem `json:"system"`
}

// A ReportSystem is the chassis that contains a node.
type ReportSystem struct {
	Number int    `json:"number"`
	Slot   string `json:"slot"`
}

// A ReportCable is a link of a [Report].
type ReportCable struct {
	A     ReportEnd `json:"a"`
	B     ReportEnd `json:"b"`
	Width *string   `json:"width"`
	Speed *string   `json:"speed"`
	Gbps  *float64  `json:"gbps"` // signalling rate, 10^9 bits per second
}

// A ReportEnd is one end of a cable.
type ReportEnd struct {
	GUID     ib.GUID `json:"guid"` // of the node
	Name     string  `json:"name"` // of the node
	Port     uint8   `json:"port"`
	External *int    `json:"external_port"` // as printed on the chassis
	Label    *string `json:"label"`         // position of the port, as its agent reports it
}

// A ReportTail contains the members of a [Report] after the findings.
type ReportTail struct {
	Summary Summary `json:"summary"`
}

// A Summary counts the parts of a fabric.
type Summary struct {
	Switches int `json:"switches"`
	CAs      int `json:"cas"`
	Routers  int `json:"routers"`
	Cables   int `json:"cables"`
	Levels   int `json:"levels"` // of switches
	Findings int `json:"findings"`
}

// NewReportHead returns the members of the report before the nodes.
func NewReportHead(f *fabric.Fabric) ReportHead {
	h := ReportHead{Schema: ReportSchema, Partial: f.Partial(), Unanswered: len(f.Failures) + f.Unanswered, Conflicts: []string{}}
	if f.Aborted != nil {
		h.Aborted = new(f.Aborted.Error())
	}
	if f.Start != nil {
		h.Start = &f.Start.GUID
	}
	for _, c := range f.Conflicts {
		h.Conflicts = append(h.Conflicts, c.Detail)
	}
	return h
}

// NewReportNode returns the report on a node.
func NewReportNode(n *fabric.Node, levels Layout, names *fabric.NameMap) ReportNode {
	r := ReportNode{
		GUID: n.GUID, Type: n.Info.NodeType.String(), Name: names.Name(n), Description: n.Desc.Clean(),
		Ports: int(n.Info.NumPorts), Links: len(linked(n)),
		VendorID: n.Info.VendorID, DeviceID: n.Info.DeviceID, SystemGUID: n.Info.SystemGUID,
	}
	for _, p := range n.Ports {
		if p != nil {
			if lid := p.LID(); lid != 0 {
				r.LID = &lid
			}
			break
		}
	}
	if level, ok := levels.Level[n]; ok {
		r.Level = &level
	}
	if n.System != nil {
		r.System = &ReportSystem{n.System.Number, n.Slot.String()}
	}
	return r
}

// NewReportCable returns the report on a cable.
func NewReportCable(c Cable, names *fabric.NameMap) ReportCable {
	r := ReportCable{A: newReportEnd(c.A, names), B: newReportEnd(c.B, names)}
	w, s := c.Rate()
	if w != 0 {
		r.Width = new(w.String())
	}
	if s != 0 {
		r.Speed = new(s.String())
	}
	if g := c.Gbps(); g != 0 {
		r.Gbps = &g
	}
	return r
}

func newReportEnd(p *fabric.Port, names *fabric.NameMap) ReportEnd {
	e := ReportEnd{GUID: p.Node.GUID, Name: names.Name(p.Node), Port: p.Number}
	if p.External != 0 {
		e.External = &p.External
	}
	if p.Label != "" {
		e.Label = &p.Label
	}
	return e
}

// Summarize counts the parts of a fabric.
func Summarize(f *fabric.Fabric, findings int) Summary {
	s := Summary{Cables: len(Cables(f)), Levels: Levels(f).Count, Findings: findings}
	for _, n := range f.Nodes {
		switch wordsOf(n.Info.NodeType).report {
		case "SW":
			s.Switches++
		case "CA":
			s.CAs++
		case "RT":
			s.Routers++
		}
	}
	return s
}

// PortLabel returns the number of a port, in brackets the number printed on the chassis,
// and the label of the port.
func PortLabel(p *fabric.Port) string {
	s := strconv.Itoa(int(p.Number))
	if p.External != 0 {
		s += "[" + strconv.Itoa(p.External) + "]"
	}
	if p.Label != "" {
		s += " " + p.Label
	}
	return s
}
