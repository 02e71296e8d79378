package conventions

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// bubble is the function that runs its argument in simulated time.
const bubble = "testing/synctest.Test"

// realTime is the caller name for tests and for initial values of variables.
const realTime = ""

// A callGraph finds the test functions that run in real time: tests, and functions that
// they call outside of bubbles. It knows functions by name, so it assumes that a function
// is in real time if any caller is. A method without a call by name is called through an
// interface, by the functions that name the receiver type. A function literal with a
// variable, field or function parameter runs in the functions that use it, and never in
// real time if it is written in a bubble.
type callGraph struct {
	*testCode
	callers   map[string][]string // outside of bubbles
	used      map[string]bool     // in bubbles or not
	methods   map[string]string   // types by methods
	literals  map[string]literal
	values    map[types.Object]string // names of parameters, variables and fields with functions
	bubbles   map[string]bool         // functions that begin a bubble, for which their arguments are
	scenarios map[string]bool         // types with a method that begins a bubble, for which their fields are
	visit     func(n ast.Node, function string)
}

// A literal is a function literal, or a table element: the function that contains it, and
// the name of the value that runs or uses it.
type literal struct{ in, value string }

// newCallGraph walks all functions, and calls visit for their code outside of bubbles.
func newCallGraph(c *testCode, visit func(n ast.Node, function string)) *callGraph {
	g := &callGraph{
		testCode: c, callers: map[string][]string{}, used: map[string]bool{}, methods: map[string]string{},
		literals: map[string]literal{}, values: map[types.Object]string{}, bubbles: map[string]bool{}, scenarios: map[string]bool{}, visit: visit,
	}
	g.each(func(file *ast.File, d ast.Decl) {
		if d, ok := d.(*ast.FuncDecl); ok {
			g.declare(file, d)
		}
	})
	g.each(func(_ *ast.File, d ast.Decl) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				g.walk(d.Body, fullName(g.info.Defs[d.Name]))
			}
		case *ast.GenDecl:
			g.walk(d, realTime)
		}
	})
	return g
}

func (g *callGraph) each(visit func(*ast.File, ast.Decl)) {
	for _, f := range g.files {
		for _, d := range f.Decls {
			visit(f, d)
		}
	}
}

// declare notes a function's parameters, a method's receiver type, and whether it is a test.
func (g *callGraph) declare(file *ast.File, d *ast.FuncDecl) {
	f, ok := g.info.Defs[d.Name].(*types.Func)
	if !ok {
		return
	}
	name := fullName(f)
	if isRun(file, d) {
		g.callers[name] = append(g.callers[name], realTime)
	}
	if d.Body != nil {
		ast.Inspect(d.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && g.callee(call) != nil && fullName(g.callee(call)) == bubble {
				g.bubbles[name] = true
			}
			return true
		})
	}
	signature := f.Signature()
	if r := signature.Recv(); r != nil && g.bubbles[name] {
		g.scenarios[typeName(r.Type())] = true
	}
	for i := range signature.Params().Len() {
		g.values[signature.Params().At(i)] = parameter(f, i)
		g.used[parameter(f, i)] = false
	}
	if r := signature.Recv(); r != nil {
		g.methods[name] = typeName(r.Type())
	}
}

// isRun reports whether go test runs a function. It compiles examples without output, and runs
// benchmarks on request.
func isRun(file *ast.File, d *ast.FuncDecl) bool {
	name := d.Name.Name
	if strings.HasPrefix(name, "Example") {
		return slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool {
			text := strings.ToLower(c.Text())
			return c.Pos() > d.Pos() && c.End() < d.End() && (strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:"))
		})
	}
	return d.Recv == nil && (name == "init" || strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz"))
}

// walk visits a function's code, and notes the names that it uses.
func (g *callGraph) walk(root ast.Node, function string) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n != nil && function != bubble {
			g.visit(n, function)
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			return g.walkCall(n, function)
		case *ast.AssignStmt:
			return g.walkAssignment(n, function)
		case *ast.CompositeLit:
			if function != bubble && g.scenarios[typeName(g.info.TypeOf(n))] {
				g.walk(n, bubble)
				return false
			}
			return g.walkFields(n, function)
		case *ast.Ident:
			g.use(g.info.Uses[n], function)
		}
		return true
	})
}

