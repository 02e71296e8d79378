package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
)

func TestMain(m *testing.M) {
	if code, ran := Supervise(os.Args); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// start starts a runner and stores the failures.
func start(ctx context.Context, t *testing.T, o Options) (r *Runner, out *bytes.Buffer, failures *[]string) {
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
	r, err := New(ctx, o)
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
		{"a child that ends later", []string{"sh", "-c", "(sleep 0.05; echo done) & exit 0"}, 0, strings.Repeat("done\n", 3), nil},
		{"end by a signal", []string{"sh", "-c", "kill -9 $$"}, 0, "", slices.Repeat([]string{"run sh: signal: killed"}, 3)},
		{"timeout with a child", []string{"sh", "-c", "sleep 600 & wait"}, testenv.Brief(), "", slices.Repeat([]string{"run sh: killed after " + testenv.Brief().String()}, 3)},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, out, failures := start(t.Context(), t, Options{Command: test.command, Timeout: test.timeout})
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
	r, _, _ := start(t.Context(), t, Options{Command: []string{"sh", "-c", script}, Jobs: 2, Queue: 3})
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

// A marker is an argument to sleep that only processes from a single test have.
func marker(t *testing.T) string {
	t.Helper()
	h := fnv.New32a()
	h.Write([]byte(t.Name()))
	return fmt.Sprintf("600.%d%d", os.Getpid(), h.Sum32())
}

// marked returns the processes with a marker.
func marked(t *testing.T, marker string) (found []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), marker) {
			found = append(found, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}

// No process started by a command outlives it: processes in their own sessions, orphans,
// and processes that start while the command ends.
func TestRunner_Descendants(t *testing.T) {
	for _, test := range []struct{ name, script string }{
		{"session", "setsid sleep $0 & sleep $0"},
		{"session of an orphan", "(setsid sh -c 'sleep $0 & sleep $0' $0 &); sleep $0"},
		{"daemon", "setsid sh -c 'sleep $0 & exit' $0 >/dev/null 2>&1 &"},
		{"storm", "while :; do setsid sh -c 'sleep $0 & sleep $0' $0 & sleep 0.01; done"},
		{"ignored signals", "trap '' HUP INT TERM; setsid sleep $0 & wait"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			mark := marker(t)
			timeout := 15 * testenv.Brief() // for all processes to start, but none needs to
			r, _, failures := start(t.Context(), t, Options{Command: []string{"sh", "-c", test.script, mark}, Timeout: timeout})
			r.Submit(nil)
			r.Close(t.Context())
			// The command itself may have ended before.
			if got := strings.Join(*failures, "\n"); !strings.HasPrefix(got, "run sh: killed ") || !strings.HasSuffix(got, "after "+timeout.String()) {
				t.Errorf("got failures %q, want run sh: killed after %v", got, timeout)
			}
			if left := marked(t, mark); len(left) > 0 {
				t.Errorf("got %d processes after the end, want none: %q", len(left), left)
			}
		})
	}
}

// The end kills running commands, and drops waiting and later events.
func TestRunner_End(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	mark := marker(t)
	r, _, failures := start(ctx, t, Options{Command: []string{"sh", "-c", "setsid sleep $0 & wait", mark}})
	for range 3 {
		r.Submit(nil)
	}
	for deadline := time.Now().Add(time.Minute); !slices.ContainsFunc(marked(t, mark), func(s string) bool { return strings.HasPrefix(s, "sleep ") }); {
		if time.Now().After(deadline) {
			t.Fatal("the command does not run")
		}
	}
	end(errors.New("the test ended"))
	r.Submit(nil)
	if got, want := r.Close(t.Context()), (Stats{1, 1, 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if want := []string{"run sh: killed: the test ended"}; !slices.Equal(*failures, want) {
		t.Errorf("got %q, want %q", *failures, want)
	}
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("got %d processes after the end, want none: %q", len(left), left)
	}
}

// A program that cannot start makes the event fail.
func TestRunner_Start(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/nonexistent/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, _, failures := start(t.Context(), t, Options{Command: []string{path}})
	r.Submit(nil)
	r.Close(t.Context())
	if want := []string{"run " + path + ": start: no such file or directory"}; !slices.Equal(*failures, want) {
		t.Errorf("got %q, want %q", *failures, want)
	}
}

// An interrupt drops the events that wait.
func TestRunner_Interrupt(t *testing.T) {
	r, _, _ := start(t.Context(), t, Options{Command: []string{"sleep", "600"}, Timeout: testenv.Brief()})
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
	if _, err := New(t.Context(), Options{Command: []string{"/nonexistent/program"}}); err == nil || !strings.HasPrefix(err.Error(), "find program: ") {
		t.Errorf("got error %v", err)
	}
}
