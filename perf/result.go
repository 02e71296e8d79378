package perf

import (
	"net/netip"
	"time"

	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/port"
)

// A Result is all that was measured.
type Result struct {
	Client, Server Identity
	ClockSource    string  // of the client: "CLOCK_MONOTONIC", or "TSC"
	ClockCost      float64 // ns that reading it takes
	Measurements   []Measurement
	NotBegun       []Test // tests that were to be done after one that failed
}

// Identity is who one side is.
type Identity struct {
	Program string `json:"program"` // "ibkit 1.2.3"
	Host    string `json:"host"`
	Kernel  string `json:"kernel"`
	BootID  string `json:"boot_id"` // tells hosts apart
	CPUs    int    `json:"cpus"`    // that it may use
}

// Ends is where one side's queue pairs are.
type Ends struct {
	Device   string     `json:"device"`
	Driver   string     `json:"driver"`
	Port     uint8      `json:"port"`
	Link     string     `json:"link"` // "Ethernet" or "InfiniBand"
	LID      uint16     `json:"lid"`
	GID      netip.Addr `json:"gid"` // not valid: InfiniBand by LID
	GIDType  string     `json:"gid_type"`
	GIDIndex int        `json:"gid_index"`
	Why      string     `json:"why"` // this GID
	MTU      int        `json:"mtu"` // bytes, of the port
}

// A Measurement is one test.
type Measurement struct {
	Test           Test
	Client, Server Ends
	MTU            int // bytes, of the packets

	Latency  *loop.Samples    // nil of tests of bandwidth
	Lost     uint64           // round trips that were begun again
	Sent     *Throughput      // by the client; nil of tests of latency
	Received *Throughput      // by the server, of sends
	Reverse  *Throughput      // by the server, of tests both ways
	Windows  []ThroughputPart // of Sent, over time

	ClientSide, ServerSide Side

	// Partial: it ended before it was over, by Err.
	Partial bool
	Err     error
}

// OneWay tells whether a time is that of a round trip of two messages, half of
// which is given.
func (t Test) OneWay() bool { return t.Kind == Latency && (t.Op == Send || t.Op == Write) }

// Side is what one side's part in a test was.
type Side struct {
	Elapsed  time.Duration `json:"elapsed_ns"` // of its loops
	User     time.Duration `json:"user_ns"`    // processor time of its loops
	System   time.Duration `json:"system_ns"`
	CPUs     []int         `json:"cpus"`
	Sent     []uint64      `json:"sent"`     // messages, by queue pair
	Received []uint64      `json:"received"` // messages, by queue pair
	Out      *Throughput   `json:"out"`
	In       *Throughput   `json:"in"`
	Counters port.Counters `json:"counters"` // of the device, as far as they went on
	Verified bool          `json:"verified"`
}

// Throughput is how much was moved while it counted.
type Throughput struct {
	Messages uint64        `json:"messages"`
	Bytes    uint64        `json:"bytes"`
	Elapsed  time.Duration `json:"elapsed_ns"`
	Peak     float64       `json:"peak"`    // bytes per second of the best window, 0: it was too short for one
	Minimum  float64       `json:"minimum"` // and of the worst
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

// A ThroughputPart is a window of time.
type ThroughputPart struct {
	Begin, Length time.Duration
	Rate          float64 // bytes per second
}

// parts is how many windows peak and minimum are taken from, about.
const parts = 50

// windowCompletions is how many completions a queue pair has in a window at least,
// on average.
const windowCompletions = 4

// throughput sums up windows of several threads.
func throughput(t Test, all []*loop.Windows) (*Throughput, []ThroughputPart) {
	sum := &Throughput{}
	for _, w := range all {
		n, ns := w.Total()
		sum.Messages += n
		sum.Elapsed = max(sum.Elapsed, time.Duration(ns))
	}
	sum.Bytes = sum.Messages * uint64(t.Size)
	// A window that has few completions tells of these, not of the rate.
	least := uint64(windowCompletions * t.QueuePairs * t.Moderation)
	series := merge(t.Size, all, int(min(parts, sum.Messages/least)))
	sum.extremes(series)
	return sum, series
}

// extremes takes the best and the worst window of a series.
func (t *Throughput) extremes(series []ThroughputPart) {
	for i, p := range series {
		if i == 0 {
			t.Minimum = p.Rate
		}
		t.Peak, t.Minimum = max(t.Peak, p.Rate), min(t.Minimum, p.Rate)
	}
}

// part is a window of messages of a size.
func part(r loop.Rate, size int) ThroughputPart {
	return ThroughputPart{Begin: time.Duration(r.Begin), Length: time.Duration(r.Length), Rate: r.PerSecond() * float64(size)}
}

// merge adds the rates of windows. Those of several threads begin together, to
// some milliseconds, and are of one width as they last about as long.
func merge(size int, all []*loop.Windows, want int) []ThroughputPart {
	if want < 2 {
		return nil
	}
	var series []ThroughputPart
	for i, w := range all {
		rates := w.Rates(want)
		if i > 0 {
			series = series[:min(len(series), len(rates))]
			if len(series) > 0 && series[0].Length != time.Duration(rates[0].Length) {
				return nil // one thread took far longer than another
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

// Counters are those of a device, by their names in sysfs.
type Counters = port.Counters

// Trouble returns what a counter means that explains a bad figure; "" of others.
func Trouble(name string) string { return port.Trouble(name) }
