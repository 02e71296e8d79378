package conventions

import (
	"go/ast"
	"strings"
	"testing"
)

// printers may use the process's standard output. All other packages write to a writer
// that the caller passes. Package testenv redirects it.
var printers = []string{".", "ibkit-cuda", "cmd", "test/...", "packaging/...", "internal/testenv"}

func TestPrinting(t *testing.T) {
	for _, file := range sources(t) {
		if matchAny(printers, file.dir) {
			continue
		}
		ast.Inspect(file.parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := s.X.(*ast.Ident)
			if ok && (x.Name == "fmt" && strings.HasPrefix(s.Sel.Name, "Print") || x.Name == "os" && s.Sel.Name == "Stdout") {
				t.Errorf("%v: %s uses %s.%s", positions.Position(s.Pos()), file.dir, x.Name, s.Sel.Name)
			}
			return true
		})
	}
}
