package perf

import (
	"errors"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the JSON form of a [Report]; schema/perf.json describes it. A
// change that breaks readers changes the number.
const ReportSchema = "ibkit/perf/2"

// A Report is the document that "ibkit perf --json" prints. Pointers are nil if a value
// is unknown or was not measured.
type Report struct {
	report.Head
	Client   host.Identity  `json:"client"`
	Server   host.Identity  `json:"server"`
	Clock    ReportClock    `json:"clock"`
	Results  []ReportResult `json:"results"`
	NotBegun []Test         `json:"not_begun"`
}

// A ReportClock is the clock of the client.
type ReportClock struct {
	Source string  `json:"source"`
	CostNS float64 `json:"cost_ns"` // of each reading
}

// A ReportResult is a test's outcome with a size.
type ReportResult struct {
	Test       Test              `json:"test"`
	MTU        *int              `json:"mtu"`
	ClientPort *ReportPort       `json:"client_port"`
	ServerPort *ReportPort       `json:"server_port"`
	Partial    bool              `json:"partial"`
	Error      *string           `json:"error"`
	Missed     []string          `json:"missed"` // limits of the caller
	Verified   bool              `json:"verified"`
	Latency    *ReportLatency    `json:"latency"`
	Bandwidth  *ReportThroughput `json:"bandwidth"`
	Received   *ReportThroughput `json:"received"`
	Reverse    *ReportThroughput `json:"reverse"`
	Windows    []ReportWindow    `json:"windows"`
	ClientSide *ReportSide       `json:"client_side"`
	ServerSide *ReportSide       `json:"server_side"`
}

// A ReportPort is a side's port.
type ReportPort struct {
	Device   string  `json:"device"`
	Driver   string  `json:"driver"`
	Port     uint8   `json:"port"`
	Link     string  `json:"link"`
	LID      *ib.LID `json:"lid"`
	GID      *string `json:"gid"`
	GIDType  *string `json:"gid_type"`
	GIDIndex *int    `json:"gid_index"`
	Why      *string `json:"gid_chosen_because"`
	MTU      int     `json:"mtu"`
	Memory   *string `json:"memory"`
}

// A ReportLatency is the distribution of times. With OneWay they are half of a round
// trip.
type ReportLatency struct {
	Count       int64              `json:"count"`
	Lost        uint64             `json:"lost"`
	OneWay      bool               `json:"one_way"`
	MinNS       float64            `json:"min_ns"`
	AvgNS       float64            `json:"avg_ns"`
	MedianNS    float64            `json:"median_ns"`
	MaxNS       float64            `json:"max_ns"`
	StdDevNS    float64            `json:"stddev_ns"`
	JitterNS    float64            `json:"jitter_ns"`
	Percentiles map[string]float64 `json:"percentiles_ns"`
}

// A ReportThroughput is an amount of data and the time that it took.
type ReportThroughput struct {
	Messages          uint64   `json:"messages"`
	Bytes             uint64   `json:"bytes"`
	Seconds           float64  `json:"seconds"`
	BytesPerSecond    float64  `json:"bytes_per_second"`
	MessagesPerSecond float64  `json:"messages_per_second"`
	Peak              *float64 `json:"peak_bytes_per_second"`
	Minimum           *float64 `json:"minimum_bytes_per_second"`
}

// A ReportWindow is the throughput of a window of time.
type ReportWindow struct {
	Begin          float64 `json:"begin_seconds"`
	Seconds        float64 `json:"seconds"`
	BytesPerSecond float64 `json:"bytes_per_second"`
}

// A ReportSide holds a side's figures.
type ReportSide struct {
	Seconds  float64       `json:"seconds"`
	User     float64       `json:"cpu_user_seconds"`
	System   float64       `json:"cpu_system_seconds"`
	CPUs     []int         `json:"cpus"`
	Sent     uint64        `json:"messages_sent"`
	Received uint64        `json:"messages_received"`
	Counters host.Counters `json:"counters"`
}

// Percentiles are a [ReportLatency]'s percentiles.
var Percentiles = []float64{50, 90, 99, 99.9, 99.99}

// Report returns the document of a result and the error that came with it, without missed
// limits.
func (r *Result) Report(began time.Time, err error) *Report {
	d := &Report{
		Head: report.NewHead(ReportSchema, began), Client: r.Client, Server: r.Server, Clock: ReportClock{Source: r.ClockSource, CostNS: r.ClockCost},
		Results: []ReportResult{}, NotBegun: append([]Test{}, r.NotBegun...),
	}
	for i := range r.Measurements {
		m := &r.Measurements[i]
		d.Results = append(d.Results, newReportResult(m))
		d.Partial = d.Partial || m.Partial
		if m.Err != nil && !errors.Is(err, m.Err) {
			d.Fail(report.Failure{Subject: m.Test.String(), Error: m.Err.Error()})
		}
	}
	if err != nil {
		d.Fail(report.Failure{Error: err.Error()})
	}
	return d
}

func newReportResult(m *Measurement) ReportResult {
	r := ReportResult{
		Test: m.Test, ClientPort: newReportPort(m.Client), ServerPort: newReportPort(m.Server), Partial: m.Partial, Missed: []string{},
		Verified: m.Test.Verify && !m.Partial, Bandwidth: newReportThroughput(m.Sent), Received: newReportThroughput(m.Received),
		Reverse: newReportThroughput(m.Reverse), Windows: []ReportWindow{}, ClientSide: newReportSide(m.ClientSide), ServerSide: newReportSide(m.ServerSide),
	}
	if m.MTU != 0 {
		r.MTU = &m.MTU
	}
	if m.Err != nil {
		text := m.Err.Error()
		r.Error = &text
	}
	if m.Latency != nil && m.Latency.Count > 0 {
		r.Latency = newReportLatency(m)
	}
	for _, w := range m.Windows {
		r.Windows = append(r.Windows, ReportWindow{w.Begin.Seconds(), w.Length.Seconds(), w.Rate})
	}
	return r
}

func newReportLatency(m *Measurement) *ReportLatency {
	s, part := m.Latency, m.Test.LatencyFactor()
	r := &ReportLatency{
		Count: s.Count, Lost: m.Lost, OneWay: m.Test.OneWay(), MinNS: part * float64(s.Min), AvgNS: part * s.Avg(),
		MedianNS: part * float64(s.Quantile(50)), MaxNS: part * float64(s.Max), StdDevNS: part * s.StdDev(), JitterNS: part * s.Jitter(),
		Percentiles: map[string]float64{},
	}
	for _, p := range Percentiles {
		r.Percentiles[strconv.FormatFloat(p, 'f', -1, 64)] = part * float64(s.Quantile(p))
	}
	return r
}

func newReportThroughput(t *Throughput) *ReportThroughput {
	if t == nil {
		return nil
	}
	r := &ReportThroughput{
		Messages: t.Messages, Bytes: t.Bytes, Seconds: t.Elapsed.Seconds(), BytesPerSecond: t.Rate(), MessagesPerSecond: t.MessageRate(),
	}
	if t.Peak > 0 {
		r.Peak, r.Minimum = &t.Peak, &t.Minimum
	}
	return r
}

func newReportPort(p host.PortInfo) *ReportPort {
	if p.Device == "" {
		return nil
	}
	r := &ReportPort{Device: p.Device, Driver: p.Driver, Port: p.Port, Link: p.Link, MTU: p.MTU}
	if p.LID != 0 {
		r.LID = &p.LID
	}
	if p.GID.IsValid() {
		gid := p.GID.String()
		r.GID, r.GIDType = &gid, &p.GIDType
		if p.GIDIndex >= 0 {
			r.GIDIndex = &p.GIDIndex
		}
		if p.Why != "" {
			r.Why = &p.Why
		}
	}
	if p.Memory != "" {
		r.Memory = &p.Memory
	}
	return r
}

func newReportSide(s Side) *ReportSide {
	if s.Elapsed == 0 {
		return nil
	}
	r := &ReportSide{
		Seconds: s.Elapsed.Seconds(), User: s.User.Seconds(), System: s.System.Seconds(), CPUs: s.CPUs,
		Sent: Sum(s.Sent), Received: Sum(s.Received), Counters: s.Counters,
	}
	if r.CPUs == nil {
		r.CPUs = []int{}
	}
	if r.Counters == nil {
		r.Counters = host.Counters{}
	}
	return r
}

// Sum adds up the messages of all queue pairs.
func Sum(counts []uint64) (sum uint64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
