package counters

import (
	"slices"
	"time"

	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// LocalSchema identifies the JSON form for a [ReportLocal]; schema/counters-local.json
// describes it.
const LocalSchema = "ibkit/counters-local/3"

// A ReportLocal is the document that "ibkit counters --local --json" prints after each
// window.
type ReportLocal struct {
	report.Head
	Window *float64     `json:"window_seconds"` // seconds; nil: a single reading
	Ports  []*LocalPort `json:"ports"`

	read time.Time
}

// NewReportLocal returns a report on counters that are read now, without ports.
func NewReportLocal() *ReportLocal {
	now := time.Now()
	return &ReportLocal{Head: report.NewHead(LocalSchema, now), Ports: []*LocalPort{}, read: now}
}

// A LocalPort has the counters for a port on this host that the kernel reports.
type LocalPort struct {
	Device    string             `json:"device"`
	Number    int                `json:"port"`
	LinkLayer *string            `json:"link_layer"`
	Netdev    *string            `json:"netdev"`
	State     *string            `json:"state"`
	Rate      *string            `json:"rate"`
	Counters  map[string]uint64  `json:"counters"`
	Increase  map[string]*uint64 `json:"increase"` // nil values: the counter was cleared
	Rates     map[string]float64 `json:"rates"`    // per second

	RoCE *roce.PortSettings `json:"-"` // nil: not judged
}

// Increases returns the increases of counters that were not cleared.
func (p *LocalPort) Increases() map[string]uint64 {
	all := map[string]uint64{}
	for name, n := range p.Increase {
		if n != nil {
			all[name] = *n
		}
	}
	return all
}

// Compare adds the increases since an earlier report.
func (r *ReportLocal) Compare(before *ReportLocal) {
	window := r.read.Sub(before.read).Seconds()
	r.Window = &window
	for _, p := range r.Ports {
		i := slices.IndexFunc(before.Ports, func(q *LocalPort) bool { return q.Device == p.Device && q.Number == p.Number })
		if i < 0 {
			continue
		}
		p.Increase, p.Rates = map[string]*uint64{}, map[string]float64{}
		for name, v := range p.Counters {
			was, ok := before.Ports[i].Counters[name]
			if !ok || v < was {
				p.Increase[name] = nil
				continue
			}
			p.Increase[name], p.Rates[name] = new(v-was), float64(v-was)/window
		}
	}
}
