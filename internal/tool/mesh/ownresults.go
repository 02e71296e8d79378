package mesh

import (
	"fmt"
	"math"
	"slices"

	"github.com/ibkit/ibkit/report"
)

// The schema of results in JSON, as [Simulate] calculates them.
const (
	resultsSchemaName = "ibkit/mesh-results/"
	ResultsSchema     = resultsSchemaName + "1"
)

// The schema of a standing probe's windows in JSON, with flows as in results.
const (
	pingSchemaName = "ibkit/ping-mesh/"
	PingSchema     = pingSchemaName + "1"
)

// A ResultsDocument is results in JSON.
type ResultsDocument struct {
	ReportResults
	Flows []ReportFlow `json:"flows"`
}

// ReportResults are a [ResultsDocument] without flows, which a view writes one by one.
type ReportResults struct {
	report.Head
	Schedule string  `json:"schedule"`
	Seed     uint64  `json:"seed"`
	Noise    float64 `json:"noise"` // relative
	Alone    bool    `json:"alone"`
	Faults   []Fault `json:"faults"` // planted
}

// NewReportResults returns the JSON form of simulated results without their flows.
func NewReportResults(head report.Head, o *SimulateOptions) *ReportResults {
	faults := o.Faults
	if faults == nil {
		faults = []Fault{}
	}
	return &ReportResults{head, o.Schedule.String(), o.Seed, o.Noise, o.Alone, faults}
}

// All returns all flows, the loaded ones last.
func (r *Results) All() []Flow { return append(slices.Clip(r.Flows), r.Loaded...) }

// ReportFlow returns the JSON form of a flow by its number in All.
func (r *Results) ReportFlow(i int, f Flow) ReportFlow {
	flow := ReportFlow{Source: r.Names[f.From], Destination: r.Names[f.To], Gbps: figure(f.Gbps), Micros: figure(f.Micros), Congested: i >= len(r.Flows)}
	if c, ok := r.counts[[2]string{flow.Source, flow.Destination}]; ok {
		flow.Sent, flow.Lost = &c.Sent, &c.Lost
	}
	return flow
}

// A ReportFlow is a flow in JSON. A figure that was not measured is null.
type ReportFlow struct {
	Source      string   `json:"src"`
	Destination string   `json:"dst"`
	Gbps        *float32 `json:"bandwidth_gbps"`
	Micros      *float32 `json:"latency_us"`
	Congested   bool     `json:"congested,omitempty"`

	// The probes of a flow, which has the latency of a round trip.
	Sent *int `json:"sent,omitempty"`
	Lost *int `json:"lost,omitempty"`
}

// ownFlows adds the flows in ibkit's results: those of a document, or one in each value.
func (d *document) ownFlows(values []value) {
	for i := range values {
		items := values[i : i+1]
		if values[i].member("schema") != nil {
			items = nil
			if flows := values[i].member("flows"); flows != nil {
				items = flows.items
			}
			d.ownLeaf(&values[i])
		}
		for k := range items {
			if err := d.ownFlow(&items[k]); err != nil {
				d.reject(items[k].offset, err)
			}
		}
	}
}

func (d *document) ownFlow(v *value) error {
	from, ok := v.member(columnNames[columnSource]).str()
	to, also := v.member(columnNames[columnDestination]).str()
	if !ok || !also {
		return fmt.Errorf("got a flow without %s and %s", columnNames[columnSource], columnNames[columnDestination])
	}
	f := Flow{Gbps: none, Micros: none}
	for name, figure := range map[string]*float32{columnNames[columnBandwidth]: &f.Gbps, columnNames[columnLatency]: &f.Micros} {
		n, isNumber := v.member(name).number()
		if !isNumber {
			continue // null
		}
		var err error
		if *figure, err = checkFigure(n); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	part := Plain
	if congested := v.member(columnNames[columnCongested]); congested != nil && congested.scalar == true {
		part = Loaded
	}
	f.From, f.To = d.results.name([]byte(from)), d.results.name([]byte(to))
	d.results.addPart(part, f)
	return d.ownCount(v, &f)
}

// ownLeaf stores the leaf switch of the source of a standing probe.
func (d *document) ownLeaf(v *value) {
	source, ok := v.member("source").str()
	leaf, also := v.member("leaf").str()
	if ok && also {
		d.results.SetLeaf(source, leaf)
	}
}

// SetLeaf stores the leaf switch of an endpoint, for a wiring without a fabric.
func (r *Results) SetLeaf(name, leaf string) {
	if r.leaves == nil {
		r.leaves = map[string]string{}
	}
	r.leaves[printable(name)] = printable(leaf)
}

// ownCount adds the probes of a flow.
func (d *document) ownCount(v *value, f *Flow) error {
	sent, ok := v.member("sent").number()
	lost, also := v.member("lost").number()
	switch {
	case !ok && !also:
		return nil
	case !ok || !also || lost < 0 || lost > sent || sent > math.MaxInt32:
		return fmt.Errorf("got %v lost of %v sent probes, want up to as many lost as sent", lost, sent)
	}
	d.results.SetCount(f.From, f.To, Count{int(sent), int(lost)})
	return nil
}
