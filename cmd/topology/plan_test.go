package topology

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/report"
)

// An invalid line in a plan leaves the other lines, and the result is partial.
func TestTopology_DamagedPlan(t *testing.T) {
	text, err := os.ReadFile("testdata/plan.csv")
	if err != nil {
		t.Fatal(err)
	}
	count := func(t *testing.T, plan string) (all, unexpected, failures, code int, warnings string) {
		t.Helper()
		code, out, warnings := program.Run(t, nil, "topology", "--sim", "demo", "--plan", plan, "--json")
		var r topology.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if f.Kind == report.UnexpectedCable {
				unexpected++
			}
		}
		return len(r.Findings), unexpected, len(r.Failures), code, warnings
	}
	all, unexpected, failures, code, _ := count(t, "testdata/plan.csv")
	if unexpected == 0 || failures != 0 || code != cmdutil.ExitFindings {
		t.Fatalf("whole plan: got %d unexpected cables, %d failures, exit code %d", unexpected, failures, code)
	}
	path := cmdtest.WriteFile(t, string(text)+"A1,40,leaf1,2\n")
	gotAll, gotUnexpected, gotFailures, code, warnings := count(t, path)
	want := fmt.Sprintf("warning: %s:%d: the cable has a single end\nwarning: the result is partial: parts of the plan could not be read, unexpected cables are not reported\n",
		path, 1+strings.Count(string(text), "\n"))
	if gotAll != all-unexpected || gotUnexpected != 0 || gotFailures != 1 || code != cmdutil.ExitPartial || warnings != want {
		t.Errorf("got %d findings, %d unexpected cables, %d failures, exit code %d, %s\nwant %d findings, 0 unexpected cables, 1 failure, exit code %d, %s",
			gotAll, gotUnexpected, gotFailures, code, warnings, all-unexpected, cmdutil.ExitPartial, want)
	}
	t.Run("no differences", func(t *testing.T) {
		_, plan, _ := program.Run(t, nil, "topology", "--sim", "demo", "--format", "csv")
		path := cmdtest.WriteFile(t, plan+"leaf1,2\n")
		code, out, _ := program.Run(t, nil, "topology", "--sim", "demo", "--plan", path)
		const want = "6 switches, 16 channel adapters, 0 routers, 24 cables: no differences from the part of the plan that was read (partial result)\n"
		if out != want || code != cmdutil.ExitPartial {
			t.Errorf("got exit code %d, %swant exit code %d, %s", code, out, cmdutil.ExitPartial, want)
		}
	})
}
