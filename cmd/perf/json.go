package perf

import (
	"encoding/json"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/perf"
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
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(report); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
