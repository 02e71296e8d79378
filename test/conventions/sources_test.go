package conventions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A source is a Go file and its package directory, relative to the module.
type source struct {
	path, dir string
	parsed    *ast.File
}

// positions has the code positions for all sources.
var positions = token.NewFileSet()

// sources returns the module's Go files except tests.
func sources(t *testing.T) []source {
	t.Helper()
	return findSources(t, func(s source) bool { return isTest(s.path) })
}

// tests returns the module's Go test files.
func tests(t *testing.T) []source {
	t.Helper()
	return findSources(t, func(s source) bool { return !isTest(s.path) })
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// findSources returns the module's files except files to omit.
func findSources(t *testing.T, omit func(source) bool) []source {
	t.Helper()
	all, err := parseSources()
	if err != nil {
		t.Fatalf("find sources: %v", err)
	}
	return slices.DeleteFunc(slices.Clone(all), omit)
}

// parseSources parses the module's Go files.
var parseSources = sync.OnceValues(func() (found []source, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch {
			case d.Name() == "testdata", d.Name() == "build", d.Name() == "tools", path != root && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); path != root && err == nil { // another module
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(positions, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		found = append(found, source{path, filepath.ToSlash(dir), parsed})
		return err
	})
	return found, err
})
