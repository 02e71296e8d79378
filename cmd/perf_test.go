package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

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
		"whole":                       {[]perf.Measurement{whole}, nil, exitOK, 0},
		"interrupted":                 {[]perf.Measurement{part}, interrupted, exitPartial, 0},
		"interrupted before it began": {[]perf.Measurement{nothing}, interrupted, exitFailed, 0},
		"interrupted before all":      {nil, interrupted, exitFailed, 0},
		"interrupted later":           {[]perf.Measurement{whole, nothing}, interrupted, exitPartial, 0},
		"failed":                      {[]perf.Measurement{part}, gone, exitFailed, 0},
		"some failed":                 {[]perf.Measurement{whole, part}, gone, exitPartial, 0},
		"no such test":                {nil, perf.ErrTest, exitUsage, 0},
		"no figures":                  {[]perf.Measurement{untold}, nil, exitOK, 0},
		"no figures to judge":         {[]perf.Measurement{untold}, nil, exitPartial, 1},
		"too slow":                    {[]perf.Measurement{whole}, nil, exitFindings, 1e6},
	} {
		var out, stderr bytes.Buffer
		env := &environment{out: &out, err: &stderr}
		root := newRoot(env, nil)
		command := &perfCommand{env: env, view: perfView{env: env, unit: "gbit", minBW: c.minBW}}
		err := command.show(nil, func() (*perf.Result, error) {
			for i := range c.all {
				command.view.done(&c.all[i])
			}
			return &perf.Result{Measurements: c.all}, c.err
		})
		perfCmd, _, e := root.Find([]string{"perf"})
		if e != nil {
			t.Fatal(e)
		}
		if code := report(env, perfCmd, err); code != c.code {
			t.Errorf("%s: exit code %d, not %d: %v", name, code, c.code, err)
		}
		if marked := bytes.Contains(out.Bytes(), []byte("64 B: partial")); marked != (len(c.all) > 0 && c.all[len(c.all)-1].Partial && c.all[len(c.all)-1].Sent != nil) {
			t.Errorf("%s: marked as partial: %v\n%s", name, marked, out.Bytes())
		}
	}
}
