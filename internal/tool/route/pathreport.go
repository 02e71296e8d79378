package route

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// PathSchema identifies the JSON form of a [ReportPaths]; schema/route.json describes it.
const PathSchema = "ibkit/route/2"

// A ReportPaths is the document that "ibkit route --json" prints.
type ReportPaths struct {
	ReportPathsHead
	Pairs []ReportPair `json:"pairs"`
}

// A ReportPathsHead is a report's part before the pairs.
type ReportPathsHead struct {
	report.Head
	Group *ib.LID `json:"group"` // null: unicast

	// Unchecked are the finding kinds that the files do not contain enough for; null: the
	// fabric was scanned.
	Unchecked []report.Kind `json:"unchecked"`
}

// A ReportPair is the paths between two ports.
type ReportPair struct {
	Forward   ReportPath  `json:"forward"`
	Reverse   *ReportPath `json:"reverse"`   // null: no port has the destination LID
	Symmetric *bool       `json:"symmetric"` // both cross the same links; null: unknown, or no reverse path
}

// A ReportPath is a [Path].
type ReportPath struct {
	From     ReportEnd     `json:"from"`
	To       *ReportEnd    `json:"to"` // null: no port has the LID
	LID      ib.LID        `json:"lid"`
	SL       *uint8        `json:"sl"`       // null: unknown
	Arrives  *bool         `json:"arrives"`  // null: unknown, as a table or node did not respond
	Cause    *Cause        `json:"cause"`    // null: the path arrives
	Shortest *int          `json:"shortest"` // links; null: no links lead to the destination, or multicast
	Slowest  *int          `json:"slowest"`  // index in hops; null: all links have the same rate
	Record   *ReportRecord `json:"record"`   // null: unknown
	Hops     []ReportHop   `json:"hops"`
	Findings []report.Kind `json:"findings"`

	Details []report.Finding `json:"-"` // of Findings
}

// A ReportRecord is a [PathRecord]. A missing record's fields are null.
type ReportRecord struct {
	Found bool     `json:"found"`
	MTU   *int     `json:"mtu"` // bytes
	Gbps  *float64 `json:"gbps"`
}

// A ReportEnd is a path end.
type ReportEnd struct {
	NodeGUID ib.GUID `json:"node_guid"`
	PortGUID ib.GUID `json:"port_guid"`
	Name     string  `json:"name"`
	Port     uint8   `json:"port"`
	LID      ib.LID  `json:"lid"`
}

// A ReportHop is a link on a path.
type ReportHop struct {
	Output   ReportHopPort   `json:"output"`
	Input    ReportHopPort   `json:"input"`
	Width    *string         `json:"width"`
	Speed    *string         `json:"speed"`
	Gbps     *float64        `json:"gbps"`
	MTU      *int            `json:"mtu"`      // bytes
	State    *string         `json:"state"`    // output port state; null: unknown
	Adaptive []uint16        `json:"adaptive"` // output ports between which the switch selects; null: only Output
	Counters *ReportCounters `json:"counters"` // null: not read
}

// A ReportHopPort is a link end on a path.
type ReportHopPort struct {
	ReportPort
	PortGUID ib.GUID `json:"port_guid"` // for a switch, port 0's GUID
}

// ReportCounters has the error counters for both link ends by name; an end without a
// response has no counters.
type ReportCounters struct {
	Output map[string]uint64 `json:"output"`
	Input  map[string]uint64 `json:"input"`
}

// Known reports whether all tables and nodes on a path responded, as far as it leads.
func (p *Path) Known() bool { return p.Cause != Unseen && p.Cause != Silent }

// Arrived reports whether a path is known to arrive.
func (r *ReportPath) Arrived() bool { return r.Arrives != nil && *r.Arrives }

// NewReportPath returns a path's report.
func NewReportPath(p *Path, names *fabric.NameMap) ReportPath {
	w := namer{names}
	r := ReportPath{
		From: w.end(p.From), LID: p.LID, SL: p.SL, Hops: []ReportHop{}, Details: p.Findings(names),
	}
	if p.Known() {
		r.Arrives = new(p.Cause == 0)
	}
	if p.To != nil {
		r.To = new(w.end(p.To))
	}
	if p.Cause != 0 {
		r.Cause = &p.Cause
	}
	if p.Shortest >= 0 {
		r.Shortest = &p.Shortest
	}
	if slow := p.Slowest(); slow >= 0 {
		r.Slowest = &slow
	}
	if p.Record != nil {
		r.Record = &ReportRecord{Found: p.Record.Found}
		if p.Record.Found {
			r.Record.MTU, r.Record.Gbps = new(p.Record.MTU.Bytes()), new(p.Record.Rate.Gbps())
		}
	}
	for _, h := range p.Hops {
		hop := w.hop(h)
		if mask := h.Output.Node.Adaptive.Group(p.LID); mask != nil && p.Group == 0 {
			hop.Adaptive = mask.Ports()
		}
		r.Hops = append(r.Hops, hop)
	}
	return r
}

func (w namer) hop(h Hop) ReportHop {
	o := h.Output
	r := ReportHop{Output: w.hopPort(o), Input: w.hopPort(o.Peer)}
	if o.State != ib.PortNoChange {
		r.State = new(o.State.String())
	}
	r.Output.VL = h.VL
	if o.Width != 0 && o.Speed != 0 {
		r.Width, r.Speed, r.Gbps = new(o.Width.String()), new(o.Speed.String()), new(o.Gbps())
	}
	if o.MTU.Defined() {
		r.MTU = new(o.MTU.Bytes())
	}
	return r
}

func (w namer) hopPort(p *Port) ReportHopPort { return ReportHopPort{w.report(p), p.GUID} }

func (w namer) end(p *Port) ReportEnd {
	return ReportEnd{NodeGUID: p.Node.GUID, PortGUID: p.GUID, Name: w.name(p.Node), Port: p.Number, LID: p.LID}
}
