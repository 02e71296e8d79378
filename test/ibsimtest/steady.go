package ibsimtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// unsteady are texts that differ between two runs of a tool, with their replacements in
// recordings. Replacements have the same form.
var unsteady = []struct {
	text *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`(?m)^(ibwarn|ibpanic|iberror|ibdebug): \[\d+\]`), "$1: [1]"},
	{regexp.MustCompile(`\[pid \d+\]`), "[pid 1]"},
	{regexp.MustCompile(`(?m)^\[\d+\]( \w+:)`), "[1]$1"},
	{regexp.MustCompile(`(?m)^(# Topology file: generated on) .*$`), "$1 Thu Jan  1 00:00:00 1970"},
	{regexp.MustCompile(`activity count \d+`), "activity count 1"},
	{regexp.MustCompile(`(?m)^(\t\tActCount\.+)\d+$`), "${1}1"},
	{regexp.MustCompile(`(?m)^(hw_uptime:).*$`), "$1 1"},
	{regexp.MustCompile(`\b0x(?:5[56]|7[ef])[0-9a-f]{10}\b`), "0x55"}, // addresses in memory
	{regexp.MustCompile(`\btime \d+ ms`), "time 1 ms"},
	{regexp.MustCompile(`\btime \d+\.\d{3} ms`), "time 1.000 ms"},
	{regexp.MustCompile(`= \d+\.\d{3}/\d+\.\d{3}/\d+\.\d{3} ms`), "= 1.000/1.000/1.000 ms"},
}

// steady replaces the texts that differ between two runs of a tool.
func steady(text string) string {
	for _, u := range unsteady {
		text = u.text.ReplaceAllString(text, u.by)
	}
	return text
}

// temporary are the test directories that a command line names, by their words in recordings.
type temporary []struct{ word, dir string }

// testDir matches a testing.T.TempDir directory.
var testDir = regexp.MustCompile(regexp.QuoteMeta(filepath.Clean(os.TempDir())) + `/Test[^/\s]*/\d+`)

// temporaryWords finds the directories in a tool's arguments.
func temporaryWords(args []string) (words temporary) {
	seen := map[string]bool{}
	for _, arg := range args {
		for _, dir := range testDir.FindAllString(arg, -1) {
			if seen[dir] {
				continue
			}
			seen[dir] = true
			words = append(words, struct{ word, dir string }{fmt.Sprintf("{tmp%d}", len(words)+1), dir})
		}
	}
	return words
}

// hide replaces directories by words.
func (words temporary) hide(text string) string {
	for _, w := range words {
		text = strings.ReplaceAll(text, w.dir, w.word)
	}
	return text
}

// show replaces words by directories.
func (words temporary) show(text string) string {
	for _, w := range words {
		text = strings.ReplaceAll(text, w.word, w.dir)
	}
	return text
}

// watch returns a function that returns the files in temporary directories that did not
// exist before, by their names in a tool's arguments.
func (words temporary) watch(args []string) func(testing.TB) map[string]string {
	var absent []string
	for _, arg := range args {
		if !testDir.MatchString(arg) || !filepath.IsAbs(arg) {
			continue
		}
		if _, err := os.Stat(arg); errors.Is(err, fs.ErrNotExist) {
			absent = append(absent, arg)
		}
	}
	return func(tb testing.TB) (written map[string]string) {
		tb.Helper()
		for _, path := range absent {
			text, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				tb.Fatal(err)
			}
			if written == nil {
				written = map[string]string{}
			}
			written[words.hide(path)] = steady(words.hide(string(text)))
		}
		return written
	}
}

// plainArg matches an argument that is not quoted in a recording.
var plainArg = regexp.MustCompile(`^[^\s"'\\$]+$`)

func quoteArgs(args []string) []string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		if quoted[i] = arg; !plainArg.MatchString(arg) {
			quoted[i] = strconv.Quote(arg)
		}
	}
	return quoted
}

// packages has the package and version of each tool, after the first query.
var packages sync.Map // string → [2]string

// packageOf returns a tool's Debian package and version.
func packageOf(tool string) (name, version string, err error) {
	if known, ok := packages.Load(tool); ok {
		p := known.([2]string)
		return p[0], p[1], nil
	}
	path, err := findTool(tool)
	if err != nil {
		return "", "", err
	}
	owner, err := exec.Command("dpkg-query", "-S", path).Output()
	if err != nil {
		return "", "", fmt.Errorf("find package of %s: %w", path, err)
	}
	name, _, _ = strings.Cut(string(owner), ":")
	text, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", name).Output()
	if err != nil {
		return "", "", fmt.Errorf("find version of package %s: %w", name, err)
	}
	packages.Store(tool, [2]string{name, string(text)})
	return name, string(text), nil
}
