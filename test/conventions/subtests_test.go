package conventions

import (
	"go/ast"
	"strings"
	"testing"
)

// minCases is the number of cases from which a table needs subtests.
const minCases = 4

// TestSubtests checks that table cases run as subtests, so that a case can be run alone
// and all failures appear. A loop over steps, each of which begins with the result of the
// previous step, has a variable with the name step.
func TestSubtests(t *testing.T) {
	for _, file := range tests(t) {
		for _, d := range file.parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			for _, loop := range loopsWithoutSubtests(f) {
				t.Errorf("%v: %s has cases that are not subtests", positions.Position(loop.Pos()), f.Name.Name)
			}
		}
	}
}

// loopsWithoutSubtests returns the loops over tables in a test that report failures in
// the test itself.
func loopsWithoutSubtests(f *ast.FuncDecl) (found []*ast.RangeStmt) {
	tables := map[string]bool{} // variables
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, right := range n.Rhs {
				if name, ok := n.Lhs[i].(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) {
					tables[name.Name] = isTable(right)
				}
			}
		case *ast.RangeStmt:
			name, isName := n.X.(*ast.Ident)
			value, _ := n.Value.(*ast.Ident)
			if !isTable(n.X) && !(isName && tables[name.Name]) || value != nil && value.Name == "step" {
				return true
			}
			if calls(n.Body, "Error", "Errorf", "Fatal", "Fatalf") && !calls(n.Body, "Run") {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

// isTable reports whether an expression is a list of structures or a map to them, with the
// type written out and enough elements for a table.
func isTable(x ast.Expr) bool {
	list, ok := x.(*ast.CompositeLit)
	if !ok || len(list.Elts) < minCases {
		return false
	}
	var element ast.Expr
	switch t := list.Type.(type) {
	case *ast.ArrayType:
		element = t.Elt
	case *ast.MapType:
		element = t.Value
	}
	_, ok = element.(*ast.StructType)
	return ok
}

// calls reports whether statements call a method on t with one of the names.
func calls(body *ast.BlockStmt, names ...string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "t" {
					for _, name := range names {
						found = found || s.Sel.Name == name
					}
				}
			}
		}
		return !found
	})
	return found
}
