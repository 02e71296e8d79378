package counters

import (
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// Schema identifies the JSON form of a [Report]; schema/counters.json describes it.
const Schema = "ibkit/counters/3"

// A Report is the document that "ibkit counters --json" prints after each window.
type Report struct {
	report.Head
	ReportWindow
	Nodes []ReportNode `json:"nodes"`
}

// A ReportWindow is the part of a report between the head and the nodes.
type ReportWindow struct {
	Window  *float64        `json:"window_seconds"` // seconds between the passes; nil: one pass
	Missing []ReportMissing `json:"missing"`
}

// A ReportMissing is a port of the baseline whose node is not in the fabric.
type ReportMissing struct {
	GUID ib.GUID `json:"node_guid"`
	Port uint8   `json:"port"`
}

// A ReportNode is a node with its ports.
type ReportNode struct {
	Name  string       `json:"name"`
	GUID  ib.GUID      `json:"node_guid"`
	Type  string       `json:"type"`
	LID   *ib.LID      `json:"lid"`
	Ports []ReportPort `json:"ports"`
}

// A ReportPort contains the counters of a port.
type ReportPort struct {
	Number   uint8            `json:"port"`
	GUID     ib.GUID          `json:"port_guid"`
	Peer     *report.NodePort `json:"peer"`
	State    *string          `json:"state"`
	DataRate *float64         `json:"data_bits_per_second"` // bits per second

	Time     *time.Time          `json:"time"`           // of the sample; nil: no sample
	Window   *float64            `json:"window_seconds"` // seconds between the samples
	Counters map[string]*uint64  `json:"counters"`       // nil: the agent lacks the counter
	Increase map[string]*uint64  `json:"increase"`       // in the window
	Rates    map[string]*float64 `json:"rates"`          // per second

	Transmit      *float64        `json:"transmit"` // utilization, 0 to 1
	Receive       *float64        `json:"receive"`
	LostBandwidth *float64        `json:"lost_bandwidth"` // by waiting, 0 to 1
	Tick          *uint8          `json:"tick"`
	BER           *ReportBER      `json:"ber"`
	Measured      *ReportMeasured `json:"measured_ber,omitempty"` // nil unless it was requested and is known
	Lanes         map[string]any  `json:"lanes"`                  // attributes by virtual lane and service level

	Findings []report.Kind `json:"findings"` // see Report.Findings
}

// A ReportBER is the bit error rate of a port.
type ReportBER struct {
	Errors uint64          `json:"errors"`
	Bits   float64         `json:"bits"`
	Rate   float64         `json:"rate"` // with 0 errors the bound that the window proves
	Rules  []ReportBERRule `json:"rules"`
}

// A ReportMeasured has the bit error rates that the device measures, since it cleared its
// counters.
type ReportMeasured struct {
	Raw       float64 `json:"raw"`       // before correction
	Effective float64 `json:"effective"` // after correction
	Symbol    float64 `json:"symbol"`
	Seconds   float64 `json:"seconds"` // since cleared
}

// A ReportBERRule is the result of a [BERRule].
type ReportBERRule struct {
	Limit   float64 `json:"limit"`
	Window  float64 `json:"window_seconds"` // seconds
	Allowed float64 `json:"allowed"`
	Verdict string  `json:"verdict"`
}

// FindingData has the values of a finding about a counter.
type FindingData struct {
	Counter  *string `json:"counter"` // nil: no single counter
	Class    *string `json:"class"`
	Value    *uint64 `json:"value"`
	InWindow bool    `json:"in_window"` // Value is an increase in the window
}

// ReportOptions configure a report.
type ReportOptions struct {
	Names    *fabric.NameMap
	Counters []Counter // to include; nil: all that were read

	// Measured, if not nil, returns the bit error rates that a port's device measures, nil
	// if they are unknown.
	Measured func(*fabric.Port) *ReportMeasured
}

// Head returns the head of a report about some ports: their findings, and the failed
// requests of the scan and of all nodes.
func (r *Result) Head(ports []*Port, names *fabric.NameMap) report.Head {
	head := report.NewHead(Schema, r.Began)
	for _, p := range ports {
		for _, f := range r.Findings(p) {
			head.Add(f.Report(p, names))
		}
	}
	head.Fail(r.Fabric.ReportFailures(names)...)
	for _, n := range r.Nodes {
		for _, f := range n.Failures {
			head.Fail(f.report(n, names))
		}
	}
	if r.Since != nil {
		for _, err := range r.Since.Damage {
			head.Fail(fabric.ReportFailure("", err))
		}
	}
	head.Partial = r.Partial()
	return head
}

// report returns the common form of a failure.
func (f Failure) report(n *Node, names *fabric.NameMap) report.Failure {
	name := names.Name(n.Node)
	failure := report.Failure{Subject: name, NodeGUID: &n.GUID, LID: optional.NonZero(n.LID()), Attribute: f.Attribute(), Error: f.Err.Error()}
	if f.Port != mad.AllPorts {
		failure.Port, failure.Subject = new(int(f.Port)), fabric.PortName(name, int(f.Port))
	}
	return failure
}

// Window returns the part of a report between the head and the nodes. window is the time
// between the passes, or 0.
func (r *Result) Window(window time.Duration) ReportWindow {
	w := ReportWindow{Missing: []ReportMissing{}}
	if window > 0 {
		w.Window = new(window.Seconds())
	}
	for _, m := range r.Missing {
		w.Missing = append(w.Missing, ReportMissing{m.Node, m.Port})
	}
	return w
}

// ReportNode returns the report of a node with some of its ports.
func (r *Result) ReportNode(n *Node, ports []*Port, o ReportOptions) ReportNode {
	node := ReportNode{
		Name: o.Names.Name(n.Node), GUID: n.GUID, Type: n.Info.NodeType.String(), LID: optional.NonZero(n.LID()), Ports: make([]ReportPort, 0, len(ports)),
	}
	for _, p := range ports {
		node.Ports = append(node.Ports, r.reportPort(p, o))
	}
	return node
}

func (r *Result) reportPort(p *Port, o ReportOptions) ReportPort {
	port := ReportPort{Number: p.Number, GUID: p.GUID, Tick: p.Tick, Findings: []report.Kind{}}
	if peer := p.Peer; peer != nil {
		port.Peer = &report.NodePort{Name: o.Names.Name(peer.Node), NodeGUID: peer.Node.GUID, Port: peer.Number}
	}
	if s := p.State(); s != 0 {
		port.State = new(s.String())
	}
	if rate := DataRate(p.Port); rate > 0 {
		port.DataRate = &rate
	}
	for _, f := range r.Findings(p) {
		port.Findings = append(port.Findings, f.Kind)
	}
	if p.Now == nil {
		return port
	}
	at := p.Now.At()
	port.Time = &at
	port.addCounters(p, o.Counters)
	port.Lanes = reportLanes(p)
	return port
}

// reportLanes returns a port's attributes by lane, nil without any.
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
func (port *ReportPort) addCounters(p *Port, only []Counter) {
	d := p.Delta()
	port.Counters = map[string]*uint64{}
	if d != nil {
		port.Increase, port.Rates = map[string]*uint64{}, map[string]*float64{}
		port.Window = new(d.Window().Seconds())
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
		port.Counters[name] = ifKnown(v.N, ok)
		if d == nil {
			continue
		}
		ch, ok := d.Change(c)
		port.Increase[name] = ifKnown(ch.Increase, ok && !ch.Saturated)
		rate, ok := d.PerSecond(c)
		port.Rates[name] = ifKnown(rate, ok)
	}
	if d == nil {
		return
	}
	sent, ok := p.Utilization(d, XmitData)
	port.Transmit = ifKnown(sent, ok)
	received, ok := p.Utilization(d, RcvData)
	port.Receive = ifKnown(received, ok)
	lost, ok := p.LostBandwidth(d)
	port.LostBandwidth = ifKnown(lost, ok)
	if b, ok := p.SymbolBER(d); ok {
		port.BER = reportBER(b)
	}
}

func ifKnown[T any](v T, ok bool) *T {
	if !ok {
		return nil
	}
	return &v
}

func reportBER(b BER) *ReportBER {
	ber := &ReportBER{Errors: b.Errors, Bits: b.Bits, Rate: b.Rate()}
	for _, rule := range BERRules {
		ber.Rules = append(ber.Rules, ReportBERRule{
			Limit: rule.Limit, Window: rule.Needs(b.BitRate()).Seconds(), Allowed: rule.Allowed(b.BitRate()),
			Verdict: b.Judge(rule).String(),
		})
	}
	return ber
}

// Report returns the finding about a port in the vocabulary of all commands. Its data are
// of type [FindingData].
func (f Finding) Report(p *Port, names *fabric.NameMap) report.Finding {
	detail := f.Text()
	if f.Meaning != "" {
		detail += ": " + f.Meaning
	}
	found := report.New(f.Kind, names.PortName(p.Port), detail).At(p.Node.GUID, int(p.Number))
	found.Severity = f.Severity()
	data := FindingData{InWindow: f.InWindow}
	if f.Class != 0 {
		data.Class = new(f.Class.String())
	}
	if f.Kind != report.Cleared && f.Kind != report.Disappeared {
		data.Counter, data.Value = new(f.Counter.String()), &f.Value
	}
	found.Data = data
	return found
}
