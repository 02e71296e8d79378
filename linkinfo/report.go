package linkinfo

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the JSON form of a [Report]; schema/linkinfo.json
// describes it. A change that breaks readers changes the number.
const ReportSchema = "ibkit/linkinfo/4"

// A Report is the document that "ibkit linkinfo --json" prints. Pointers are nil if
// a value is unknown or does not exist.
type Report struct {
	report.Head
	Aborted *string      `json:"aborted"` // the reason if the scan ended early
	Start   ib.GUID      `json:"start"`   // of the node where the scan began
	Nodes   []ReportNode `json:"nodes"`
	Links   []ReportLink `json:"links"`
	Stats   ReportStats  `json:"stats"`
	Summary Summary      `json:"summary"`
}

// A ReportNode is a node of a [Report] with those of its ports that were selected.
type ReportNode struct {
	GUID           ib.GUID        `json:"node_guid"`
	Type           string         `json:"type"`
	Name           *string        `json:"name"`            // from the node name map, else the description; not ""
	Description    *string        `json:"description"`     // a blank for each byte that is not printable ASCII
	DescriptionHex *string        `json:"description_hex"` // the bytes; nil if they are all printable ASCII
	LID            *ib.LID        `json:"lid"`             // 0: not assigned
	Route          string         `json:"route"`           // directed, for example "0,1,3"
	Duplicate      bool           `json:"duplicate_guid"`
	System         *report.System `json:"system"`
	Ports          []ReportPort   `json:"ports"`

	// Attributes as received; nil unless they were requested.
	Info       *mad.NodeInfo   `json:"info,omitempty"`
	SwitchInfo *mad.SwitchInfo `json:"switch_info,omitempty"`
	Port0      *ReportPortInfo `json:"port0,omitempty"`
}

// A ReportPort is a port, its link and its findings.
type ReportPort struct {
	Number    uint8         `json:"port"`
	External  *int          `json:"external_port"` // as printed on the chassis
	GUID      ib.GUID       `json:"port_guid"`
	LID       *ib.LID       `json:"lid"` // 0: not assigned
	State     *string       `json:"state"`
	PhysState *string       `json:"phys_state"`
	Width     *string       `json:"width"`
	Speed     *string       `json:"speed"`
	Gbps      *float64      `json:"gbps"` // signalling rate of the link, 10^9 bits per second
	BestWidth *string       `json:"best_width"`
	BestSpeed *string       `json:"best_speed"`
	Peer      *report.Peer  `json:"peer"`
	Findings  []report.Kind `json:"findings"`

	// Counters are the error counters; nil unless they were requested.
	Counters *ReportCounters `json:"counters,omitempty"`

	// PHY are the values from registers; nil unless they were requested.
	PHY *ReportPHY `json:"phy,omitempty"`

	// Attributes as received; nil unless they were requested.
	Info *ReportPortInfo      `json:"info,omitempty"`
	Ext  *mad.MlnxExtPortInfo `json:"extended_port_info,omitempty"`
}

// ReportCounters is the comparison of the error counters of a port with their
// thresholds.
type ReportCounters struct {
	Read  bool           `json:"read"`  // false: the agent did not respond
	Worst *ReportCounter `json:"worst"` // nil: none is above its threshold
}

// A ReportCounter is an error counter above its threshold.
type ReportCounter struct {
	Counter string  `json:"counter"`
	Kind    string  `json:"kind"`
	Class   *string `json:"class"`
	Value   uint64  `json:"value"`
	Meaning string  `json:"meaning"`
}

// ReportPHY has the values of a port's registers; see ibkit phy. Pointers are nil if the
// value is unknown.
type ReportPHY struct {
	Missing      *string       `json:"missing"` // reason why the device has no registers
	Cable        *string       `json:"cable"`
	PartNumber   *string       `json:"part_number"`
	SerialNumber *string       `json:"serial_number"`
	Celsius      *float64      `json:"celsius"`
	Rx           *float64      `json:"rx_dbm_lowest"` // nil also for a dark lane
	Tx           *float64      `json:"tx_dbm_lowest"`
	RawBER       *float64      `json:"raw_ber"`
	EffectiveBER *float64      `json:"effective_ber"`
	SymbolBER    *float64      `json:"symbol_ber"`
	Findings     []report.Kind `json:"findings"`
}

// ReportStats counts the MADs of the scan.
type ReportStats struct {
	Sent     int `json:"sent"` // retries included
	Retries  int `json:"retries"`
	Timeouts int `json:"timeouts"`
	Window   int `json:"window"` // most MADs in flight
}

// ReportOptions select the contents of a [ReportNode].
type ReportOptions struct {
	Partial    bool            // a stored fabric that filters ports is incomplete
	Attributes bool            // include the attributes as received
	Keys       bool            // include M_Keys in the attributes; they are 0 otherwise
	Names      *fabric.NameMap // nil: names are node descriptions

	// Counters, if not nil, returns the error counters of a port.
	Counters func(*fabric.Port) *ReportCounters

	// PHY, if not nil, returns the values of a port's registers, nil if it was not read.
	PHY func(*fabric.Port) *ReportPHY
}

