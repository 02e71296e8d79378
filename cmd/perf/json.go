package perf

import (
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/report"
)

// document prints the report on a result, with the reason if it ended early.
func (v *view) document(r *perf.Result, reason error) error {
	document := r.Report(v.began, reason)
	for i := range r.Measurements {
		m := &r.Measurements[i]
		for _, missed := range v.missed(m) {
			document.Results[i].Missed = append(document.Results[i].Missed, missed.limit)
			document.Add(report.New(report.MissedLimit, m.Test.String(), missed.text))
		}
	}
	out := render.NewOutput(v.env.Out)
	document.Partial = document.Partial || v.unjudged
	render.WriteDocument(out, document)
	return out.Flush()
}
