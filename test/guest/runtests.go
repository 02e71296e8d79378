package guest

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// workDir is the working directory for tests in a guest.
const workDir = "/root/package"

// RunTests runs a package's tests in a separate guest, as root, including tests with the
// build tag inguest. Their working directory has the package's testdata. Args are test
// binary arguments: "-test.run=Name". [testenv.AllCases] applies to them, too.
func RunTests(tb testing.TB, spec Spec, pkg string, args ...string) {
	tb.Helper()
	dir, err := exec.CommandContext(tb.Context(), "go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		tb.Fatalf("find package %s: %v", pkg, err)
	}
	files := map[string]string{}
	maps.Copy(files, spec.Files)
	testdata := filepath.Join(strings.TrimSpace(string(dir)), "testdata")
	if _, err := os.Stat(testdata); err == nil {
		files[workDir+"/testdata"] = testdata
	} else if !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	test := Program{Package: pkg, Test: true}
	spec.Files = files
	spec.Programs = slices.Concat(spec.Programs, []Program{test})

	g := New(tb, spec)
	g.Must(tb, "mkdir", "-p", workDir)
	args = slices.Concat([]string{test.name(), "-test.v"}, args)
	r, err := g.Run(tb.Context(), Command{Args: args, Env: []string{testenv.CasesSetting()}, Dir: workDir, test: tb.Name()})
	if err != nil {
		tb.Fatal(err)
	}
	if r.Code != 0 {
		tb.Fatal(&ExitError{args, r})
	}
}
