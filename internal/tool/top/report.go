package top

import (
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/linkinfo"
)

// Schema identifies the JSON form of a [Report]; schema/top.json describes it.
const Schema = "ibkit/top/1"

// A Report is the content of a screen. Exactly one of Links, Node, Port and Path is set.
// Values are nil if they are unknown.
type Report struct {
	Schema  string        `json:"schema"`
	Time    time.Time     `json:"time"`   // end of the window
	Window  *float64      `json:"window"` // seconds; nil: one pass
	Screen  string        `json:"screen"` // links, node, port, path
	Sample  int           `json:"sample"` // place among the samples that are kept, from 1
	Samples int           `json:"samples"`
	Partial bool          `json:"partial"` // a request of the scan or of the pass had no valid response
	Summary SummaryReport `json:"summary"`

	Sort     *string `json:"sort,omitempty"` // of links
	Filter   *string `json:"filter,omitempty"`
	Problems *bool   `json:"problems_only,omitempty"`

	Links []LinkReport `json:"links,omitzero"`
	Node  *NodeReport  `json:"node,omitempty"`
	Port  *PortReport  `json:"port,omitempty"`
	Path  *PathReport  `json:"path,omitempty"`
}

// A SummaryReport is the head of each screen.
type SummaryReport struct {
	linkinfo.Summary
	Transmit       float64 `json:"transmit"` // bits per second that adapters sent
	Errors         float64 `json:"errors"`   // per second
	LinksErrors    int     `json:"links_with_errors"`
	LinksWaiting   int     `json:"links_waiting"` // that lost bandwidth above the limit
	FailedRequests int     `json:"failed_requests"`
	PassSeconds    float64 `json:"pass_seconds"`

	// MissingNodes are the names of the nodes that left the fabric since the start.
	MissingNodes []string `json:"missing_nodes"`
}

// A LinkReport is a row of the screen links.
type LinkReport struct {
	Near     PlaceReport  `json:"near"`
	Far      *PlaceReport `json:"far"`
	Rate     *string      `json:"rate"` // width and speed; nil: down
	State    *string      `json:"state"`
	Errors   *float64     `json:"errors"`   // per second, of both ends
	Transmit *float64     `json:"transmit"` // utilization by the near end, 0 to 1
	Receive  *float64     `json:"receive"`  // by the far end
	Wait     *float64     `json:"wait"`     // part of the bandwidth that was lost, 0 to 1
	Findings []string     `json:"findings"`
}

// A PlaceReport is a port.
type PlaceReport struct {
	Name string  `json:"name"`
	GUID ib.GUID `json:"node_guid"`
	Port uint8   `json:"port"`
}

// A NodeReport is the screen of a node.
type NodeReport struct {
	Name  string       `json:"name"`
	GUID  ib.GUID      `json:"guid"`
	Type  string       `json:"type"`
	LID   *ib.LID      `json:"lid"`
	Ports int          `json:"num_ports"`
	Links []LinkReport `json:"links"` // the near end is a port of the node
}

// A PortReport is the screen of a port.
type PortReport struct {
	Link    LinkReport      `json:"link"` // the near end is the port
	Ends    []EndReport     `json:"ends"` // the port and its peer
	History []HistoryReport `json:"history"`
}

// An EndReport is one end of a link.
type EndReport struct {
	PlaceReport
	Errors   *float64        `json:"errors"`
	Transmit *float64        `json:"transmit"`
	Receive  *float64        `json:"receive"`
	Wait     *float64        `json:"wait"`
	Counters []CounterReport `json:"counters"` // error counters that increased
	Findings []string        `json:"findings"`
}

// A CounterReport is an error counter that increased in the window.
type CounterReport struct {
	Name      string  `json:"name"`
	Value     uint64  `json:"value"`
	Increase  uint64  `json:"increase"`
	PerSecond float64 `json:"per_second"`
}

// A HistoryReport is the values of a port in one sample.
type HistoryReport struct {
	Time     time.Time `json:"time"`
	Errors   *float64  `json:"errors"`
	Transmit *float64  `json:"transmit"`
	Receive  *float64  `json:"receive"`
	Wait     *float64  `json:"wait"`
}

// A PathReport is the screen of the paths between two ports.
type PathReport struct {
	Forward PathLinks  `json:"forward"`
	Reverse *PathLinks `json:"reverse"`
	Read    time.Time  `json:"read"` // of the forwarding tables
}

// PathLinks is a path with the values of its links.
type PathLinks struct {
	From    string       `json:"from"`
	To      string       `json:"to"` // "" if no port has the LID
	LID     ib.LID       `json:"lid"`
	Arrives *bool        `json:"arrives"` // nil: unknown, as a table or node did not respond
	Cause   *string      `json:"cause"`   // nil: it arrives
	Links   []LinkReport `json:"links"`   // in the direction of the path
}

// known returns a value, nil if it is unknown.
func known(v float32) *float64 {
	if v != v {
		return nil
	}
	return new(float64(v))
}

// report returns the head of a report.
func (s *State) report(screen string) *Report {
	sample := s.Sample()
	r := &Report{Schema: Schema, Time: sample.Time, Screen: screen, Partial: sample.Partial()}
	r.Sample, r.Samples = s.Position()
	if sample.Window > 0 {
		r.Window = new(sample.Window.Seconds())
	}
	t := sample.Totals
	r.Summary = SummaryReport{sample.Summary, t.Xmit, t.Errors, t.Erring, t.Waiting, sample.Failed, sample.Took.Seconds(), []string{}}
	for _, m := range sample.Missing {
		r.Summary.MissingNodes = append(r.Summary.MissingNodes, m.Name)
	}
	return r
}