// NewReport returns the report on a result without its nodes, its links and the findings of
// its link ends: see [Findings]. ends are those of the nodes.
func NewReport(r *Result, nodes []*fabric.Node, ends []End, o ReportOptions) *Report {
	f := r.Fabric
	d := &Report{
		Head: report.NewHead(ReportSchema, r.Began), Nodes: []ReportNode{}, Links: []ReportLink{}, Summary: Summarize(nodes, ends, Links(ends)),
		Stats: ReportStats{f.Stats.Sent, f.Stats.Retries, f.Stats.Timeouts, f.Stats.Window},
	}
	for _, c := range f.Conflicts {
		d.Add(report.New(report.Conflict, c.GUID.String(), c.Detail).At(c.GUID, int(c.Port)))
	}
	d.Fail(f.ReportFailures(o.Names)...)
	d.Partial = f.Partial() || o.Partial
	if f.Aborted != nil {
		d.Aborted = new(f.Aborted.Error())
	}
	if f.Start != nil {
		d.Start = f.Start.GUID
	}
	return d
}

// NewReportNode returns the report on a node and on those of its ports that are in
// ends.
func NewReportNode(n *fabric.Node, ends []End, o ReportOptions) ReportNode {
	r := ReportNode{
		GUID:        n.GUID,
		Type:        n.Info.NodeType.String(),
		Name:        optional.NonZero(o.Names.Name(n)),
		Description: description(n),
		LID:         knownLID(firstPort(n)),
		Route:       n.Route.String(),
		Duplicate:   n.Duplicate,
		System:      reportSystem(n),
		Ports:       make([]ReportPort, 0, len(ends)),
	}
	if raw := n.Desc.Hex(); raw != "" {
		r.DescriptionHex = &raw
	}
	if o.Attributes {
		r.Info, r.SwitchInfo = &n.Info, n.Switch
		if n.IsSwitch() {
			r.Port0 = o.portInfo(n.Ports[0])
		}
	}
	for i := range ends {
		r.Ports = append(r.Ports, newReportPort(&ends[i], o))
	}
	return r
}

func reportSystem(n *fabric.Node) *report.System {
	if n.System == nil {
		return nil
	}
	return &report.System{Number: n.System.Number, GUID: n.System.GUID, Slot: n.Slot.String()}
}

// firstPort returns the first port with data, nil without any.
func firstPort(n *fabric.Node) *fabric.Port {
	for _, p := range n.Ports {
		if p != nil {
			return p
		}
	}
	return nil
}

// knownLID returns the LID of a port, nil if it is unknown.
func knownLID(p *fabric.Port) *ib.LID {
	if p == nil || p.Caps() == nil {
		return nil
	}
	return new(p.LID())
}

// description returns the description of a node, nil if the node did not give it.
func description(n *fabric.Node) *string {
	if !n.Described() {
		return nil
	}
	return new(n.Desc.Clean())
}

// A ReportPortInfo is a PortInfo with or without its M_Key.
type ReportPortInfo struct {
	mad.PortInfo
	keys bool
}

// MarshalJSON writes the attribute.
func (r ReportPortInfo) MarshalJSON() ([]byte, error) {
	if r.keys {
		return mad.AppendJSON(nil, mad.WithKeys(&r.PortInfo))
	}
	return mad.AppendJSON(nil, &r.PortInfo)
}

// portInfo returns the PortInfo of a port; nil if the port did not respond.
func (o ReportOptions) portInfo(p *fabric.Port) *ReportPortInfo {
	if p == nil || p.Info == nil {
		return nil
	}
	return &ReportPortInfo{*p.Info, o.Keys}
}

func newReportPort(e *End, o ReportOptions) ReportPort {
	p := e.Port
	r := ReportPort{
		Number:    p.Number,
		GUID:      p.GUID,
		LID:       knownLID(p),
		Width:     textOf(e.Width),
		Speed:     textOf(e.Speed),
		BestWidth: textOf(e.BestWidth),
		BestSpeed: textOf(e.BestSpeed),
		Findings:  report.KindsOf(e.Findings),
	}
	if p.External != 0 {
		r.External = &p.External
	}
	if e.Width != 0 && e.Speed != 0 {
		r.Gbps = new(ib.LinkGbps(e.Width, e.Speed))
	}
	if p.Info != nil {
		r.State, r.PhysState = textOf(p.Info.State), textOf(p.Info.PhysState)
	}
	if o.Attributes {
		r.Info, r.Ext = o.portInfo(p), p.Ext
	}
	r.Peer = NewReportPeer(p, o.Names)
	if o.Counters != nil {
		r.Counters = o.Counters(p)
	}
	if o.PHY != nil {
		r.PHY = o.PHY(p)
	}
	return r
}

// NewReportPeer returns the report on the peer of a port, nil without one.
func NewReportPeer(p *fabric.Port, names *fabric.NameMap) *report.Peer {
	return reportEnd(p.Peer, names)
}

// textOf returns the text of a value, nil for the zero value.
func textOf[T interface {
	comparable
	String() string
}](v T) *string {
	var zero T
	if v == zero {
		return nil
	}
	return new(v.String())
}
