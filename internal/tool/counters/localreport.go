package counters

import (
	"slices"
	"time"
)

// LocalSchema identifies the JSON form of a [LocalReport]; schema/counters-local.json
// describes it.
const LocalSchema = "ibkit/counters-local/1"

// A LocalReport is the document that "ibkit counters --local --json" prints after each
// window.
type LocalReport struct {
	Schema string       `json:"schema"`
	Time   time.Time    `json:"time"`
	Window *float64     `json:"window"` // seconds; nil: one reading
	Ports  []*LocalPort `json:"ports"`
}

// A LocalPort has the counters of a port of this host that the kernel reports.
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
}

// Compare adds the increases since an earlier report.
func (r *LocalReport) Compare(before *LocalReport) {
	window := r.Time.Sub(before.Time).Seconds()
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
