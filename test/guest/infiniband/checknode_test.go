//go:build guest

package infiniband_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/tool/check"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/ibports"
)

// TestCheckNode checks a node with InfiniBand ports as an unprivileged user, against the
// node's manifest: as it is, and while the ports are down.
func TestCheckNode(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t))
	bridge := ibports.PlugIn(t, g, "demo", "node02", "node07")
	g.Must(t, "sh", "-c", "mkdir -m 777 /tmp/check")
	run := func(code int, want ...string) check.Report {
		t.Helper()
		r, err := g.Run(t.Context(), guest.Command{User: true, Args: []string{
			"ibkit", "check", "node", "--json", "--expect", "/tmp/check/node.yaml", "--state-file", "/tmp/check/state",
		}})
		if err != nil {
			t.Fatal(err)
		}
		var result check.Report
		if err := json.Unmarshal([]byte(r.Stdout), &result); err != nil {
			t.Fatalf("%v\n%s%s", err, r.Stdout, r.Stderr)
		}
		var kinds []string
		for _, f := range result.Findings {
			kinds = append(kinds, check.Name(f)+" "+f.Subject)
		}
		slices.Sort(kinds)
		if r.Code != code || !slices.Equal(kinds, want) {
			t.Errorf("got exit code %d and %v, want %d and %v", r.Code, kinds, code, want)
		}
		return result
	}
	if r, err := g.Run(t.Context(), guest.Command{User: true, Args: []string{"ibkit", "check", "node", "--write-expect", "/tmp/check/node.yaml"}}); err != nil || r.Code != 0 {
		t.Fatalf("write manifest: %+v, %v", r, err)
	}
	run(0)
	t.Logf("the second check took %.0f ms on an emulated processor", 1000*run(0).Seconds)

	// Without the bridge, the agents do not answer the kernel's requests for counters.
	bridge.Unplug()
	run(4, "devices/device ibtest0", "devices/device ibtest1", "ports/port-state ibtest0/1", "ports/port-state ibtest1/1")
	nagios, err := g.Run(t.Context(), guest.Command{User: true, Args: []string{"ibkit", "check", "node", "--format", "nagios", "--expect", "/tmp/check/node.yaml"}})
	const want = "IBKIT NODE CRITICAL - 2 errors, 0 warnings in 10 stages; ports/port-state ibtest0/1: state: got DOWN, want ACTIVE |"
	if err != nil || nagios.Code != 2 || !strings.HasPrefix(nagios.Stdout, want) {
		t.Errorf("got exit code %d, error %v and\n%swant 2 and %s", nagios.Code, err, nagios.Stdout, want)
	}
}
