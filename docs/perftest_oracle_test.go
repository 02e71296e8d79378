//go:build oracle

package docs

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// perftestPrograms are the perftest programs that ibkit replaces. Programs four entries
// apart differ in both operation and measurement.
var perftestPrograms = []string{
	"ib_send_lat", "ib_write_lat", "ib_read_lat", "ib_atomic_lat", "ib_write_bw", "ib_read_bw", "ib_atomic_bw", "ib_send_bw",
}

// programSets are the program sets in the status column.
var programSets = map[string]func(name string) bool{
	"bandwidth tests": func(name string) bool { return strings.HasSuffix(name, "_bw") },
	"latency tests":   func(name string) bool { return strings.HasSuffix(name, "_lat") },
}

// member reports whether a set in the table has a program. "all but" and "but" exclude
// programs, a comma and "and" join sets, and "`ib_send_*`" is a pattern.
func member(t *testing.T, set, program string) bool {
	t.Helper()
	if with, without, ok := strings.Cut(set, " but "); ok {
		return (with == "all" || member(t, with, program)) && !member(t, without, program)
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(set, " and ", ", "), ", ") {
		in, ok := programSets[part]
		pattern := strings.Trim(part, "`")
		switch {
		case ok && in(program), pattern == program, strings.HasSuffix(pattern, "*") && strings.HasPrefix(program, strings.TrimSuffix(pattern, "*")):
			return true
		case !ok && !strings.HasPrefix(pattern, "ib_"):
			t.Fatalf("unknown set of programs %q", part)
		}
	}
	return false
}

// A perftestOption is a table row.
type perftestOption struct {
	names  []string
	newer  bool
	status []string // "done", "refused: latency tests" …
}

func perftestOptions(t *testing.T) []perftestOption {
	t.Helper()
	text, err := os.ReadFile("migration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| ib_send_lat … | ibkit perf | status |\n")
	var options []perftestOption
	for line := range strings.Lines(table) {
		columns := strings.Split(line, "|")
		if len(columns) < 4 {
			break
		}
		status, _, _ := strings.Cut(strings.TrimSpace(columns[3]), " — ")
		o := perftestOption{newer: strings.HasSuffix(status, " (newer)"), status: strings.Split(strings.TrimSuffix(status, " (newer)"), "; ")}
		for name := range flagsIn(columns[1]) {
			o.names = append(o.names, name)
		}
		if len(o.names) > 0 {
			options = append(options, o)
		}
	}
	return options
}

// in returns the option's status for a program, "" without a status.
func (o perftestOption) in(t *testing.T, program string) string {
	t.Helper()
	for _, s := range o.status {
		name, set, limited := strings.Cut(s, ": ")
		if !limited || member(t, set, program) {
			return name
		}
	}
	return ""
}

// listedOption matches the options in a line from perftest's help.
var listedOption = regexp.MustCompile(`^\s*(-[a-zA-Z])?(?:, )?(--[a-zA-Z][-\w]*)?`)

// TestPerftestOptions_Debian compares the option table in both directions with the help texts
// from Debian's programs, and with the options that the programs accept but do not list.
func TestPerftestOptions_Debian(t *testing.T) {
	options := perftestOptions(t)
	if len(options) < 100 {
		t.Fatalf("got %d options, want at least 100", len(options))
	}
	for _, program := range perftestPrograms {
		t.Run(program, func(t *testing.T) {
			path, err := exec.LookPath(program)
			if err != nil {
				t.Fatal(err)
			}
			help, _ := ibsimtest.Command(t, path, "--help").CombinedOutput() // exit code 1
			listed := map[string]bool{}
			for line := range strings.Lines(string(help)) {
				m := listedOption.FindStringSubmatch(line)
				for _, name := range m[1:] {
					if name != "" {
						listed[name] = true
					}
				}
			}
			if len(listed) < 60 {
				t.Fatalf("got %d options in\n%s", len(listed), help)
			}
			known := map[string]bool{}
			for _, o := range options {
				for _, name := range o.names {
					if o.in(t, program) == "" {
						continue
					}
					known[name] = true
					if !listed[name] && !o.newer && !accepts(t, path, name) {
						t.Errorf("migration.md lists %s, which Debian's %s does not know", name, program)
					}
					if listed[name] && o.newer {
						t.Errorf("migration.md: %s is not newer than Debian's %s", name, program)
					}
				}
			}
			for _, name := range missing(listed, known) {
				t.Errorf("migration.md does not list %s of Debian's %s", name, program)
			}
		})
	}
}

// accepts reports whether a program knows an option that it does not list. Each program
// parses its command line before it looks for a device.
func accepts(t *testing.T, path, name string) bool {
	t.Helper()
	for _, args := range [][]string{{name, "1", "-h"}, {name, "-h"}} {
		out, _ := ibsimtest.Command(t, path, args...).CombinedOutput()
		if !slices.ContainsFunc([]string{"unrecognized option", "invalid option", "Invalid Command or flag"}, func(s string) bool { return strings.Contains(string(out), s) }) {
			return true
		}
	}
	return false
}
