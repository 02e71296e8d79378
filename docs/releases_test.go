package docs

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/releases"
)

// TestReleases compares the list of differences between rdma-core releases with the list by
// which tests compare ibkit with an older release.
func TestReleases(t *testing.T) {
	text, err := os.ReadFile("migration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "\n## Releases of rdma-core\n")
	list, _, _ = strings.Cut(list, "\n## ")
	_, got, _ := strings.Cut(list, "| --- | --- |\n")
	var want strings.Builder
	for _, d := range releases.Differences {
		fmt.Fprintf(&want, "| `%s` | %s |\n", strings.Join(d.Programs, "`, `"), d.Text)
	}
	if got != want.String() {
		t.Errorf("the list of differences is not that of test/releases, which is:\n%s", &want)
	}
	if !strings.Contains(list, "follow rdma-core "+releases.Followed+".") {
		t.Errorf("the section does not name release %s", releases.Followed)
	}
}
