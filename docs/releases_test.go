package docs

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/releases"
)

// TestVerifiedReleases compares the table of releases in the README with the releases that tests
// have.
func TestVerifiedReleases(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| Debian | rdma-core | perftest | Linux | tests |\n| --- | --- | --- | --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows, all := strings.Split(table, "\n"), debian.Releases()
	if len(rows) != len(all) {
		t.Fatalf("got %d rows, want %d", len(rows), len(all))
	}
	for i, r := range all {
		name := r.Name
		if r.Number != "" {
			name = fmt.Sprintf("%s (%s)", r.Number, r.Name)
		}
		if want := fmt.Sprintf("| %s | %s | %s | %s | ", name, r.RDMACore, r.Perftest, r.Kernel); !strings.HasPrefix(rows[i], want) {
			t.Errorf("got row %q, want %q", rows[i], want)
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
