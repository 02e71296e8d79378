package hook

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// start starts a runner whose failures are stored.
func start(t *testing.T, o Options) (r *Runner, out *bytes.Buffer, failures *[]string) {
	t.Helper()
	out, failures = &bytes.Buffer{}, &[]string{}
	if o.Jobs == 0 {
		o.Jobs = 1
	}
	if o.Queue == 0 {
		o.Queue = 16
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	o.Output = out
	o.Failed = func(err error) { *failures = append(*failures, err.Error()) }
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r, out, failures
}

func TestRunner(t *testing.T) {
	for _, test := range []struct {
		name     string
		command  []string
		timeout  time.Duration
		out      string
		failures []string
	}{
		{"input", []string{"cat"}, 0, "event 0\nevent 1\nevent 2\n", nil},
		{"no shell", []string{"printf", "%s.", "$HOME; `id`"}, 0, strings.Repeat("$HOME; `id`.", 3), nil},
		{"input is not read", []string{"true"}, 0, "", nil},
		{"failure", []string{"false"}, 0, "", slices.Repeat([]string{"run false: exit status 1"}, 3)},
		{"standard error", []string{"sh", "-c", "echo error >&2"}, 0, strings.Repeat("error\n", 3), nil},
		{"timeout with a child", []string{"sh", "-c", "sleep 600 & wait"}, 50 * time.Millisecond, "", slices.Repeat([]string{"run sh: killed after 50ms"}, 3)},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, out, failures := start(t, Options{Command: test.command, Timeout: test.timeout})
			for i := range 3 {
				if !r.Submit(fmt.Appendf(nil, "event %d\n", i)) {
					t.Error("an event was dropped")
				}
			}
			stats := r.Close(t.Context())
			if want := (Stats{3, len(test.failures), 0}); stats != want {
				t.Errorf("got %+v, want %+v", stats, want)
			}
			if out.String() != test.out || !slices.Equal(*failures, test.failures) {
				t.Errorf("got output %q and failures %q, want %q and %q", out, *failures, test.out, test.failures)
			}
		})
	}
}

// Events beyond the queue are dropped, and at most Jobs commands run at the same time.
func TestRunner_Bounds(t *testing.T) {
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	script := fmt.Sprintf("mktemp -p %s run.XXXXXX >/dev/null; while ! test -e %s; do sleep 0.01; done", dir, gate)
	r, _, _ := start(t, Options{Command: []string{"sh", "-c", script}, Jobs: 2, Queue: 3})
	running := func() int {
		files, err := filepath.Glob(filepath.Join(dir, "run.*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	r.Submit(nil)
	r.Submit(nil)
	for deadline := time.Now().Add(time.Minute); running() < 2; {
		if time.Now().After(deadline) {
			t.Fatal("the commands do not run")
		}
	}
	accepted := 0
	for range 10 {
		if r.Submit(nil) {
			accepted++
		}
	}
	if accepted != 3 || running() != 2 {
		t.Errorf("got %d events in the queue and %d commands, want 3 and 2", accepted, running())
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := r.Close(t.Context()), (Stats{5, 0, 7}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// An interrupt drops the events that wait.
func TestRunner_Interrupt(t *testing.T) {
	r, _, _ := start(t, Options{Command: []string{"sleep", "600"}, Timeout: 200 * time.Millisecond})
	for range 4 {
		r.Submit(nil)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s := r.Close(ctx); s.Ran > 2 || s.Ran+s.Dropped != 4 {
		t.Errorf("got %+v, want few commands and the rest dropped", s)
	}
}

func TestNew_Missing(t *testing.T) {
	if _, err := New(Options{Command: []string{"/nonexistent/program"}}); err == nil || !strings.HasPrefix(err.Error(), "find program: ") {
		t.Errorf("got error %v", err)
	}
}
