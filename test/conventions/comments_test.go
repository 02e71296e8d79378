package conventions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"unicode"
)

// TestComments checks that the comment of a function does not begin with the name of
// another one, which it had before it was renamed.
func TestComments(t *testing.T) {
	files := token.NewFileSet()
	for _, file := range sources(t) {
		parsed, err := parser.ParseFile(files, file.path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			words := strings.Fields(f.Doc.Text())
			if len(words) > 0 && unicode.IsLower(rune(words[0][0])) && strings.TrimRight(words[0], ",") != f.Name.Name {
				t.Errorf("%v: got comment %q, want one that begins with %s", files.Position(f.Pos()), strings.Join(words[:min(len(words), 4)], " "), f.Name.Name)
			}
		}
	}
}
