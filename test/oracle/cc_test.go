//go:build oracle

package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/tool/cc"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// ccSettings has the same effect as ccConfig. In the demo, leaf1 has LID 3 and node01 LID 4.
const ccSettings = `
[switch]
node = leaf1
threshold = 15
packet_size = 8
marking_rate = 7
victim_mask = 1-12
credit_mask = 1
cs_threshold = 8
cs_return_delay = 2:5

[port]
node = leaf1
ports = 5
control = congestion
threshold = 7
packet_size = 8
marking_rate = 9

[port]
node = leaf1
ports = 16
control = starvation
threshold = 2
cs_return_delay = 1:300

[adapter]
node = node01
control = sl
cct = @TABLE@

[sl]
node = node01
sls = 0-1
ccti_timer = 150
ccti_increase = 1
ccti_min = 2
`

// ccTable returns entries for a table with two blocks.
func ccTable() (entries []string) {
	for i := range 67 {
		entries = append(entries, fmt.Sprintf("%d:%d", i%4, i*200))
	}
	return entries
}

// ccConfig are ibccconfig command lines.
func ccConfig() []string {
	table := ccTable()
	return []string{
		"SS 3 0x1F 0x1FFE 0x2 0xF 8 8 2:5 7", "SP 3 5 1 0 7 8 9", "SP 3 16 1 1 2 0 16684", "CS 4 1 0x3 150 1 0 2",
		"CT 4 63 0 " + strings.Join(table[:64], " "), "CT 4 66 1 " + strings.Join(table[64:], " "),
	}
}

// changeCC sets settings, and returns the report.
func changeCC(t *testing.T, s *ibsimtest.Sim, host string, code int, settings string, args ...string) (report cc.Report, stderr string) {
	t.Helper()
	r := s.MustRun(t, host, ibkit(), append([]string{"cc", "-t", "100", "--json", "--settings", writeText(t, settings)}, args...)...)
	if r.Code != code {
		t.Fatalf("cc %q: got exit code %d, want %d\n%s%s", args, r.Code, code, r.Stdout, r.Stderr)
	}
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
		t.Fatal(err)
	}
	return report, r.Stderr
}

// ccSame reports whether a number of agents have settings.
func ccSame(t *testing.T, s *ibsimtest.Sim, host, settings string, agents int) bool {
	t.Helper()
	report, _ := changeCC(t, s, host, 0, settings, "--dry-run")
	return len(report.Change.Steps) == 0 && report.Change.Same == agents
}

// TestCC sets congestion control with ibkit in one fabric and with ibccconfig in another:
// ibccquery prints the same for both, and ibkit finds nothing to change in either.
func TestCC(t *testing.T) {
	byUs, byC := serveLive(t, "demo"), serveLive(t, "demo")
	settings := strings.Replace(ccSettings, "@TABLE@", strings.Join(ccTable(), ", "), 1)
	report, _ := changeCC(t, byUs, "node07", 0, settings, "--yes")
	if len(report.Change.Steps) != 2 {
		t.Errorf("got %d changes, want 2", len(report.Change.Steps))
	}
	for _, line := range ccConfig() {
		if r := byC.MustRunC(t, "node07", "ibccconfig", strings.Fields(line)...); r.Code != 0 {
			t.Fatalf("ibccconfig %.20s: got exit code %d\n%s", line, r.Code, r.Stderr)
		}
	}
	for _, query := range []string{"SS 3", "SP 3", "CS 4", "CT 4", "SS 8", "CS 5", "CT 5"} {
		want := byC.MustRunC(t, "node07", "ibccquery", strings.Fields(query)...)
		got := byUs.MustRunC(t, "node07", "ibccquery", strings.Fields(query)...)
		if d := cmp.Diff(want.Stdout, got.Stdout); d != "" || want.Code != 0 || got.Code != 0 {
			t.Errorf("ibccquery %s: got exit codes %d and %d; set by ibccconfig (-), by ibkit (+)\n%s", query, want.Code, got.Code, d)
		}
	}
	for name, s := range map[string]*ibsimtest.Sim{"ibkit": byUs, "ibccconfig": byC} {
		if !ccSame(t, s, "node07", settings, 2) {
			t.Errorf("set by %s: ibkit finds differences", name)
		}
	}
}

// TestCC_Key protects agents with ibccconfig: ibkit needs the key to change them.
func TestCC_Key(t *testing.T) {
	s := serveLive(t, "demo")
	if r := s.MustRunC(t, "node07", "ibccconfig", "CK", "3", "0x77", "1", "0", "0"); r.Code != 0 {
		t.Fatalf("ibccconfig: got exit code %d\n%s", r.Code, r.Stderr)
	}
	const settings = "[switch]\nnode = leaf1, leaf2\nthreshold = 9\n"
	threshold := func(lid string) string {
		r := s.MustRunC(t, "node07", "ibccquery", "-c", "0x77", "SS", lid)
		_, text, _ := strings.Cut(r.Stdout, "\nThreshold:.......................")
		value, _, _ := strings.Cut(text, "\n")
		return value
	}
	report, stderr := changeCC(t, s, "node07", 4, settings, "--yes")
	got := map[string]outcome.Outcome{}
	for _, st := range report.Change.Steps {
		got[st.Name] = *st.Outcome
	}
	if want := map[string]outcome.Outcome{"leaf1": outcome.NoReply, "leaf2": outcome.Changed}; !maps.Equal(got, want) || !strings.Contains(stderr, "leaf1: no reply: ") {
		t.Errorf("without the key: got %v, want %v\n%s", got, want, stderr)
	}
	if a, b := threshold("3"), threshold("8"); a != "0x00" || b != "0x09" {
		t.Errorf("without the key: ibccquery prints the thresholds %q and %q", a, b)
	}
	changeCC(t, s, "node07", 0, settings, "--yes", "--cc-key", "@"+writeText(t, "0x77\n"))
	if got := threshold("3"); got != "0x09" {
		t.Errorf("with the key: ibccquery prints the threshold %q", got)
	}
}
