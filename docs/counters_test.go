package docs

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestCounters runs the command in the error counter runbook, and compares the output with
// the page, without numbers and blanks: rates vary between runs.
func TestCounters(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("counters.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```sh\n +(ibkit counters [^\n]*)\n +```\n\n +```text\n(.*?)```").FindStringSubmatch(string(page))
	if shown == nil {
		t.Fatal("counters.md has no command followed by its output")
	}
	shell := exec.Command("sh", "-c", shown[1])
	shell.Env = append(os.Environ(), "PATH="+binDir(t)+":"+os.Getenv("PATH"))
	out, _ := shell.Output() // exit code 3: findings
	number := regexp.MustCompile(`\b[0-9.]+(e-?[0-9]+)?s?\b`)
	plain := func(s string) string { return strings.Join(strings.Fields(number.ReplaceAllString(s, "")), " ") }
	if got, want := plain(string(out)), plain(shown[2]); got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", shown[1], out, shown[2])
	}
}
