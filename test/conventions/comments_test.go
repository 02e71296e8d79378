package conventions

import (
	"go/ast"
	"strings"
	"testing"
	"unicode"
)

// TestComments checks that a function comment does not begin with another function's name,
// which it had before it was renamed.
func TestComments(t *testing.T) {
	for _, file := range sources(t) {
		for _, d := range file.parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			words := strings.Fields(f.Doc.Text())
			if len(words) > 0 && unicode.IsLower(rune(words[0][0])) && strings.TrimRight(words[0], ",") != f.Name.Name {
				t.Errorf("%v: got comment %q, want one that begins with %s", positions.Position(f.Pos()), strings.Join(words[:min(len(words), 4)], " "), f.Name.Name)
			}
		}
	}
}
