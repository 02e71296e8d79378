package mesh

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/drain"
	"github.com/ibkit/ibkit/report"
)

func TestTerminationText(t *testing.T) {
	slow := report.New(report.SlowNode, "n2", "40 % of its class")
	r := &mesh.Result{
		Head: report.Head{
			Findings: []report.Finding{{Kind: "congested", Severity: report.Warning, Subject: "leaf1[3]", Detail: "good\nalone"}, slow},
			Failures: []report.Failure{{Error: "interrupted after 3 of 9 rounds"}, {Subject: "n1 to n3", Error: "no answer"}},
		},
		BadHosts: []mesh.BadHost{
			{Host: "n2", Action: mesh.Drained}, {Host: "n5", Action: mesh.Avoid}, {Host: "n7", Action: mesh.DrainFailed, Error: "no rights"},
		},
	}
	const want = `summary
failure: interrupted after 3 of 9 rounds
drained: n2
not drained: n7: no rights
error: slow-node n2: 40 % of its class
warning: congested leaf1[3]: good\nalone
`
	if got := terminationText(r, "summary"); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	for i := range 100 {
		r.Findings = append(r.Findings, report.New(report.SlowNode, fmt.Sprintf("m%03d", i), strings.Repeat("x", i)))
	}
	got := terminationText(r, "summary")
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if last := lines[len(lines)-1]; len(got) > maxTermination || len(got) < maxTermination-100 || last != fmt.Sprintf("%d more lines in the log", 106-len(lines)+1) {
		t.Errorf("got %d bytes in %d lines, the last %q", len(got), len(lines), last)
	}
}

func TestRun_KubernetesUsage(t *testing.T) {
	for line, want := range map[string]string{
		"run --ranks 4":                         "--ranks requires --rank, or an Indexed Job of Kubernetes",
		"analyze x.csv --apply kubernetes":      "--apply kubernetes requires a pod: " + drain.InPod + " is not set",
		"run --join h:1 --termination-log FILE": "--join and --termination-log are mutually exclusive",
	} {
		t.Run(line, func(t *testing.T) {
			code, _, err := run(t, line)
			if code != cmdutil.ExitUsage || !strings.Contains(err, want) {
				t.Errorf("got exit code %d and %q, want %q", code, err, want)
			}
		})
	}
}

// TestAnalyze_kubectl checks that a pod prints commands for kubectl.
func TestAnalyze_kubectl(t *testing.T) {
	args := strings.Fields("mesh analyze " + small + " " + results(t, small+" --fault host00009=40%"))
	_, out, _ := program.Run(t, map[string]string{drain.InPod: "10.0.0.1"}, args...)
	if want := "\ndrain: kubectl taint nodes host00009 ibkit.io/mesh=slow-node:NoSchedule\n"; !strings.Contains(out, want) {
		t.Errorf("got\n%s, want %q", out, want)
	}
}
