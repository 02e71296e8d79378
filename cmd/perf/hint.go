package perf

import "github.com/ibkit/ibkit/cmd/internal/shared/perfhint"

// withHint adds the hint for an error of a measurement.
func withHint(err error) error { return perfhint.With(err, perfhint.Native) }