// walkCall walks a call with the functions among the arguments.
func (g *callGraph) walkCall(n *ast.CallExpr, function string) bool {
	callee := g.callee(n)
	if callee == nil {
		return true
	}
	if fullName(callee) == bubble {
		g.walk(n.Args[1], bubble)
		return false
	}
	g.walk(n.Fun, function)
	for i, argument := range n.Args {
		switch {
		case isLiteral(argument):
			g.walkValue(argument, parameter(callee, i), function)
		case g.bubbles[fullName(callee)]:
			g.walk(argument, bubble)
		default:
			g.walk(argument, function)
		}
	}
	return false
}

func (g *callGraph) walkAssignment(n *ast.AssignStmt, function string) bool {
	if len(n.Lhs) != len(n.Rhs) {
		return true
	}
	for i, left := range n.Lhs {
		if name, ok := left.(*ast.Ident); ok && g.info.Defs[name] != nil && isLiteral(n.Rhs[i]) {
			g.walkValue(n.Rhs[i], g.declareValue(g.info.Defs[name]), function)
			continue
		}
		g.walk(left, function)
		g.walk(n.Rhs[i], function)
	}
	return false
}

// walkFields walks a structure with the functions among the fields.
func (g *callGraph) walkFields(n *ast.CompositeLit, function string) bool {
	structure, ok := g.typeOf(n).(*types.Struct)
	if !ok {
		return true
	}
	for i, element := range n.Elts {
		var field types.Object
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			element = pair.Value
			if key, ok := pair.Key.(*ast.Ident); ok {
				field = g.info.Uses[key]
			}
		} else if i < structure.NumFields() {
			field = structure.Field(i)
		}
		if field == nil || !isLiteral(element) && !isTest(g.positions.Position(field.Pos()).Filename) {
			g.walk(element, function)
			continue
		}
		g.walkValue(element, g.declareValue(field), function)
	}
	return false
}

// declareValue names a variable or field that may have functions.
func (g *callGraph) declareValue(o types.Object) string {
	if g.values[o] == "" {
		g.values[o] = fmt.Sprint("value at ", g.positions.Position(o.Pos()))
		g.used[g.values[o]] = false
	}
	return g.values[o]
}

// walkValue walks an expression that is passed on as a value, and takes effect later.
func (g *callGraph) walkValue(x ast.Expr, value, function string) {
	if _, known := g.used[value]; !known || function == bubble {
		g.walk(x, function)
		return
	}
	name := fmt.Sprint("literal at ", g.positions.Position(x.Pos()))
	g.literals[name] = literal{function, value}
	if lit, ok := x.(*ast.FuncLit); ok {
		g.walk(lit.Body, name)
		return
	}
	g.walk(x, name)
}

func isLiteral(x ast.Expr) bool { _, ok := x.(*ast.FuncLit); return ok }

// use notes that a function uses an object.
func (g *callGraph) use(o types.Object, function string) {
	var name string
	switch o := o.(type) {
	case *types.Func:
		name = fullName(o)
	case *types.TypeName:
		name = typeName(o.Type())
	case *types.Var:
		name = g.values[o.Origin()]
		if name == "" && o.IsField() {
			name = g.declareValue(o.Origin())
		}
	}
	if name == "" {
		return
	}
	g.used[name] = true
	if function != bubble {
		g.callers[name] = append(g.callers[name], function)
	}
}

// inRealTime returns the functions that run in real time, each with a function that runs it.
func (g *callGraph) inRealTime() map[string]string {
	for method, of := range g.methods {
		if !g.used[method] {
			g.callers[method] = append(g.callers[method], g.callers[of]...)
		}
	}
	found := map[string]string{realTime: realTime}
	for n := 0; n != len(found); {
		n = len(found)
		for name, callers := range g.callers {
			for _, caller := range callers {
				if has(found, caller) && !has(found, name) {
					found[name] = caller
				}
			}
		}
		for name, l := range g.literals {
			// The code under test runs a value that no test uses.
			if has(found, l.in) && (!g.used[l.value] || has(found, l.value)) && !has(found, name) {
				found[name] = l.in
			}
		}
	}
	return found
}

func has(m map[string]string, key string) bool { _, ok := m[key]; return ok }

// fullName names a function with its package and receiver.
func fullName(o types.Object) string {
	f, ok := o.(*types.Func)
	if !ok {
		return realTime
	}
	return strings.ReplaceAll(f.Origin().FullName(), "*", "")
}

func typeName(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		t = named.Origin()
	}
	return "type " + t.String()
}

func parameter(f *types.Func, i int) string { return fmt.Sprintf("%s, parameter %d", fullName(f), i) }
