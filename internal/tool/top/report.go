package top

import (
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
)

// Schema identifies the JSON form of a [Report]; schema/top.json describes it.
const Schema = "ibkit/top/3"

// A Report is a screen's content. Of Links, Node, Port and Path, exactly one is set. Values
// are nil if they are unknown.
type Report struct {
	report.Head
	Time    time.Time     `json:"time"`           // end of the window
	Window  *float64      `json:"window_seconds"` // seconds; nil: a single pass
	Screen  string        `json:"screen"`         // links, node, port, path
	Sample  int           `json:"sample"`         // place among the samples that are kept, from 1
	Samples int           `json:"samples"`
	Summary ReportSummary `json:"summary"`

	Sort     *string `json:"sort,omitempty"` // of links
	Filter   *string `json:"filter,omitempty"`
	Problems *bool   `json:"problems_only,omitempty"`

	Links []ReportLink `json:"links,omitzero"`
	Node  *ReportNode  `json:"node,omitempty"`
	Port  *ReportPort  `json:"port,omitempty"`
	Path  *ReportPath  `json:"path,omitempty"`
}

// A ReportSummary is the head of each screen.
type ReportSummary struct {
	linkinfo.Summary
	Transmit       float64 `json:"transmit_bits_per_second"` // bits per second that adapters sent
	Errors         float64 `json:"errors_per_second"`        // per second
	LinksErrors    int     `json:"links_with_errors"`
	LinksWaiting   int     `json:"links_waiting"` // that lost bandwidth above the limit
	FailedRequests int     `json:"failed_requests"`
	PassSeconds    float64 `json:"pass_seconds"`

	// MissingNodes are the names of the nodes that left the fabric since the start.
	MissingNodes []string `json:"missing_nodes"`
}

// A ReportLink is a row of the screen links.
type ReportLink struct {
	Near     report.NodePort  `json:"near"`
	Far      *report.NodePort `json:"far"`
	Rate     *string          `json:"rate"` // width and speed; nil: down
	State    *string          `json:"state"`
	Errors   *float64         `json:"errors_per_second"` // per second, at both ends
	Transmit *float64         `json:"transmit"`          // utilization by the near end, 0 to 1
	Receive  *float64         `json:"receive"`           // by the far end
	Wait     *float64         `json:"wait"`              // share of bandwidth lost, 0 to 1
	Findings []string         `json:"findings"`
}

// A ReportNode is the screen of a node.
type ReportNode struct {
	Name  string       `json:"name"`
	GUID  ib.GUID      `json:"node_guid"`
	Type  string       `json:"type"`
	LID   *ib.LID      `json:"lid"`
	Ports int          `json:"num_ports"`
	Links []ReportLink `json:"links"` // the near end is a port of the node
}

// A ReportPort is the screen of a port.
type ReportPort struct {
	Link    ReportLink      `json:"link"` // the near end is the port
	Ends    []ReportEnd     `json:"ends"` // the port and its peer
	History []ReportHistory `json:"history"`
}

// An ReportEnd is one end of a link.
type ReportEnd struct {
	report.NodePort
	Errors   *float64        `json:"errors_per_second"`
	Transmit *float64        `json:"transmit"`
	Receive  *float64        `json:"receive"`
	Wait     *float64        `json:"wait"`
	Counters []ReportCounter `json:"counters"` // error counters that increased
	Findings []string        `json:"findings"`

	// PHY are the values from registers; nil unless they were requested and read.
	PHY *linkinfo.ReportPHY `json:"phy,omitempty"`
}

// A ReportCounter is an error counter that increased in the window.
type ReportCounter struct {
	Name      string  `json:"name"`
	Value     uint64  `json:"value"`
	Increase  uint64  `json:"increase"`
	PerSecond float64 `json:"per_second"`
}

// A ReportHistory is the values of a port in one sample.
type ReportHistory struct {
	Time     time.Time `json:"time"`
	Errors   *float64  `json:"errors_per_second"`
	Transmit *float64  `json:"transmit"`
	Receive  *float64  `json:"receive"`
	Wait     *float64  `json:"wait"`
}

// A ReportPath is the screen of the paths between two ports.
type ReportPath struct {
	Forward PathLinks  `json:"forward"`
	Reverse *PathLinks `json:"reverse"`
	Read    time.Time  `json:"read"` // from the forwarding tables
}

// PathLinks is a path with its links' values.
type PathLinks struct {
	From    string       `json:"from"`
	To      string       `json:"to"` // "" if no port has the LID
	LID     ib.LID       `json:"lid"`
	Arrives *bool        `json:"arrives"` // nil: unknown, as a table or node did not respond
	Cause   *string      `json:"cause"`   // nil: it arrives
	Links   []ReportLink `json:"links"`   // in the direction of the path
}

// known returns a value, nil if it is unknown.
func known(v float32) *float64 {
	if v != v {
		return nil
	}
	return new(float64(v))
}

// report returns a report's head.
func (s *State) report(screen string) *Report {
	sample := s.Sample()
	r := &Report{Head: sample.head(), Time: sample.Time, Screen: screen}
	r.Sample, r.Samples = s.Position()
	if sample.Window > 0 {
		r.Window = new(sample.Window.Seconds())
	}
	r.Summary = sample.Summarize()
	return r
}

