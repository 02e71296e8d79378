//go:build guest

package selftest

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/perf/selftest"
	"github.com/ibkit/ibkit/test/guest"
)

// Expected has the cases that need not pass, as "transport name". All others must pass.
type Expected struct {
	Unsupported []string // by the device or by the driver; a transport alone: all its cases
	Failing     []string // because of the driver
}

// Run runs the self-test on a device. env is added to the environment.
func Run(t *testing.T, g *guest.Guest, device string, expected Expected, env ...string) {
	t.Helper()
	out, err := g.Run(t.Context(), guest.Command{Args: []string{"ibkit", "perf", "--self-test", device, "--json"}, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CheckSchema(t, "../../../schema/perf-self-test.json", out.Stdout)
	var r selftest.Report
	if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cases in %.1f s", len(r.Cases), r.Seconds)
	for _, c := range r.Cases {
		name := c.Transport + " " + c.Name
		switch c.Outcome {
		case selftest.Fail:
			if !slices.Contains(expected.Failing, name) {
				t.Errorf("%s: %s", name, *c.Reason)
			}
		case selftest.Unsupported:
			if !slices.Contains(expected.Unsupported, name) && !slices.Contains(expected.Unsupported, c.Transport) {
				t.Errorf("%s: unsupported: %s", name, *c.Reason)
			}
		}
	}
	want := 0
	if r.CountOf(selftest.Fail) > 0 {
		want = 3
	}
	if out.Code != want || r.Partial || r.Device.Name != device || len(r.Cases) < 80 {
		t.Errorf("got exit code %d, partial %v, device %s, %d cases, want %d, false, %s, at least 80", out.Code, r.Partial, r.Device.Name, len(r.Cases), want, device)
	}
}
