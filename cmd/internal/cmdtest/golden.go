package cmdtest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update makes tests write the files that they compare with.
var Update = flag.Bool("update", false, "write golden files")

var began = regexp.MustCompile(`"began": ?"[^"]*"`)

// WithoutTime replaces the start of the work in JSON documents.
func WithoutTime(documents string) string { return began.ReplaceAllString(documents, `"began":"TIME"`) }

// Golden compares output with a file in testdata, apart from the start of the work.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	got = WithoutTime(got)
	if *Update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}
