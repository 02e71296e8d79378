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
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
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
