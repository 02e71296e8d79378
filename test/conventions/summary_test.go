package conventions

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A failed check run ends with the failed tests and the commands that run them alone.
func TestSummary(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"test.alone": "go test -tags oracle ",
		"test.json": `{"Action":"pass","Package":"github.com/ibkit/ibkit/mad","Test":"TestGood"}
{"Action":"fail","Package":"github.com/ibkit/ibkit/mad","Test":"TestBad/-t_3_\"(x)\"_\u003ca\u003e"}
{"Action":"pass","Package":"github.com/ibkit/ibkit/mad","Test":"TestBad/good"}
{"Action":"fail","Package":"github.com/ibkit/ibkit/mad","Test":"TestBad"}
{"Action":"fail","Package":"github.com/ibkit/ibkit/mad"}
{"Action":"fail","Package":"github.com/ibkit/ibkit/umad"}
{"Action":"fail","Package":"github.com/ibkit/ibkit/sim","Test":"TestFlaky"}
{"Action":"pass","Package":"github.com/ibkit/ibkit/sim","Test":"TestFlaky"}
{"Action":"skip","Package":"github.com/ibkit/ibkit/sim","Test":"TestSkipped"}
`,
		"lint-vet.alone": "tools/lint/lint vet ",
		"lint-vet.json":  `{"Action":"fail","Package":"checks","Test":"lint vet"}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	summary, err := filepath.Abs("../../tools/summary")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(summary, filepath.Join(dir, "lint-vet.json"), filepath.Join(dir, "test.json")).Output()
	if err == nil {
		t.Error("got exit code 0, want 1")
	}
	const want = `FAIL checks lint vet
     tools/lint/lint vet 
FAIL github.com/ibkit/ibkit/mad TestBad/-t_3_\"(x)\"_\u003ca\u003e
     go test -tags oracle ./mad -run '^TestBad$/^-t_3_..x.._.a.$'
FAIL github.com/ibkit/ibkit/umad 
     go test -tags oracle ./umad
PASS, repeated github.com/ibkit/ibkit/sim TestFlaky
3 passed, 4 failed, 1 skipped (1 passed when repeated)
`
	if d := cmp.Diff(want, string(out)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A summary of more than ten tests begins with the slowest ten, subtests within theirs.
func TestSummary_Slowest(t *testing.T) {
	events := `{"Action":"pass","Package":"m/p","Test":"Test0/sub","Elapsed":99}` + "\n"
	for i := range 12 {
		events += fmt.Sprintf(`{"Action":"pass","Package":"m/p","Test":"Test%d","Elapsed":%d.25}`+"\n", i, 100-i)
	}
	path := filepath.Join(t.TempDir(), "test.json")
	if err := os.WriteFile(path, []byte(events), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("../../tools/summary", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := "slowest tests, in seconds:\n"
	for i := range 10 {
		want += fmt.Sprintf("%6d.2 m/p Test%d\n", 100-i, i)
	}
	want += "13 passed, 0 failed\n"
	if d := cmp.Diff(want, string(out)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