// Summarize returns the head of each screen.
func (s *Sample) Summarize() ReportSummary {
	t := s.Totals
	r := ReportSummary{s.Summary, t.Xmit, t.Errors, t.Erring, t.Waiting, s.Failed, s.Took.Seconds(), []string{}}
	for _, m := range s.Missing {
		r.MissingNodes = append(r.MissingNodes, m.Name)
	}
	return r
}

// head returns the head of a report: the findings of all ports.
func (s *Sample) head() report.Head {
	head := report.NewHead(Schema, s.Time.Add(-s.Window-s.Took))
	head.Partial = s.Partial()
	for i := range s.Ports {
		p := &s.Ports[i]
		for _, f := range s.Findings[int32(i)] {
			head.Add(f.Report(&counters.Port{Port: p.Port}, s.Names))
		}
		for _, f := range p.Findings {
			f.Subject = s.Names.PortName(p.Port)
			head.Add(f.At(p.Port.Node.GUID, int(p.Number)))
		}
	}
	return head
}

// ReportLinks returns the screen of links, at most some of them; 0: all.
func (s *State) ReportLinks(most int) *Report {
	r := s.report("links")
	r.Sort, r.Filter, r.Problems = new(s.Order.String()), &s.Filter, &s.Problems
	rows := s.Rows()
	if most > 0 {
		rows = rows[:min(most, len(rows))]
	}
	r.Links = make([]ReportLink, 0, len(rows))
	for _, row := range rows {
		r.Links = append(r.Links, s.Sample().ReportLink(row))
	}
	return r
}

// ReportNode returns a node's screen, nil if the sample does not have it.
func (s *State) ReportNode(guid ib.GUID) *Report {
	sample := s.Sample()
	i := sample.Node(guid)
	if i < 0 {
		return nil
	}
	r := s.report("node")
	n := &sample.Nodes[i]
	r.Node = &ReportNode{Name: n.Name, GUID: n.GUID, Type: n.Info.NodeType.String(), Ports: int(n.Info.NumPorts), Links: []ReportLink{}}
	r.Node.LID = optional.NonZero(n.LID())
	for port := n.First; port < n.Last; port++ {
		r.Node.Links = append(r.Node.Links, sample.linkReport(port))
	}
	return r
}

// ReportPort returns a port's screen, nil if the sample does not have it.
func (s *State) ReportPort(guid ib.GUID, number uint8) *Report {
	sample := s.Sample()
	i := sample.Port(guid, number)
	if i < 0 {
		return nil
	}
	r := s.report("port")
	r.Port = &ReportPort{Link: sample.linkReport(i), Ends: []ReportEnd{sample.endReport(i)}}
	if peer := sample.Ports[i].Peer; peer >= 0 {
		r.Port.Ends = append(r.Port.Ends, sample.endReport(peer))
	}
	r.Port.History = ReportPoints(s.History(guid, number))
	return r
}

// ReportPoints returns the report on a port's values.
func ReportPoints(points []Point) []ReportHistory {
	all := make([]ReportHistory, len(points))
	for i, p := range points {
		all[i] = ReportHistory{p.Time, known(p.Errors), known(p.Xmit), known(p.Rcv), known(p.Wait)}
	}
	return all
}

// ReportPath returns the screen for paths.
func (s *State) ReportPath(p *Paths, names *fabric.NameMap) *Report {
	r := s.report("path")
	r.Path = &ReportPath{Forward: s.Sample().pathLinks(&p.Forward, names), Read: p.Read}
	if p.Reverse != nil {
		reverse := s.Sample().pathLinks(p.Reverse, names)
		r.Path.Reverse = &reverse
	}
	return r
}

// place returns the place of a port.
func (s *Sample) place(i int32) report.NodePort {
	p := &s.Ports[i]
	return report.NodePort{Name: s.Nodes[p.Node].Name, NodeGUID: p.Port.Node.GUID, Port: p.Number}
}

// ReportLink returns the report on a link.
func (s *Sample) ReportLink(link int32) ReportLink { return s.linkReport(s.Links[link].Near) }

// linkReport returns the link of a port, which is the near end.
func (s *Sample) linkReport(i int32) ReportLink {
	p := &s.Ports[i]
	v := s.Link(p.Link)
	r := ReportLink{Near: s.place(i), Errors: known(v.Errors), Wait: known(v.Wait), Findings: s.findings(i)}
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

// findings returns the texts for a port's findings: first about counters, then about the
// link.
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
func (s *Sample) endReport(i int32) ReportEnd {
	v := s.Values[i]
	r := ReportEnd{
		NodePort: s.place(i), Errors: known(v.Errors), Transmit: known(v.Xmit), Receive: known(v.Rcv), Wait: known(v.Wait),
		Counters: []ReportCounter{}, Findings: s.findings(i),
	}
	for _, c := range s.Changes[i] {
		r.Counters = append(r.Counters, ReportCounter{c.Counter.String(), c.Value, c.Increase, c.PerSecond})
	}
	return r
}

// pathLinks returns a path with its links' values.
func (s *Sample) pathLinks(p *route.Path, names *fabric.NameMap) PathLinks {
	report := route.NewReportPath(p, names)
	r := PathLinks{From: report.From.Name, LID: p.LID, Arrives: report.Arrives, Links: []ReportLink{}}
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