// ReportLinks returns the screen of links, at most some of them; 0: all.
func (s *State) ReportLinks(most int) *Report {
	r := s.report("links")
	r.Sort, r.Filter, r.Problems = new(s.Order.String()), &s.Filter, &s.Problems
	rows := s.Rows()
	if most > 0 {
		rows = rows[:min(most, len(rows))]
	}
	r.Links = make([]LinkReport, 0, len(rows))
	for _, row := range rows {
		r.Links = append(r.Links, s.Sample().LinkReport(row))
	}
	return r
}

// ReportNode returns the screen of a node, nil if the sample does not have it.
func (s *State) ReportNode(guid ib.GUID) *Report {
	sample := s.Sample()
	i := sample.Node(guid)
	if i < 0 {
		return nil
	}
	r := s.report("node")
	n := &sample.Nodes[i]
	r.Node = &NodeReport{Name: n.Name, GUID: n.GUID, Type: n.Info.NodeType.String(), Ports: int(n.Info.NumPorts), Links: []LinkReport{}}
	for _, p := range n.Node.Ports {
		if p != nil && p.LID() != 0 {
			r.Node.LID = new(p.LID())
			break
		}
	}
	for port := n.First; port < n.Last; port++ {
		r.Node.Links = append(r.Node.Links, sample.linkReport(port))
	}
	return r
}

// ReportPort returns the screen of a port, nil if the sample does not have it.
func (s *State) ReportPort(guid ib.GUID, number uint8) *Report {
	sample := s.Sample()
	i := sample.Port(guid, number)
	if i < 0 {
		return nil
	}
	r := s.report("port")
	r.Port = &PortReport{Link: sample.linkReport(i), Ends: []EndReport{sample.endReport(i)}, History: []HistoryReport{}}
	if peer := sample.Ports[i].Peer; peer >= 0 {
		r.Port.Ends = append(r.Port.Ends, sample.endReport(peer))
	}
	for _, p := range s.History(guid, number) {
		r.Port.History = append(r.Port.History, HistoryReport{p.Time, known(p.Errors), known(p.Xmit), known(p.Rcv), known(p.Wait)})
	}
	return r
}

// ReportPath returns the screen of paths.
func (s *State) ReportPath(p *Paths, names *fabric.NameMap) *Report {
	r := s.report("path")
	r.Path = &PathReport{Forward: s.Sample().pathLinks(&p.Forward, names), Read: p.Read}
	if p.Reverse != nil {
		reverse := s.Sample().pathLinks(p.Reverse, names)
		r.Path.Reverse = &reverse
	}
	return r
}

// place returns the place of a port.
func (s *Sample) place(i int32) PlaceReport {
	p := &s.Ports[i]
	return PlaceReport{s.Nodes[p.Node].Name, p.Port.Node.GUID, p.Number}
}

// LinkReport returns the report on a link.
func (s *Sample) LinkReport(link int32) LinkReport { return s.linkReport(s.Links[link].Near) }

// linkReport returns the link of a port, which is the near end.
func (s *Sample) linkReport(i int32) LinkReport {
	p := &s.Ports[i]
	v := s.Link(p.Link)
	r := LinkReport{Near: s.place(i), Errors: known(v.Errors), Wait: known(v.Wait), Findings: s.findings(i)}
	v = s.Values[i]
	r.Transmit, r.Receive = known(v.Xmit), known(v.Rcv)
	if p.Speed != "" {
		r.Rate = &p.Speed
	}
	if p.Info != nil {
		r.State = new(p.Info.State.String())
	}
	if p.Peer >= 0 {
		r.Far = new(s.place(p.Peer))
		if far := s.Values[p.Peer].Xmit; far == far {
			r.Receive = known(far)
		}
		for _, f := range s.findings(p.Peer) {
			if !slices.Contains(r.Findings, f) {
				r.Findings = append(r.Findings, f)
			}
		}
	}
	return r
}

// findings returns the texts of the findings of a port: those about counters, then those
// about the link.
func (s *Sample) findings(i int32) []string {
	all := []string{}
	for _, f := range s.Findings[i] {
		if f.IsProblem() {
			all = append(all, f.Text())
		}
	}
	for _, f := range s.Ports[i].Findings {
		if f.Severity.IsProblem() {
			all = append(all, f.Brief())
		}
	}
	return all
}

// endReport returns one end of a link.
func (s *Sample) endReport(i int32) EndReport {
	v := s.Values[i]
	r := EndReport{
		PlaceReport: s.place(i), Errors: known(v.Errors), Transmit: known(v.Xmit), Receive: known(v.Rcv), Wait: known(v.Wait),
		Counters: []CounterReport{}, Findings: s.findings(i),
	}
	for _, c := range s.Changes[i] {
		r.Counters = append(r.Counters, CounterReport{c.Counter.String(), c.Value, c.Increase, c.PerSecond})
	}
	return r
}

// pathLinks returns a path with the values of its links.
func (s *Sample) pathLinks(p *route.Path, names *fabric.NameMap) PathLinks {
	report := route.NewReportPath(p, names)
	r := PathLinks{From: report.From.Name, LID: p.LID, Arrives: report.Arrives, Links: []LinkReport{}}
	if report.To != nil {
		r.To = report.To.Name
	}
	if report.Cause != nil {
		r.Cause = new(report.Cause.String())
	}
	for _, h := range p.Hops {
		if i := s.Port(h.Output.Node.GUID, h.Output.Number); i >= 0 {
			r.Links = append(r.Links, s.linkReport(i))
		}
	}
	return r
}
