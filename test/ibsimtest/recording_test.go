package ibsimtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// resultsOf returns the results of a recording without their order of use.
func resultsOf(r *recording) (all []recorded) {
	for _, result := range r.results {
		copied := *result
		copied.used = false
		all = append(all, copied)
	}
	return all
}

// TestRecording_Save reads a recording that was written.
func TestRecording_Save(t *testing.T) {
	long := strings.Repeat("a line\n", 20)
	written := &recording{
		test: "TestX", path: filepath.Join(t.TempDir(), "dir", "x.txtar"), fabric: "demo", packages: map[string]string{"infiniband-diags": "44.0-2"}, uses: map[string]int{},
	}
	for _, r := range []*recorded{
		{line: "$ saquery", result: Result{Stdout: long}},
		{test: "no_newline", line: "n$ smpquery", result: Result{Stdout: "a", Stderr: "-- b --\n", Code: 255}},
		{test: "no_newline", line: "n$ smpquery -x", result: Result{Stdout: "a\x00\xffb\n\n"}},
		{test: "again", line: "n$ saquery", result: Result{Stdout: long}},
		{test: "other", line: "$ saquery", result: Result{Stdout: "changed\n"}},
		{test: "other", line: "n$ saquery", result: Result{Stdout: long}},
		{line: "$ saquery -h", result: Result{Stderr: long}},
		{line: "$ saquery --help", result: Result{Stderr: long}},
		{test: "file", line: "n$ ibnetdiscover {tmp1}/f", files: map[string]string{"{tmp1}/f": "text\n", "{tmp1}/g": "no newline"}},
	} {
		written.add(r)
	}
	if err := written.save(); err != nil {
		t.Fatal(err)
	}
	read := &recording{test: "TestX", path: written.path, fabric: "demo", packages: map[string]string{}, uses: map[string]int{}}
	if err := read.load(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(resultsOf(written), resultsOf(read), cmp.AllowUnexported(recorded{})); d != "" {
		t.Errorf("written (-), read (+)\n%s", d)
	}
	if d := cmp.Diff(written.packages, read.packages); d != "" {
		t.Errorf("packages: written (-), read (+)\n%s", d)
	}
	text, err := os.ReadFile(written.path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), long); n != 3 {
		t.Errorf("got %d copies of an output, want 3: one for each stream, and one because the line printed something else since\n%s", n, text)
	}
}

// TestRecording_Load checks errors about recordings.
func TestRecording_Load(t *testing.T) {
	for text, want := range map[string]string{
		"fabric: other\n":                         `got the fabric "other", want "demo"`,
		"-- stderr --\n":                          `section "stderr": want a command line before it`,
		"-- $ x --\n-- exit code x --\n":          `section "exit code x": `,
		"-- $ x --\n-- stdout of $ y --\n":        `section "stdout of $ y": no such line before it`,
		"-- $ x --\n-- nonsense --\n":             `section "nonsense": unknown`,
		"-- $ x --\n-- quoted stderr --\nplain\n": `section "quoted stderr": got "plain\n", want a quoted string`,
	} {
		t.Run(want, func(t *testing.T) {
			r := &recording{test: "TestX", path: filepath.Join(t.TempDir(), "x"), fabric: "demo", packages: map[string]string{}}
			if err := os.WriteFile(r.path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := r.load(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want %q", err, want)
			}
		})
	}
}

// TestRecording_Next returns results for the same line in their order, for each subtest.
func TestRecording_Next(t *testing.T) {
	r := &recording{uses: map[string]int{}, results: []*recorded{
		{test: "a", line: "$ x", result: Result{Code: 1}}, {test: "b", line: "$ x", result: Result{Code: 2}}, {test: "a", line: "$ x", result: Result{Code: 3}},
	}}
	var got []int
	for _, test := range []string{"a", "a", "b"} {
		got = append(got, r.next(test, "$ x").result.Code)
	}
	if d := cmp.Diff([]int{1, 3, 2}, got); d != "" || r.next("a", "$ x") != nil || r.next("a", "$ y") != nil {
		t.Errorf("got exit codes %v, want 1, 3, 2 and no more", got)
	}
}

// TestSteady replaces what differs between two runs.
func TestSteady(t *testing.T) {
	for text, want := range map[string]string{
		"ibwarn: [4711] mad_rpc: failed\n":                "ibwarn: [1] mad_rpc: failed\n",
		"# Topology file: generated on Fri Nov 27 2026\n": "# Topology file: generated on Thu Jan  1 00:00:00 1970\n",
		"activity count 77 priority":                      "activity count 1 priority",
		"Lid 4: time 0.123 ms":                            "Lid 4: time 1.000 ms",
		"node 0x55a1f1653320->0x7fff77dd00b0":             "node 0x55->0x55",
		"port 0x0002c90000100e01 stays":                   "port 0x0002c90000100e01 stays",
		"lid [12] stays":                                  "lid [12] stays",
	} {
		if got := steady(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestTemporary replaces test directories with words, and words with directories.
func TestTemporary(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	words := temporaryWords([]string{"-l", dir + "/x", other, dir})
	const hidden = "{tmp1}/x {tmp2} /tmp"
	if got := words.hide(dir + "/x " + other + " /tmp"); got != hidden {
		t.Errorf("got %q, want %q", got, hidden)
	}
	if got, want := words.show(hidden), dir+"/x "+other+" /tmp"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
