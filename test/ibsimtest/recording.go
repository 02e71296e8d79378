package ibsimtest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A recording has the C tool results for a single server, in the order of the command
// lines within each subtest.
type recording struct {
	test   string // name of the test that started the server
	path   string
	fabric string // server arguments

	mu       sync.Mutex
	packages map[string]string // Debian package versions
	results  []*recorded
	uses     map[string]int // result uses by key
}

// A recorded is the result of a single command line.
type recorded struct {
	test   string // subtest name, relative to the test that the recording is for
	line   string // node and command line
	result Result
	files  map[string]string // that the tool wrote, by path
	used   bool
}

// key identifies a result's command line. Results with equal keys have an order.
func (r *recorded) key() string { return r.test + "\n" + r.line }

// servers counts each test's servers that have not ended, and has the recording paths for
// all servers so far.
var servers = struct {
	sync.Mutex
	of    map[string]int
	paths []string
}{of: map[string]int{}}

// newRecording loads the recording for a test's next server. It is complete when
// the test ends.
func newRecording(tb testing.TB, fabric string) *recording {
	tb.Helper()
	r := &recording{test: tb.Name(), fabric: fabric, uses: map[string]int{}, packages: map[string]string{}}
	servers.Lock()
	servers.of[r.test]++
	r.path = recordingPath(r.test, servers.of[r.test])
	servers.paths = append(servers.paths, r.path)
	servers.Unlock()
	if form != Renew {
		if err := r.load(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			tb.Fatal(err)
		}
	}
	tb.Cleanup(func() {
		servers.Lock()
		servers.of[r.test]--
		servers.Unlock()
		r.finish(tb)
	})
	return r
}

// recordings is the directory with a package's recordings.
const recordings = "testdata/recorded"

// unportable matches the characters in a test name that a file name cannot have.
var unportable = regexp.MustCompile(`[^\w./,=+-]`)

// recordingPath returns the path of the recording of a server: the test's first server, or
// a later server.
func recordingPath(test string, number int) string {
	name := unportable.ReplaceAllString(test, "_")
	if number > 1 {
		name += fmt.Sprintf("-%d", number)
	}
	return filepath.Join(recordings, filepath.FromSlash(name)+".txtar")
}

// renewal is the command that writes the recording.
func (r *recording) renewal() string {
	test, _, _ := strings.Cut(r.test, "/")
	return fmt.Sprintf("go test -tags oracle ./test/oracle -run '^%s$' -update", test)
}

// next returns the recorded result of a command line and marks it as used, or nil if it
// is not recorded.
func (r *recording) next(test, line string) *recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	want := recorded{test: test, line: line}
	key, n := want.key(), 0
	for _, found := range r.results {
		if found.key() != key {
			continue
		}
		if n == r.uses[key] {
			r.uses[key]++
			found.used = true
			return found
		}
		n++
	}
	return nil
}

// add appends a result.
func (r *recording) add(new *recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	new.used = true
	r.results = append(r.results, new)
}

// run returns a C tool result for a test: from the recording, or from live.
func (r *recording) run(tb testing.TB, host, tool string, args []string, live func() Result) Result {
	tb.Helper()
	words := temporaryWords(args)
	now := &recorded{
		test: strings.TrimPrefix(strings.TrimPrefix(tb.Name(), r.test), "/"),
		line: host + "$ " + words.hide(strings.Join(quoteArgs(append([]string{tool}, args...)), " ")),
	}
	if form == Recorded {
		found := r.next(now.test, now.line)
		if found == nil {
			tb.Fatalf("find %q in %s: not recorded (renew with: %s)", now.line, r.path, r.renewal())
		}
		return found.replay(tb, words)
	}
	written := words.watch(args)
	result := live()
	now.result = Result{Stdout: steady(words.hide(result.Stdout)), Stderr: steady(words.hide(result.Stderr)), Code: result.Code}
	now.files = written(tb)
	r.keep(tb, tool, now)
	return result
}

// keep adds a live result to the recording, or compares it with the recorded result.
func (r *recording) keep(tb testing.TB, tool string, now *recorded) {
	tb.Helper()
	pkg, version, err := packageOf(tool)
	if err != nil {
		tb.Fatal(err)
	}
	if form == Renew {
		r.mu.Lock()
		r.packages[pkg] = version
		r.mu.Unlock()
		r.add(now)
		return
	}
	found := r.next(now.test, now.line)
	if known := r.packages[pkg]; known != "" && known != version {
		return // another release may print something else
	}
	if found == nil {
		tb.Errorf("find %q in %s: not recorded (renew with: %s)", now.line, r.path, r.renewal())
		return
	}
	if d := cmp.Diff(found.result, now.result); d != "" {
		tb.Errorf("%s: recorded (-), live (+) (renew with: %s)\n%s", now.line, r.renewal(), d)
	}
	if d := cmp.Diff(found.files, now.files); d != "" {
		tb.Errorf("%s: recorded files (-), live (+) (renew with: %s)\n%s", now.line, r.renewal(), d)
	}
}

// replay writes the files that the tool wrote, and returns the tool's result.
func (r *recorded) replay(tb testing.TB, words temporary) Result {
	tb.Helper()
	for path, text := range r.files {
		if err := os.WriteFile(words.show(path), []byte(words.show(text)), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	result := r.result
	result.Stdout, result.Stderr = words.show(result.Stdout), words.show(result.Stderr)
	return result
}

// finish writes the recording, or reports results that a complete test did not use.
func (r *recording) finish(tb testing.TB) {
	switch {
	case tb.Failed() || tb.Skipped():
	case form == Renew:
		if partial() {
			tb.Errorf("write %s: -run selects subtests, want whole tests", r.path)
		} else if err := r.save(); err != nil {
			tb.Error(err)
		}
	case !partial():
		for _, result := range r.results {
			if !result.used {
				tb.Errorf("%s: unused result of %q in %q (renew with: %s)", r.path, result.line, result.test, r.renewal())
			}
		}
	}
}

// partial reports whether flags select subtests.
func partial() bool {
	return strings.Contains(testFlag("test.run"), "/") || testFlag("test.skip") != ""
}

func testFlag(name string) string { return flag.Lookup(name).Value.String() }

// UnusedRecordings returns the recordings that no server in this process had: recordings
// for tests that do not exist. The list is empty if flags select tests.
func UnusedRecordings() (unused []string, err error) {
	if form == Alone || testFlag("test.run") != "" || partial() || testFlag("test.list") != "" {
		return nil, nil
	}
	servers.Lock()
	defer servers.Unlock()
	err = filepath.WalkDir(recordings, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !slices.Contains(servers.paths, path) {
			unused = append(unused, path)
		}
		return err
	})
	return unused, err
}
