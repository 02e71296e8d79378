package conventions

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// realTimeCases is the text of a test, in which each comment "real" marks a line that
// uses real time.
const realTimeCases = `package cases

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

type options struct{ Timeout time.Duration }

func run(wait time.Duration) {}

func TestReal(t *testing.T) {
	time.Sleep(1) // real
	_ = options{Timeout: time.Second} // real
	_ = options{time.Second} // real
	_ = options{Timeout: time.Minute}
	var o options
	o.Timeout = time.Second // real
	run(50_000_000) // real
	run(time.Hour)
	_, _ = context.WithTimeout(t.Context(), time.Hour) // real
	var c net.Conn
	_ = c.SetDeadline(time.Now().Add(time.Second)) // real
	_ = c.LocalAddr()
	both()
	t.Run("case", func(t *testing.T) { time.Sleep(1) }) // real
	for _, test := range []struct {
		delay  time.Duration
		Timeout time.Duration
		run    func()
		inside func()
	}{
		{time.Second, time.Second, func() { time.Sleep(2) }, func() { time.Sleep(3) }}, // real
	} {
		test.run()
		run(test.Timeout)
		synctest.Test(t, func(t *testing.T) { test.inside() })
	}
}

func both() { time.Sleep(1) } // real

func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(1)
		run(1)
		both()
		inside()
		var w waiter = sleeper{}
		w.wait()
	})
	synctest.Test(t, whole)
	inBubble(t, options{Timeout: 1}, func() { time.Sleep(1) })
	f := func() { time.Sleep(1) }
	inBubble(t, options{}, f)
	synctest.Test(t, func(t *testing.T) { f() })
}

func inside() { time.Sleep(1) }

func whole(t *testing.T) { time.Sleep(1) }

func inBubble(t *testing.T, o options, f func()) {
	synctest.Test(t, func(t *testing.T) { f() })
}

type waiter interface{ wait() }

type sleeper struct{}

func (sleeper) wait() { time.Sleep(1) }

func BenchmarkRun(b *testing.B) { time.Sleep(1) }
`

// TestFindRealTime checks which [realTimeCases] lines are found.
func TestFindRealTime(t *testing.T) {
	c := newTestCode(positions)
	file, err := parser.ParseFile(positions, "cases_test.go", realTimeCases, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	c.files = []*ast.File{file}
	c.check(map[string][]*ast.File{"cases": c.files}, importer.ForCompiler(positions, "gc", openExports(t)))
	var got, want []int
	for _, s := range findRealTime(c) {
		got = append(got, s.position.Line)
	}
	for i, line := range strings.Split(realTimeCases, "\n") {
		if regexp.MustCompile(`// real$`).MatchString(line) {
			want = append(want, i+1)
		}
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("got lines %v, want %v", got, want)
	}
}
