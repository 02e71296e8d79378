package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// complete is a bash script that completes a command line as bash does at a Tab. It prints
// a candidate per line, without descriptions.
const complete = `
source <(ibkit completion bash) || exit
compopt() { :; } # works in a completion only
COMP_LINE=$1 COMP_POINT=${#1}
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_TYPE=9 COLUMNS=200
__start_ibkit
for reply in "${COMPREPLY[@]}"; do echo "${reply%% *}"; done
`

// TestBashCompletion completes command lines in a bash without the package
// bash-completion. words are as in COMP_WORDS: bash splits a line at = and :.
func TestBashCompletion(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "ibkit")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line  string
		words []string
		want  string // candidate
		only  bool
	}{
		{"ibkit linki", []string{"ibkit", "linki"}, "linkinfo", true},
		{"ibkit linkinfo --all-n", []string{"ibkit", "linkinfo", "--all-n"}, "--all-nodes", true},
		{"ibkit linkinfo --sort ", []string{"ibkit", "linkinfo", "--sort", ""}, "speed", false},
		{"ibkit linkinfo --sort=sp", []string{"ibkit", "linkinfo", "--sort", "=", "sp"}, "speed", true},
		{"ibkit linkinfo --sort=", []string{"ibkit", "linkinfo", "--sort", "="}, "speed", false},
		{"ibkit  linkinfo  --sim dem", []string{"ibkit", "linkinfo", "--sim", "dem"}, "demo", true},
		{"ibkit linkinfo --sim=demo --spee", []string{"ibkit", "linkinfo", "--sim", "=", "demo", "--spee"}, "--speed", true},
		{"ibkit doctor --root /us", []string{"ibkit", "doctor", "--root", "/us"}, "/usr", true},
		{"ibkit completion b", []string{"ibkit", "completion", "b"}, "bash", true},
	} {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			c := exec.Command("bash", append([]string{"--norc", "--noprofile", "-c", complete, "bash", test.line}, test.words...)...)
			c.Env = append(os.Environ(), "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			got := strings.Fields(string(out))
			if !slices.Contains(got, test.want) || test.only && len(got) != 1 {
				t.Errorf("got candidates %q, want %s (alone: %t)", got, test.want, test.only)
			}
		})
	}
}
