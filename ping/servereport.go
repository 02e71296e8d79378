package ping

import (
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// ServeSchema identifies the JSON objects that `ibkit ping --serve` prints
// (schema/ping-serve.json). An incompatible change gets another number.
const ServeSchema = "ibkit/ping-serve/2"

// A ReportServe is the JSON object for a server: the `ibkit ping --serve --json` output. A
// nil pointer stands for a value that does not exist.
type ReportServe struct {
	report.Head
	Name    string             `json:"name"`
	Ports   []ReportServedPort `json:"ports"`
	Seconds float64            `json:"seconds"`
	ReportCounts
	Ignored   uint64         `json:"ignored"`
	Sources   []ReportSource `json:"sources"`
	Forgotten uint64         `json:"forgotten_sources"`
}

// A ReportServedPort names a server port.
type ReportServedPort struct {
	Device string `json:"device"`
	Port   uint8  `json:"port"`
}

// A ReportCounts has the values from [Counts].
type ReportCounts struct {
	Received uint64 `json:"received"`
	Answered uint64 `json:"answered"`
	Limited  uint64 `json:"limited"`
	Dropped  uint64 `json:"dropped"`
	Failed   uint64 `json:"failed"`
}

// A ReportSource has the counts for a source at a port.
type ReportSource struct {
	ReportServedPort
	LID *ib.LID `json:"lid"`
	GID *ib.GID `json:"gid"`
	ReportCounts
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// Report returns the report for the counts.
func (c *ServeCounts) Report() *ReportServe {
	r := &ReportServe{
		Head:         report.NewHead(ServeSchema, c.Began),
		Name:         c.Name,
		Ports:        []ReportServedPort{},
		Seconds:      c.Duration.Seconds(),
		ReportCounts: ReportCounts(c.Total),
		Ignored:      c.Ignored,
		Sources:      []ReportSource{},
		Forgotten:    c.Forgotten,
	}
	for _, p := range c.Ports {
		r.Ports = append(r.Ports, ReportServedPort(p))
	}
	for _, s := range c.Sources {
		one := ReportSource{
			ReportServedPort: ReportServedPort(s.ServedPort),
			ReportCounts:     ReportCounts(s.Counts),
			First:            s.First,
			Last:             s.Last,
		}
		if s.From.LID != 0 {
			one.LID = new(s.From.LID)
		} else {
			one.GID = new(s.From.GID)
		}
		r.Sources = append(r.Sources, one)
	}
	return r
}
