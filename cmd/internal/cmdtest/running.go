package cmdtest

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/testenv"
)

// A Watched buffer may be read while a command writes to it.
type Watched struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *Watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *Watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// Await waits until a text was written.
func (w *Watched) Await(t *testing.T, text string) {
	t.Helper()
	w.AwaitMore(t, text, 0)
}

// AwaitMore waits until a text was written more than n times.
func (w *Watched) AwaitMore(t *testing.T, text string, n int) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("output: %s", w)
		}
	}()
	testenv.Await(t, strconv.Quote(text)+" in the output", func() bool { return strings.Count(w.String(), text) > n })
}

// A Running command is one that goes on until it is interrupted.
type Running struct {
	Out, ErrOut *Watched
	stop        context.CancelFunc
	code        chan int
}

// Start runs a command line that goes on until it is interrupted.
func (p Program) Start(env map[string]string, args ...string) *Running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Running{Out: new(Watched), ErrOut: new(Watched), stop: cancel, code: make(chan int, 1)}
	e := &cmdutil.Env{Out: r.Out, ErrOut: r.ErrOut, Getenv: func(k string) string { return env[k] }}
	go func() { r.code <- p(ctx, e, args) }()
	return r
}

// End interrupts the command and returns its exit code.
func (r *Running) End() int {
	r.stop()
	return <-r.code
}
