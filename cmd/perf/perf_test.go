package perf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/perf"
)

// TestPerfExitCodes: what was measured before an error decides.
func TestPerfExitCodes(t *testing.T) {
	test := perf.NewTest(perf.Write, perf.Bandwidth, perf.RC, 64)
	moved := &perf.Throughput{Messages: 7, Bytes: 448, Elapsed: 1}
	whole := perf.Measurement{Test: test, Sent: moved}
	part := perf.Measurement{Test: test, Sent: moved, Partial: true}
	nothing := perf.Measurement{Test: test, Partial: true}
	untold := perf.Measurement{Test: test}
	interrupted := fmt.Errorf("measure: %w", context.Canceled)
	gone := errors.New("the device is gone")
	for name, c := range map[string]struct {
		all   []perf.Measurement
		err   error
		code  int
		minBW float64
	}{
		"whole":                       {[]perf.Measurement{whole}, nil, cmdutil.ExitOK, 0},
		"interrupted":                 {[]perf.Measurement{part}, interrupted, cmdutil.ExitPartial, 0},
		"interrupted before it began": {[]perf.Measurement{nothing}, interrupted, cmdutil.ExitFailed, 0},
		"interrupted before all":      {nil, interrupted, cmdutil.ExitFailed, 0},
		"interrupted later":           {[]perf.Measurement{whole, nothing}, interrupted, cmdutil.ExitPartial, 0},
		"failed":                      {[]perf.Measurement{part}, gone, cmdutil.ExitFailed, 0},
		"some failed":                 {[]perf.Measurement{whole, part}, gone, cmdutil.ExitPartial, 0},
		"no such test":                {nil, perf.ErrTest, cmdutil.ExitUsage, 0},
		"no figures":                  {[]perf.Measurement{untold}, nil, cmdutil.ExitOK, 0},
		"no figures to judge":         {[]perf.Measurement{untold}, nil, cmdutil.ExitPartial, 1},
		"too slow":                    {[]perf.Measurement{whole}, nil, cmdutil.ExitFindings, 1e6},
	} {
		var out, stderr bytes.Buffer
		env := &cmdutil.Env{Out: &out, ErrOut: &stderr}
		command := &command{env: env, view: view{env: env, unit: "gbit", minBW: c.minBW}}
		err := command.show(nil, func() (*perf.Result, error) {
			for i := range c.all {
				command.view.done(&c.all[i])
			}
			return &perf.Result{Measurements: c.all}, c.err
		})
		if code := cmdutil.ExitCode(env, "ibkit perf", err); code != c.code {
			t.Errorf("%s: exit code %d, not %d: %v", name, code, c.code, err)
		}
		if marked := bytes.Contains(out.Bytes(), []byte("64 B: partial")); marked != (len(c.all) > 0 && c.all[len(c.all)-1].Partial && c.all[len(c.all)-1].Sent != nil) {
			t.Errorf("%s: marked as partial: %v\n%s", name, marked, out.Bytes())
		}
	}
}
