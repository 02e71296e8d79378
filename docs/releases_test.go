package docs

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/releases"
)

// TestVerifiedReleases compares the tables of releases in the README with the releases that tests
// have.
func TestVerifiedReleases(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var programs, tools []string
	for _, r := range debian.Releases() {
		name := r.Name
		if r.Number != "" {
			name = fmt.Sprintf("%s (%s)", r.Number, r.Name)
		}
		programs = append(programs, fmt.Sprintf("| %s | %s | %s | %s | ", name, r.RDMACore, r.Perftest, r.Kernel))
		if r.Tools == nil {
			continue
		}
		row := "| " + name + " |"
		for _, tool := range []string{"ibsim-utils", "opensm", "mstflint", "tshark", "slurmctld", "prometheus"} {
			row += " " + cmp.Or(r.Tools[tool], "-") + " |"
		}
		tools = append(tools, row)
	}
	checkRows(t, string(text), "| Debian | rdma-core | perftest | Linux | tests |", programs)
	checkRows(t, string(text), "| Debian | ibsim | opensm | mstflint | tshark | Slurm | Prometheus |", tools)
}

// checkRows compares the beginning of each row of a table.
func checkRows(t *testing.T, text, head string, want []string) {
	t.Helper()
	_, table, _ := strings.Cut(text, "\n"+head+"\n|"+strings.Repeat(" --- |", strings.Count(head, "|")-1)+"\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	if len(rows) != len(want) {
		t.Fatalf("got %d rows, want %d", len(rows), len(want))
	}
	for i := range want {
		if !strings.HasPrefix(rows[i], want[i]) {
			t.Errorf("got row %q, want %q", rows[i], want[i])
		}
	}
}

// TestReleases compares the list of differences between rdma-core releases with the list by
// which tests compare ibkit with an older release.
func TestReleases(t *testing.T) {
	text, err := os.ReadFile("migration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "\n## Releases of rdma-core\n")
	list, _, _ = strings.Cut(list, "\n## ")
	_, got, _ := strings.Cut(list, "| --- | --- | --- |\n")
	var want strings.Builder
	for _, d := range releases.Differences {
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", strings.Join(d.Programs, "`, `"), d.Since.RDMACore, d.Text)
	}
	if got != want.String() {
		t.Errorf("the list of differences is not that of test/releases, which is:\n%s", &want)
	}
	if !strings.Contains(list, "follow rdma-core "+releases.Followed+".") {
		t.Errorf("the section does not name release %s", releases.Followed)
	}
}
