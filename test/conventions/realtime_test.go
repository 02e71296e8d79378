package conventions

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"
)

// waitLimit is the shortest limit for a wait for another process or for the kernel.
const waitLimit = time.Minute

// waiters may wait in real time: package testenv for conditions in other processes and in
// the kernel, and the measurement loops and the self-test, which poll with the processor
// clock: time in a bubble stands still while a goroutine runs.
var waiters = []string{"internal/testenv", "internal/tool/perf/internal/loop", "internal/tool/perf/selftest"}

// clocks are functions that take real time, or compare with it, outside of a bubble.
var clocks = []string{
	"time.Sleep", "time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Tick", "time.Since", "time.Until",
	"context.WithTimeout", "context.WithTimeoutCause", "context.WithDeadline", "context.WithDeadlineCause",
}

// waits matches names of parameters and fields with durations for which the code
// under test waits.
var waits = regexp.MustCompile(`(?i)(timeouts?|wait|within|deadline|limit|lifetime|interval|window|rescan|idle|quiet)$`)

// A timeSite is a use of real time in a test function.
type timeSite struct {
	position       token.Position
	what, function string
	test           string // that runs the function
}

// TestRealTime checks that tests run in simulated time: a busy machine exceeds each real
// deadline, and others wait for each sleep. Tests run the code that waits in a
// testing/synctest bubble, or pass a clock. For a condition in another process or in the
// kernel they use package testenv. A duration may be passed to code outside of a bubble if
// it is at least [waitLimit]. The check finds only constants, and no constants in command
// lines, in input files or in the code under test.
func TestRealTime(t *testing.T) {
	for _, s := range findRealTime(findTestCode(t)) {
		t.Errorf("%v: got %s outside of a bubble in %s, want simulated time", s.position, s.what, s.test)
	}
}

// findRealTime returns the uses of real time.
func findRealTime(c *testCode) []timeSite {
	var all []timeSite
	g := newCallGraph(c, func(n ast.Node, function string) {
		if what := c.realTimeIn(n); what != "" {
			all = append(all, timeSite{position: c.positions.Position(n.Pos()), what: what, function: function})
		}
	})
	runs := g.inRealTime()
	var found []timeSite
	for _, s := range all {
		dir, _ := filepath.Rel(root, filepath.Dir(s.position.Filename))
		if !has(runs, s.function) || slices.Contains(waiters, dir) {
			continue
		}
		for s.test = s.function; runs[s.test] != realTime; {
			s.test = runs[s.test]
		}
		found = append(found, s)
	}
	return found
}

// realTimeIn describes the use of real time in a node, without its parts, or returns "".
func (c *testCode) realTimeIn(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		return c.realTimeOfCall(n)
	case *ast.CompositeLit:
		structure, ok := c.typeOf(n).(*types.Struct)
		if !ok {
			return ""
		}
		for i, element := range n.Elts {
			name := ""
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				name, element = types.ExprString(pair.Key), pair.Value
			} else if i < structure.NumFields() {
				name = structure.Field(i).Name()
			}
			if what := c.shortWait(name, element); what != "" {
				return what
			}
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if field, ok := left.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) {
				return c.shortWait(field.Sel.Name, n.Rhs[i])
			}
		}
	}
	return ""
}

// realTimeOfCall describes how a call uses real time.
func (c *testCode) realTimeOfCall(n *ast.CallExpr) string {
	f := c.callee(n)
	if f == nil {
		return ""
	}
	name := fullName(f)
	switch {
	case slices.Contains(clocks, name):
		return name
	case name == "(time.Time).Add" && c.isNow(n.Fun):
		return c.shortWait("deadline", n.Args[0])
	case slices.Contains([]string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"}, f.Name()) && !c.usesWaiter(n.Args[0]):
		return name
	}
	for i, argument := range n.Args {
		if params := f.Signature().Params(); i < params.Len() {
			if what := c.shortWait(params.At(i).Name(), argument); what != "" {
				return what
			}
		}
	}
	return ""
}

// usesWaiter reports whether an expression is a deadline from package testenv or
// the zero time.
func (c *testCode) usesWaiter(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		o := c.info.Uses[name]
		found = found || ok && o != nil && o.Pkg() != nil && o.Pkg().Path() == module+"/internal/testenv"
		return true
	})
	_, isZero := x.(*ast.CompositeLit)
	return found || isZero
}

// isNow reports whether a method's receiver is time.Now().
func (c *testCode) isNow(method ast.Expr) bool {
	selector, ok := method.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	now, ok := selector.X.(*ast.CallExpr)
	return ok && fullName(c.callee(now)) == "time.Now"
}

// shortWait describes a constant duration below [waitLimit] for a parameter or field with
// a wait name, or returns "".
func (c *testCode) shortWait(name string, x ast.Expr) string {
	value := c.info.Types[x]
	if value.Value == nil || value.Type == nil || value.Type.String() != "time.Duration" || !waits.MatchString(name) {
		return ""
	}
	n, ok := constant.Int64Val(value.Value)
	if d := time.Duration(n); ok && d > 0 && d < waitLimit {
		return fmt.Sprintf("%s of %v", name, d)
	}
	return ""
}
