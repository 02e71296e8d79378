package ping

import (
	"time"

	"github.com/ibkit/ibkit/ib"
)

// ServeSchema identifies the JSON objects that `ibkit ping --serve` prints
// (schema/ping-serve.json). An incompatible change gets another number.
const ServeSchema = "ibkit/ping-serve/1"

// A ServeReport is the JSON object for a server: the `ibkit ping --serve --json` output. A
// nil pointer stands for a value that does not exist.
type ServeReport struct {
	Schema  string             `json:"schema"`
	Name    string             `json:"name"`
	Ports   []ServedPortReport `json:"ports"`
	Seconds float64            `json:"seconds"`
	CountsReport
	Ignored   uint64         `json:"ignored"`
	Sources   []SourceReport `json:"sources"`
	Forgotten uint64         `json:"forgotten_sources"`
}

// A ServedPortReport names a server port.
type ServedPortReport struct {
	Device string `json:"device"`
	Port   uint8  `json:"port"`
}

// A CountsReport has the values from [Counts].
type CountsReport struct {
	Received uint64 `json:"received"`
	Answered uint64 `json:"answered"`
	Limited  uint64 `json:"limited"`
	Dropped  uint64 `json:"dropped"`
	Failed   uint64 `json:"failed"`
}

// A SourceReport has the counts for a source at a port.
type SourceReport struct {
	ServedPortReport
	LID *ib.LID `json:"lid"`
	GID *ib.GID `json:"gid"`
	CountsReport
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// Report returns the report for the counts.
func (c *ServeCounts) Report() *ServeReport {
	r := &ServeReport{
		Schema:       ServeSchema,
		Name:         c.Name,
		Ports:        []ServedPortReport{},
		Seconds:      c.Duration.Seconds(),
		CountsReport: CountsReport(c.Total),
		Ignored:      c.Ignored,
		Sources:      []SourceReport{},
		Forgotten:    c.Forgotten,
	}
	for _, p := range c.Ports {
		r.Ports = append(r.Ports, ServedPortReport(p))
	}
	for _, s := range c.Sources {
		one := SourceReport{
			ServedPortReport: ServedPortReport(s.ServedPort),
			CountsReport:     CountsReport(s.Counts),
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
