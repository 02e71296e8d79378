package perf

import (
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// document prints the report on a result, with the reason if it ended early.
func (v *view) document(r *perf.Result, reason error) error {
	report := perf.NewReport(r, reason)
	for i := range r.Measurements {
		for _, missed := range v.missed(&r.Measurements[i]) {
			report.Results[i].Missed = append(report.Results[i].Missed, missed.limit)
		}
	}
	out := render.NewOutput(v.env.Out)
	render.WriteDocument(out, report)
	return out.Flush()
}
