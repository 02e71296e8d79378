package perf

import (
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/stats"
)

// A Result is the outcome of all tests.
type Result struct {
	Client, Server host.Identity
	ClockSource    string  // of the client: "CLOCK_MONOTONIC" or "TSC"
	ClockCost      float64 // of each reading, in nanoseconds
	Measurements   []Measurement
	NotBegun       []Test // after a failure that concerns all tests
}

// A Measurement is a test's outcome.
type Measurement struct {
	Test           Test
	Client, Server host.PortInfo
	MTU            int // of the packets, in bytes

	Latency  *stats.Samples   // nil for bandwidth
	Lost     uint64           // round trips
	Sent     *Throughput      // by the client; nil for latency
	Received *Throughput      // by the server; for sends
	Reverse  *Throughput      // by the server; for bidirectional tests
	Windows  []ThroughputPart // of Sent over time

	ClientSide, ServerSide Side

	// Partial is set if the test ended early, because of Err.
	Partial bool
	Err     error
}

// OneWay reports whether latencies are half of a round trip of two messages.
func (t Test) OneWay() bool { return t.Kind == Latency && (t.Op == Send || t.Op == Write) }

// LatencyFactor returns the factor from round trips to the latencies of this test.
func (t Test) LatencyFactor() float64 {
	if t.OneWay() {
		return 0.5
	}
	return 1
}

// Side holds a side's figures in a test.
type Side struct {
	Elapsed  time.Duration `json:"elapsed_ns"` // of the loops
	User     time.Duration `json:"user_ns"`    // processor time of the loops
	System   time.Duration `json:"system_ns"`
	CPUs     []int         `json:"cpus"`
	Sent     []uint64      `json:"sent"`     // messages by queue pair
	Received []uint64      `json:"received"` // messages by queue pair
	Out      *Throughput   `json:"out"`
	In       *Throughput   `json:"in"`
	Counters host.Counters `json:"counters"` // increments during the test
	Verified bool          `json:"verified"`
}

// Throughput is an amount of data and the time that it took.
type Throughput struct {
	Messages uint64        `json:"messages"`
	Bytes    uint64        `json:"bytes"`
	Elapsed  time.Duration `json:"elapsed_ns"`
	Peak     float64       `json:"peak"`    // bytes per second of the best window; 0: too short
	Minimum  float64       `json:"minimum"` // bytes per second of the worst window
}

// Rate returns bytes per second.
func (t *Throughput) Rate() float64 {
	if t.Elapsed <= 0 {
		return 0
	}
	return float64(t.Bytes) / t.Elapsed.Seconds()
}

// MessageRate returns messages per second.
func (t *Throughput) MessageRate() float64 {
	if t.Elapsed <= 0 {
		return 0
	}
	return float64(t.Messages) / t.Elapsed.Seconds()
}

// A ThroughputPart is the throughput of a window of time.
type ThroughputPart struct {
	Begin, Length time.Duration
	Rate          float64 // bytes per second
}

// maxParts is the number of windows for peak and minimum.
const maxParts = 50

// windowCompletions is the minimum average number of completions of a queue pair in a
// window. Fewer completions make the rate of a window meaningless.
const windowCompletions = 4

// throughput adds up the windows of several threads.
func throughput(t Test, all []*stats.Windows) (*Throughput, []ThroughputPart) {
	sum := &Throughput{}
	for _, w := range all {
		n, ns := w.Total()
		sum.Messages += n
		sum.Elapsed = max(sum.Elapsed, time.Duration(ns))
	}
	sum.Bytes = sum.Messages * uint64(t.Size)
	least := uint64(windowCompletions * t.QueuePairs * t.Moderation)
	series := merge(t.Size, all, int(min(maxParts, sum.Messages/least)))
	sum.setExtremes(series)
	return sum, series
}

// setExtremes sets peak and minimum from a series of windows.
func (t *Throughput) setExtremes(series []ThroughputPart) {
	for i, p := range series {
		if i == 0 {
			t.Minimum = p.Rate
		}
		t.Peak, t.Minimum = max(t.Peak, p.Rate), min(t.Minimum, p.Rate)
	}
}

// part converts a window of messages of a size.
func part(r stats.Rate, size int) ThroughputPart {
	return ThroughputPart{Begin: time.Duration(r.Begin), Length: time.Duration(r.Length), Rate: r.PerSecond() * float64(size)}
}

// merge adds the rates of the windows of several threads. The threads start within
// milliseconds of each other and take about the same time, so that their windows have
// the same width.
func merge(size int, all []*stats.Windows, want int) []ThroughputPart {
	if want < 2 {
		return nil
	}
	var series []ThroughputPart
	for i, w := range all {
		rates := w.Rates(want)
		if i > 0 {
			series = series[:min(len(series), len(rates))]
			if len(series) > 0 && series[0].Length != time.Duration(rates[0].Length) {
				return nil // a thread took much longer than another
			}
		}
		for j, r := range rates {
			p := part(r, size)
			if i == 0 {
				series = append(series, p)
			} else if j < len(series) {
				series[j].Rate += p.Rate
			}
		}
	}
	return series
}
