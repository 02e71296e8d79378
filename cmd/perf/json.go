package perf

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/perf"
	"github.com/ibkit/ibkit/perf/loop"
)

// schemaID names the form of perf's JSON, which schema/perf.json describes.
const schemaID = "ibkit/perf/1"

type jsonResult struct {
	Schema  string            `json:"schema"`
	Client  perf.Identity     `json:"client"`
	Server  perf.Identity     `json:"server"`
	Clock   jsonClock         `json:"clock"`
	Results []jsonMeasurement `json:"results"`

	NotBegun []perf.Test `json:"not_begun"`
}

type jsonClock struct {
	Source string  `json:"source"`
	CostNS float64 `json:"cost_ns"`
}

type jsonMeasurement struct {
	Test       perf.Test             `json:"test"`
	MTU        *int                  `json:"mtu"`
	ClientPort *jsonPort             `json:"client_port"`
	ServerPort *jsonPort             `json:"server_port"`
	Partial    bool                  `json:"partial"`
	Error      *string               `json:"error"`
	Missed     []string              `json:"missed"`
	Verified   bool                  `json:"verified"`
	Latency    *jsonLatencyResult    `json:"latency"`
	Bandwidth  *jsonThroughputResult `json:"bandwidth"`
	Received   *jsonThroughputResult `json:"received"`
	Reverse    *jsonThroughputResult `json:"reverse"`
	Windows    []jsonWindow          `json:"windows"`
	ClientSide *jsonSideResult       `json:"client_side"`
	ServerSide *jsonSideResult       `json:"server_side"`
}

type jsonPort struct {
	Device   string  `json:"device"`
	Driver   string  `json:"driver"`
	Port     uint8   `json:"port"`
	Link     string  `json:"link"`
	LID      *uint16 `json:"lid"`
	GID      *string `json:"gid"`
	GIDType  *string `json:"gid_type"`
	GIDIndex *int    `json:"gid_index"`
	Why      *string `json:"gid_chosen_because"`
	MTU      int     `json:"mtu"`
}

type jsonLatencyResult struct {
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

type jsonThroughputResult struct {
	Messages      uint64   `json:"messages"`
	Bytes         uint64   `json:"bytes"`
	Seconds       float64  `json:"seconds"`
	BytesPerSec   float64  `json:"bytes_per_second"`
	MessagePerSec float64  `json:"messages_per_second"`
	Peak          *float64 `json:"peak_bytes_per_second"`
	Minimum       *float64 `json:"minimum_bytes_per_second"`
}

type jsonWindow struct {
	Begin float64 `json:"begin_seconds"`
	Len   float64 `json:"seconds"`
	Rate  float64 `json:"bytes_per_second"`
}

type jsonSideResult struct {
	Seconds  float64       `json:"seconds"`
	User     float64       `json:"cpu_user_seconds"`
	System   float64       `json:"cpu_system_seconds"`
	CPUs     []int         `json:"cpus"`
	Sent     uint64        `json:"messages_sent"`
	Received uint64        `json:"messages_received"`
	Counters perf.Counters `json:"counters"`
}

// document prints all that was measured.
func (v *view) document(r *perf.Result) error {
	j := jsonResult{
		Schema: schemaID, Client: r.Client, Server: r.Server,
		Clock: jsonClock{Source: r.ClockSource, CostNS: r.ClockCost}, Results: []jsonMeasurement{},
		NotBegun: append([]perf.Test{}, r.NotBegun...),
	}
	for i := range r.Measurements {
		m := &r.Measurements[i]
		one := newJSONMeasurement(m)
		for _, missed := range v.missed(m) {
			one.Missed = append(one.Missed, missed.limit)
		}
		j.Results = append(j.Results, one)
	}
	out := render.NewOutput(v.env.Out)
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(j); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

func newJSONMeasurement(m *perf.Measurement) jsonMeasurement {
	j := jsonMeasurement{
		Test: m.Test, ClientPort: newJSONPort(m.Client), ServerPort: newJSONPort(m.Server), Partial: m.Partial, Missed: []string{},
		Verified: m.Test.Verify && !m.Partial, Bandwidth: newJSONThroughput(m.Sent), Received: newJSONThroughput(m.Received),
		Reverse: newJSONThroughput(m.Reverse), Windows: []jsonWindow{}, ClientSide: newJSONSide(m.ClientSide), ServerSide: newJSONSide(m.ServerSide),
	}
	if m.MTU != 0 {
		j.MTU = &m.MTU
	}
	if m.Err != nil {
		text := m.Err.Error()
		j.Error = &text
	}
	if m.Latency != nil && m.Latency.Count > 0 {
		j.Latency = newJSONLatency(m, m.Latency)
	}
	for _, w := range m.Windows {
		j.Windows = append(j.Windows, jsonWindow{w.Begin.Seconds(), w.Length.Seconds(), w.Rate})
	}
	return j
}

func newJSONLatency(m *perf.Measurement, s *loop.Samples) *jsonLatencyResult {
	part := 1.0
	if m.Test.OneWay() {
		part = 0.5
	}
	j := &jsonLatencyResult{
		Count: s.Count, Lost: m.Lost, OneWay: m.Test.OneWay(), MinNS: part * float64(s.Min), AvgNS: part * s.Avg(),
		MedianNS: part * float64(s.Quantile(50)), MaxNS: part * float64(s.Max), StdDevNS: part * s.StdDev(), JitterNS: part * s.Jitter(),
		Percentiles: map[string]float64{},
	}
	for _, p := range percentiles {
		j.Percentiles[strconv.FormatFloat(p, 'f', -1, 64)] = part * float64(s.Quantile(p))
	}
	return j
}

func newJSONThroughput(t *perf.Throughput) *jsonThroughputResult {
	if t == nil {
		return nil
	}
	j := &jsonThroughputResult{
		Messages: t.Messages, Bytes: t.Bytes, Seconds: t.Elapsed.Seconds(), BytesPerSec: t.Rate(), MessagePerSec: t.MessageRate(),
	}
	if t.Peak > 0 {
		j.Peak, j.Minimum = &t.Peak, &t.Minimum
	}
	return j
}

func newJSONPort(e perf.Ends) *jsonPort {
	if e.Device == "" {
		return nil
	}
	j := &jsonPort{Device: e.Device, Driver: e.Driver, Port: e.Port, Link: e.Link, MTU: e.MTU}
	if e.LID != 0 {
		j.LID = &e.LID
	}
	if e.GID.IsValid() {
		gid := e.GID.String()
		j.GID, j.GIDType = &gid, &e.GIDType
		if e.GIDIndex >= 0 {
			j.GIDIndex = &e.GIDIndex
		}
		if e.Why != "" {
			j.Why = &e.Why
		}
	}
	return j
}

func newJSONSide(s perf.Side) *jsonSideResult {
	if s.Elapsed == 0 {
		return nil
	}
	j := &jsonSideResult{
		Seconds: s.Elapsed.Seconds(), User: s.User.Seconds(), System: s.System.Seconds(), CPUs: s.CPUs,
		Sent: total(s.Sent), Received: total(s.Received), Counters: s.Counters,
	}
	if j.CPUs == nil {
		j.CPUs = []int{}
	}
	if j.Counters == nil {
		j.Counters = perf.Counters{}
	}
	return j
}
