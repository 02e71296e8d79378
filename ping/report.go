package ping

import (
	"math"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// Schema identifies the JSON objects that `ibkit ping` prints (schema/ping.json). An
// incompatible change gets another number.
const Schema = "ibkit/ping/2"

// A Report is the JSON object with the run statistics: the `ibkit ping --json` output, and
// the last line that `ibkit ping --json-lines` prints. A nil pointer stands for a value
// that does not exist.
type Report struct {
	report.Head                 // failures: targets that were not pinged
	Type        string          `json:"type"` // "summary"
	Seconds     float64         `json:"seconds"`
	Targets     []ReportTarget  `json:"targets"`
	Expected    *ReportExpected `json:"expected"` // nil without an expected host list
	Total       ReportStats     `json:"total"`
	Stray       int             `json:"stray"`
}

// A ReportTarget has the statistics for a target.
type ReportTarget struct {
	Target   string        `json:"target"`
	Agent    Agent         `json:"via"`
	LID      *ib.LID       `json:"lid"`
	Route    *mad.Route    `json:"route"`
	GID      *ib.GID       `json:"gid"`
	PortGUID *ib.GUID      `json:"port_guid"`
	Findings []report.Kind `json:"findings"` // exceeded limits
	ReportStats
}

// An ReportExpected has the expected hosts that did not reply.
type ReportExpected struct {
	Hosts   int      `json:"hosts"`   // expected host count
	Missing []string `json:"missing"` // targets without a reply, or not found; findings have the reasons
}

// A ReportStats has the values from [Stats].
type ReportStats struct {
	Sent        int         `json:"sent"`
	Received    int         `json:"received"`
	Lost        int         `json:"lost"`
	Late        int         `json:"late"`
	Duplicated  int         `json:"duplicated"`
	Corrupted   int         `json:"corrupted"`
	WrongSource int         `json:"wrong_source"`
	WrongOUI    int         `json:"wrong_oui"`
	Refused     int         `json:"refused"`
	Unreachable int         `json:"unreachable"`
	LossPercent float64     `json:"loss_percent"`
	RTT         *ReportRTT  `json:"rtt"`
	Histogram   []ReportBar `json:"histogram"`
}

// An ReportRTT has the round-trip time distribution. The unit is the nanosecond.
type ReportRTT struct {
	Min    int64 `json:"min_ns"`
	Avg    int64 `json:"avg_ns"`
	Median int64 `json:"median_ns"`
	P90    int64 `json:"p90_ns"`
	P99    int64 `json:"p99_ns"`
	P999   int64 `json:"p99_9_ns"`
	Max    int64 `json:"max_ns"`
	StdDev int64 `json:"stddev_ns"`
	Jitter int64 `json:"jitter_ns"`
}

// A ReportBar is a histogram bar. Times are in nanoseconds.
type ReportBar struct {
	From  int64 `json:"from_ns"`
	To    int64 `json:"to_ns"`
	Count int   `json:"count"`
}

// A ReportProbe is the JSON object for a probe: any line that `ibkit ping --json-lines`
// prints, except the last line.
type ReportProbe struct {
	Schema   string    `json:"schema"`
	Type     string    `json:"type"` // "probe"
	Target   string    `json:"target"`
	Agent    Agent     `json:"via"`
	Seq      int       `json:"seq"`
	Outcome  Outcome   `json:"outcome"`
	Sent     time.Time `json:"sent"`
	RTT      *int64    `json:"rtt_ns"`
	Host     *string   `json:"host"`
	NodeGUID *ib.GUID  `json:"node_guid"`
	Error    *string   `json:"error"`
}

// Report returns the document of a result, without findings and failures. It contains histograms with at most the given number of bars, or no histograms if the number
// is 0.
func (r *Result) Report(bars int) *Report {
	document := &Report{
		Head: report.NewHead(Schema, r.Start), Type: "summary", Seconds: r.Duration.Seconds(),
		Targets: []ReportTarget{}, Total: r.Total.report(bars), Stray: r.Stray,
	}
	for _, t := range r.Targets {
		one := ReportTarget{Target: t.Name, Agent: t.Agent, Findings: []report.Kind{}, ReportStats: t.Stats.report(bars)}
		switch {
		case t.GRH != nil:
			one.GID = new(t.GRH.DGID)
		case t.To.LID != 0:
			one.LID = new(t.To.LID)
		default:
			one.Route = new(t.To.Route)
		}
		if t.PortGUID != 0 {
			one.PortGUID = new(t.PortGUID)
		}
		document.Targets = append(document.Targets, one)
	}
	return document
}

func (s *Stats) report(bars int) ReportStats {
	r := ReportStats{
		Sent: s.Sent, Received: s.Received, Lost: s.Lost, Late: s.Late, Duplicated: s.Duplicated, Corrupted: s.Corrupted,
		WrongSource: s.WrongSource, WrongOUI: s.WrongOUI, Refused: s.Refused, Unreachable: s.Unreachable,
		LossPercent: math.Round(100*s.Loss()*1e6) / 1e6,
	}
	if s.Received == 0 {
		return r
	}
	r.RTT = &ReportRTT{
		Min: int64(s.Min), Avg: int64(s.Avg()), Median: int64(s.Quantile(50)), P90: int64(s.Quantile(90)),
		P99: int64(s.Quantile(99)), P999: int64(s.Quantile(99.9)), Max: int64(s.Max), StdDev: int64(s.StdDev()), Jitter: int64(s.Jitter()),
	}
	for _, b := range s.Bars(bars) {
		r.Histogram = append(r.Histogram, ReportBar{int64(b.From), int64(b.To), b.Count})
	}
	return r
}
