package conventions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// printers may use the standard output of the process. All other packages write to
// a writer that the caller passes. Package testenv redirects it.
var printers = []string{".", "cmd", "test/...", "packaging/...", "internal/testenv"}

func TestPrinting(t *testing.T) {
	for _, file := range sources(t) {
		if matchAny(printers, file.dir) {
			continue
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, file.path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := s.X.(*ast.Ident)
			if ok && (x.Name == "fmt" && strings.HasPrefix(s.Sel.Name, "Print") || x.Name == "os" && s.Sel.Name == "Stdout") {
				t.Errorf("%v: %s uses %s.%s", files.Position(s.Pos()), file.dir, x.Name, s.Sel.Name)
			}
			return true
		})
	}
}
