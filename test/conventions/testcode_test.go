package conventions

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// testCode is the test code with types: test files without build tags, and packages that
// only tests import.
type testCode struct {
	positions *token.FileSet
	info      *types.Info
	files     []*ast.File
}

// newTestCode returns code without files.
func newTestCode(positions *token.FileSet) *testCode {
	return &testCode{positions: positions, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
	}}
}

// findTestCode checks the types in all test code.
func findTestCode(t *testing.T) *testCode {
	t.Helper()
	c := newTestCode(positions)
	packages := map[string][]*ast.File{} // by import path, with "_test" for an external test
	for _, file := range slices.Concat(sources(t), tests(t)) {
		if matched, err := build.Default.MatchFile(filepath.Split(file.path)); err != nil || !matched {
			continue
		}
		parsed, path := file.parsed, module+"/"+file.dir
		if strings.HasSuffix(parsed.Name.Name, "_test") {
			path += "_test"
		}
		if isTest(file.path) || matchAny(testPackages, file.dir) {
			c.files = append(c.files, parsed)
		} else {
			parsed = withoutBodies(parsed)
		}
		packages[path] = append(packages[path], parsed)
	}
	c.check(packages, importer.ForCompiler(positions, "gc", openExports(t)))
	return c
}

// testPackages are the packages that only tests without build tags import.
var testPackages = []string{"internal/testenv", "cmd/internal/cmdtest", "umad/umadtest", "test/netgen"}

// openExports returns a function that opens a package's export data.
func openExports(t *testing.T) importer.Lookup {
	files := exportFiles(t)
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}

// withoutBodies returns a file with function declarations only, for faster type checks.
func withoutBodies(f *ast.File) *ast.File {
	short := *f
	short.Decls = slices.Clone(f.Decls)
	for i, d := range short.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			head := *d
			head.Body = nil
			short.Decls[i] = &head
		}
	}
	return &short
}

// check finds the types. An external test may have a package twice, from source and as an
// import of an import: the errors about that are ignored, as the compiler finds all others.
func (c *testCode) check(packages map[string][]*ast.File, compiled types.Importer) {
	for path, files := range packages {
		if strings.HasSuffix(path, "_test") && packages[strings.TrimSuffix(path, "_test")] != nil {
			continue
		}
		config := types.Config{Importer: compiled, Error: func(error) {}}
		tested, _ := config.Check(path, c.positions, files, c.info)
		config.Importer = withPackage{compiled, tested}
		_, _ = config.Check(path+"_test", c.positions, packages[path+"_test"], c.info)
	}
}

// withPackage is an importer that returns the tested package with its test declarations.
type withPackage struct {
	types.Importer
	tested *types.Package
}

func (w withPackage) Import(path string) (*types.Package, error) {
	if path == w.tested.Path() {
		return w.tested, nil
	}
	return w.Importer.Import(path)
}

// callee returns the function or method that a call names, or nil.
func (c *testCode) callee(n *ast.CallExpr) *types.Func {
	fun := ast.Unparen(n.Fun)
	switch x := fun.(type) { // with type arguments
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	var f *types.Func
	switch x := fun.(type) {
	case *ast.Ident:
		f, _ = c.info.Uses[x].(*types.Func)
	case *ast.SelectorExpr:
		f, _ = c.info.Uses[x.Sel].(*types.Func)
	}
	return f
}

// typeOf returns an expression's type without its name, or nil.
func (c *testCode) typeOf(x ast.Expr) types.Type {
	if t := c.info.Types[x].Type; t != nil {
		if p, ok := t.Underlying().(*types.Pointer); ok { // element &T{} without &T
			t = p.Elem()
		}
		return t.Underlying()
	}
	return nil
}
