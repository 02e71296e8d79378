// Package docs tests the documentation: its commands run, print what it says,
// and its links lead somewhere.
package docs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/ibkit/ibkit/cmd"
	"github.com/ibkit/ibkit/internal/testenv"
)

// TestMain lets the test stand in for ibkit, under that name.
func TestMain(m *testing.M) {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "ib") {
		os.Exit(cmd.Main())
	}
	os.Exit(m.Run())
}

// binDir makes a folder for the PATH in which this test is ibkit.
func binDir(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "ibkit")); err != nil {
		t.Fatal(err)
	}
	return bin
}

func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("*.md")
	if err != nil || len(found) == 0 {
		t.Fatalf("found no pages: %v", err)
	}
	return append(found, "../README.md")
}

// A command is a line behind a $ in a console block, and what it prints below, on
// a host of internal/testenv/hosts, which a page names in a comment of HTML.
type command struct {
	host, line string
	output     []string
}

var consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$|^<!-- host: (\\S+) -->$")

func commands(text string) []command {
	var list []command
	host := "mlx5-ib"
	for _, block := range consoleBlock.FindAllStringSubmatch(text, -1) {
		if block[2] != "" {
			host = block[2]
		}
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			switch c, isCommand := strings.CutPrefix(line, "$ "); {
			case isCommand:
				list = append(list, command{host: host, line: c})
			case len(list) > 0:
				last := &list[len(list)-1]
				last.output = append(last.output, line)
			}
		}
	}
	return list
}

// TestExamples runs each page's commands one after the other, on the fabric demo.
// Where a page shows what a command prints, that is compared; a line of ... stands
// for any lines, ... at the end of one for the rest of it. Elsewhere a command may
// find problems (exit code 3), but has to be right.
func TestExamples(t *testing.T) {
	bin := binDir(t)
	hosts := map[string]string{}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, c := range commands(string(text)) {
			if hosts[c.host] == "" {
				hosts[c.host] = testenv.Host(t, c.host)
			}
			shell := exec.Command("sh", "-c", c.line)
			shell.Dir = dir
			shell.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "IBKIT_SIM=demo", "IBKIT_SYSFS="+hosts[c.host])
			out, err := shell.CombinedOutput()
			var exit *exec.ExitError
			switch {
			case len(c.output) > 0:
				if !matches(c.output, string(out)) {
					t.Errorf("%s: %s printed\n%s", page, c.line, out)
				}
			case errors.As(err, &exit) && exit.ExitCode() == 3:
			case err != nil:
				t.Errorf("%s: %s: %v\n%s", page, c.line, err, out)
			}
		}
	}
}

// matches compares what was printed with what a page shows of it.
func matches(shown []string, printed string) bool {
	var pattern strings.Builder
	pattern.WriteString(`^`)
	for _, line := range shown {
		if line == "..." {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		line, isBegin := strings.CutSuffix(line, "...")
		pattern.WriteString(regexp.QuoteMeta(strings.TrimRight(line, " ")))
		if isBegin {
			pattern.WriteString(`.*`)
		}
		pattern.WriteString(` *\n`)
	}
	return regexp.MustCompile(pattern.String() + `$`).MatchString(printed)
}

var (
	link    = regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)|(?:src|href)="([^"#]*)(?:#([^"]*))?"`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
)

// TestLinks looks for the files that pages lead to, and for the headings in them.
// What is elsewhere has to be on one of a few sites that are known to stay.
func TestLinks(t *testing.T) {
	for _, page := range append(pages(t), "../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			to, anchor := m[1]+m[3], m[2]+m[4]
			if strings.Contains(to, "://") {
				if !regexp.MustCompile(`^https://(github\.com|pkg\.go\.dev|www\.kernel\.org|docs\.kernel\.org)/`).MatchString(to) {
					t.Errorf("%s leads to %s", page, to)
				}
				continue
			}
			target := page
			if to != "" {
				target = filepath.Join(filepath.Dir(page), to)
			}
			linked, err := os.ReadFile(target)
			if err != nil && !isDir(target) {
				t.Errorf("%s leads to %s, which is not there", page, to)
			}
			if anchor != "" && !slices.Contains(anchors(string(linked)), anchor) {
				t.Errorf("%s leads to %s#%s: there is no such heading", page, to, anchor)
			}
		}
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// anchors are the names that headings have in links, as GitHub makes them.
func anchors(page string) []string {
	var names []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, m[1])
		names = append(names, name)
	}
	return names
}

// TestOrphans looks for pages that no other page leads to.
func TestOrphans(t *testing.T) {
	linked := map[string]bool{}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			// The README is above this folder, the others are in it.
			linked[strings.TrimPrefix(filepath.Join(filepath.Dir(page), m[1]), "../docs/")] = true
		}
	}
	for _, page := range pages(t) {
		if page != "../README.md" && !linked[page] {
			t.Errorf("no page leads to %s", page)
		}
	}
}
