package conventions

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A source is a Go file and the directory of its package, relative to the module.
type source struct{ path, dir string }

// sources returns the Go files of the module but tests.
func sources(t *testing.T) []source {
	t.Helper()
	return findSources(t, func(name string) bool { return !isTest(name) })
}

// tests returns the Go files of tests.
func tests(t *testing.T) []source {
	t.Helper()
	return findSources(t, isTest)
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

func findSources(t *testing.T, wanted func(name string) bool) []source {
	t.Helper()
	var found []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch {
			case d.Name() == "testdata", d.Name() == "build", d.Name() == "tools", path != root && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || !wanted(d.Name()) {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		found = append(found, source{path, filepath.ToSlash(dir)})
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("find sources: %v", err)
	}
	return found
}
