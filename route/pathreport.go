package route

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// PathSchema identifies the JSON form of a [PathsReport]; schema/route.json describes it.
const PathSchema = "ibkit/route/1"

// A PathsReport is the document that "ibkit route --json" prints.
type PathsReport struct {
	Schema  string       `json:"schema"`
	Partial bool         `json:"partial"`
	Pairs   []PairReport `json:"pairs"`
}

// A PairReport is the paths between two ports.
type PairReport struct {
	Forward   PathReport `json:"forward"`
	Reverse   PathReport `json:"reverse"`
	Symmetric bool       `json:"symmetric"` // both cross the same links
}

// A PathReport is a [Path].
type PathReport struct {
	From     ReportEnd   `json:"from"`
	To       *ReportEnd  `json:"to"` // null: no port has the LID
	LID      ib.LID      `json:"lid"`
	Arrives  bool        `json:"arrives"`
	Cause    *Cause      `json:"cause"`    // null: the path arrives
	Shortest *int        `json:"shortest"` // links; null: no links lead to the destination
	Slowest  *int        `json:"slowest"`  // index in hops; null: all links have the same rate
	Hops     []ReportHop `json:"hops"`
	Findings []string    `json:"findings"`
}

// A ReportEnd is an end of a path.
type ReportEnd struct {
	NodeGUID ib.GUID `json:"node_guid"`
	PortGUID ib.GUID `json:"port_guid"`
	Name     string  `json:"name"`
	Port     uint8   `json:"port"`
	LID      ib.LID  `json:"lid"`
}

// A ReportHop is a link on a path.
type ReportHop struct {
	Output ReportPort `json:"output"`
	Input  ReportPort `json:"input"`
	Width  *string    `json:"width"`
	Speed  *string    `json:"speed"`
	Gbps   *float64   `json:"gbps"`
	State  string     `json:"state"` // of the output port
}

// NewPathReport returns the report of a path.
func NewPathReport(p *Path, names *fabric.NameMap) PathReport {
	w := namer{names}
	r := PathReport{
		From: w.end(p.From), LID: p.LID, Arrives: p.Cause == 0, Hops: []ReportHop{}, Findings: p.Findings(names),
	}
	if r.Findings == nil {
		r.Findings = []string{}
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
	for _, o := range p.Outputs {
		h := ReportHop{Output: w.report(o), Input: w.report(o.Peer), State: o.State.String()}
		if o.Width != 0 && o.Speed != 0 {
			h.Width, h.Speed, h.Gbps = new(o.Width.String()), new(o.Speed.String()), new(ib.LinkGbps(o.Width, o.Speed))
		}
		r.Hops = append(r.Hops, h)
	}
	return r
}

func (w namer) end(p *Port) ReportEnd {
	return ReportEnd{NodeGUID: p.Node.GUID, PortGUID: p.GUID, Name: w.node(p.Node), Port: p.Number, LID: p.LID}
}
