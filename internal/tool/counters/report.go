package counters

import (
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Schema identifies the JSON form of a [Report]; schema/counters.json describes it.
const Schema = "ibkit/counters/1"

// A Report is the document that "ibkit counters --json" prints after each window.
type Report struct {
	ReportHead
	Nodes []NodeReport `json:"nodes"`
}

// A ReportHead is the part of a report before the nodes.
type ReportHead struct {
	Schema  string          `json:"schema"`
	Time    time.Time       `json:"time"`    // begin of the last pass
	Window  *float64        `json:"window"`  // seconds between the passes; nil: one pass
	Partial bool            `json:"partial"` // a request failed
	Missing []MissingReport `json:"missing"`
}

// A MissingReport is a port of the baseline whose node is not in the fabric.
type MissingReport struct {
	GUID ib.GUID `json:"guid"`
	Port uint8   `json:"port"`
}

// A NodeReport is a node with its ports.
type NodeReport struct {
	Name     string          `json:"name"`
	GUID     ib.GUID         `json:"guid"`
	Type     string          `json:"type"`
	LID      *ib.LID         `json:"lid"`
	Failures []FailureReport `json:"failures"`
	Ports    []PortReport    `json:"ports"`
}

// A FailureReport is a request without a valid response.
type FailureReport struct {
	Port      *uint8 `json:"port"` // nil: all ports
	Attribute string `json:"attribute"`
	Error     string `json:"error"`
}

// A PortReport contains the counters of a port.
type PortReport struct {
	Number   uint8       `json:"number"`
	GUID     ib.GUID     `json:"guid"`
	Peer     *PeerReport `json:"peer"`
	State    *string     `json:"state"`
	DataRate *float64    `json:"data_rate"` // bits per second

	Time     *time.Time          `json:"time"`     // of the sample; nil: no sample
	Window   *float64            `json:"window"`   // seconds between the samples
	Counters map[string]*uint64  `json:"counters"` // nil: the agent lacks the counter
	Increase map[string]*uint64  `json:"increase"` // in the window
	Rates    map[string]*float64 `json:"rates"`    // per second

	Transmit      *float64       `json:"transmit"` // utilization, 0 to 1
	Receive       *float64       `json:"receive"`
	LostBandwidth *float64       `json:"lost_bandwidth"` // by waiting, 0 to 1
	Tick          *uint8         `json:"tick"`
	BER           *BERReport     `json:"ber"`
	Lanes         map[string]any `json:"lanes"` // attributes by virtual lane and service level

	Findings []FindingReport `json:"findings"`
}

// A PeerReport is the other end of a link.
type PeerReport struct {
	Name string  `json:"name"`
	GUID ib.GUID `json:"guid"`
	Port uint8   `json:"port"`
}

// A BERReport is the bit error rate of a port.
type BERReport struct {
	Errors uint64          `json:"errors"`
	Bits   float64         `json:"bits"`
	Rate   float64         `json:"rate"` // with 0 errors the bound that the window proves
	Rules  []BERRuleReport `json:"rules"`
}

// A BERRuleReport is the result of a [BERRule].
type BERRuleReport struct {
	Limit   float64 `json:"limit"`
	Window  float64 `json:"window"` // seconds
	Allowed float64 `json:"allowed"`
	Verdict string  `json:"verdict"`
}

// A FindingReport is a [Finding].
type FindingReport struct {
	Kind    string  `json:"kind"`
	Counter *string `json:"counter"`
	Class   *string `json:"class"`
	Value   *uint64 `json:"value"`
	Window  bool    `json:"in_window"`
	Meaning string  `json:"meaning"`
}

// ReportOptions configure a report.
type ReportOptions struct {
	Names    *fabric.NameMap
	Counters []Counter // to include; nil: all that were read
}

// Head returns the part of the report before the nodes. window is the time between the passes, or 0.
func (r *Result) Head(window time.Duration) ReportHead {
	head := ReportHead{Schema: Schema, Time: r.Began, Partial: r.Partial(), Missing: []MissingReport{}}
	if window > 0 {
		head.Window = new(window.Seconds())
	}
	for _, m := range r.Missing {
		head.Missing = append(head.Missing, MissingReport{m.Node, m.Port})
	}
	return head
}

// ReportNode returns the report of a node with some of its ports.
func (r *Result) ReportNode(n *Node, ports []*Port, o ReportOptions) NodeReport {
	report := NodeReport{
		Name: o.Names.Name(n.Node), GUID: n.GUID, Type: n.Info.NodeType.String(),
		Failures: []FailureReport{}, Ports: make([]PortReport, 0, len(ports)),
	}
	if lid := n.lid(); lid != 0 {
		report.LID = &lid
	}
	for _, f := range n.Failures {
		failure := FailureReport{Attribute: f.Attribute(), Error: f.Err.Error()}
		if f.Port != mad.AllPorts {
			failure.Port = new(f.Port)
		}
		report.Failures = append(report.Failures, failure)
	}
	for _, p := range ports {
		report.Ports = append(report.Ports, r.reportPort(p, o))
	}
	return report
}

// lid returns the LID of a switch, or of the first port of an adapter.
func (n *Node) lid() ib.LID {
	for _, p := range n.Node.Ports {
		if p != nil && p.LID() != 0 {
			return p.LID()
		}
	}
	return 0
}

func (r *Result) reportPort(p *Port, o ReportOptions) PortReport {
	report := PortReport{Number: p.Number, GUID: p.GUID, Tick: p.Tick, Findings: []FindingReport{}}
	if peer := p.Peer; peer != nil {
		report.Peer = &PeerReport{o.Names.Name(peer.Node), peer.Node.GUID, peer.Number}
	}
	if s := p.State(); s != 0 {
		report.State = new(s.String())
	}
	if rate := DataRate(p.Port); rate > 0 {
		report.DataRate = &rate
	}
	for _, f := range r.Findings(p) {
		report.Findings = append(report.Findings, reportFinding(f))
	}
	if p.Now == nil {
		return report
	}
	at := p.Now.At()
	report.Time = &at
	report.addCounters(p, o.Counters)
	report.Lanes = reportLanes(p)
	return report
}

// reportLanes returns the attributes by lane of a port, nil without any.
func reportLanes(p *Port) map[string]any {
	if p.Now == nil || p.Now.Details == nil || len(p.Now.Details.Lanes) == 0 {
		return nil
	}
	lanes := map[string]any{}
	for _, a := range p.Now.Details.Lanes {
		lanes[mad.AttributeName(a)] = a
	}
	return lanes
}

// addCounters adds the values, and with two samples the rates.
func (report *PortReport) addCounters(p *Port, only []Counter) {
	d := p.Delta()
	report.Counters = map[string]*uint64{}
	if d != nil {
		report.Increase, report.Rates = map[string]*uint64{}, map[string]*float64{}
		report.Window = new(d.Window().Seconds())
	}
	chosen := only
	if chosen == nil {
		chosen = Counters()
	}
	for _, c := range chosen {
		v, ok := p.Now.Value(c)
		if !ok && only == nil && c.IsDetail() {
			continue
		}
		name := c.String()
		report.Counters[name] = ifKnown(v.N, ok)
		if d == nil {
			continue
		}
		ch, ok := d.Change(c)
		report.Increase[name] = ifKnown(ch.Increase, ok && !ch.Saturated)
		rate, ok := d.PerSecond(c)
		report.Rates[name] = ifKnown(rate, ok)
	}
	if d == nil {
		return
	}
	sent, ok := p.Utilization(d, XmitData)
	report.Transmit = ifKnown(sent, ok)
	received, ok := p.Utilization(d, RcvData)
	report.Receive = ifKnown(received, ok)
	lost, ok := p.LostBandwidth(d)
	report.LostBandwidth = ifKnown(lost, ok)
	if b, ok := p.SymbolBER(d); ok {
		report.BER = reportBER(b)
	}
}

func ifKnown[T any](v T, ok bool) *T {
	if !ok {
		return nil
	}
	return &v
}

func reportBER(b BER) *BERReport {
	report := &BERReport{Errors: b.Errors, Bits: b.Bits, Rate: b.Rate()}
	for _, rule := range BERRules {
		report.Rules = append(report.Rules, BERRuleReport{
			Limit: rule.Limit, Window: rule.Needs(b.BitRate()).Seconds(), Allowed: rule.Allowed(b.BitRate()),
			Verdict: b.Judge(rule).String(),
		})
	}
	return report
}

func reportFinding(f Finding) FindingReport {
	report := FindingReport{Kind: f.Kind.String(), Window: f.InWindow, Meaning: f.Meaning}
	if f.Class != 0 {
		report.Class = new(f.Class.String())
	}
	if f.Kind != Cleared && f.Kind != Disappeared {
		report.Counter, report.Value = new(f.Counter.String()), &f.Value
	}
	return report
}
