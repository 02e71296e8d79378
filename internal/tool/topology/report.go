package topology

import (
	"strconv"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the JSON form of a [Report]; schema/topology.json describes
// it. A change that breaks readers changes the number.
const ReportSchema = "ibkit/topology/3"

// A Report is the document that "ibkit topology --json" prints. Pointers are nil if a
// value is unknown or does not exist.
type Report struct {
	report.Head
	Start   *ib.GUID      `json:"start"` // node where the scan began
	Nodes   []ReportNode  `json:"nodes"`
	Cables  []ReportCable `json:"cables"`
	Summary Summary       `json:"summary"`
}

// A ReportNode is a node in a [Report].
type ReportNode struct {
	GUID        ib.GUID        `json:"node_guid"`
	Type        string         `json:"type"`
	Name        string         `json:"name"`        // from the node name map, else the description
	Description string         `json:"description"` // a blank for each byte that is not printable ASCII
	LID         *ib.LID        `json:"lid"`         // for a switch's port 0 or the first port that is known
	Ports       int            `json:"num_ports"`
	Links       int            `json:"links"`
	Level       *int           `json:"level"` // switch level: 0 with end nodes, otherwise the distance from such a switch
	VendorID    uint32         `json:"vendor_id"`
	DeviceID    uint16         `json:"device_id"`
	SystemGUID  ib.GUID        `json:"system_guid"`
	System      *report.System `json:"system"`
}

// A ReportCable is a link in a [Report].
type ReportCable struct {
	A     ReportEnd `json:"a"`
	B     ReportEnd `json:"b"`
	Width *string   `json:"width"`
	Speed *string   `json:"speed"`
	Gbps  *float64  `json:"gbps"` // signalling rate, 10^9 bits per second
}

// A ReportEnd is a cable end.
type ReportEnd struct {
	GUID     ib.GUID `json:"node_guid"` // node GUID
	Name     string  `json:"name"`      // node name
	Port     uint8   `json:"port"`
	External *int    `json:"external_port"` // as printed on the chassis
	Label    *string `json:"label"`         // port position, as its agent reports it
}

// A Summary counts a fabric's parts.
type Summary struct {
	Switches int `json:"switches"`
	CAs      int `json:"cas"`
	Routers  int `json:"routers"`
	Cables   int `json:"cables"`
	Levels   int `json:"levels"` // of switches
	Findings int `json:"findings"`
}

// NewReport returns the report on a fabric without its nodes and cables.
func NewReport(f *fabric.Fabric, began time.Time, findings []report.Finding, names *fabric.NameMap) *Report {
	r := &Report{
		Head: report.NewHead(ReportSchema, began), Nodes: []ReportNode{}, Cables: []ReportCable{},
		Summary: Summarize(f, len(findings)),
	}
	for _, c := range f.Conflicts {
		r.Add(report.New(report.Conflict, c.GUID.String(), c.Detail).At(c.GUID, int(c.Port)))
	}
	r.Add(findings...)
	r.Fail(f.ReportFailures(names)...)
	r.Partial = f.Partial()
	if f.Start != nil {
		r.Start = &f.Start.GUID
	}
	return r
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
		r.System = &report.System{Number: n.System.Number, GUID: n.System.GUID, Slot: n.Slot.String()}
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

// Summarize counts a fabric's parts.
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

// PortLabel returns a port's number, in brackets the number printed on the chassis, and
// the port's label.
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
