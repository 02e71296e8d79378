// Package docs tests the documentation: its commands run, print what it says,
// and its links lead somewhere.
package docs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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

func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("*.md")
	if err != nil || len(found) == 0 {
		t.Fatalf("found no pages: %v", err)
	}
	return append(found, "../README.md")
}

// A command is a line behind a $ in a console block, and what it prints below.
type command struct {
	line   string
	output []string
}

var consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

func commands(text string) []command {
	var list []command
	for _, block := range consoleBlock.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			switch c, isCommand := strings.CutPrefix(line, "$ "); {
			case isCommand:
				list = append(list, command{line: c})
			case len(list) > 0:
				last := &list[len(list)-1]
				last.output = append(last.output, line)
			}
		}
	}
	return list
}

// TestExamples runs each page's commands one after the other, on the fabric demo
// and on a host with an InfiniBand card. Where a page shows what a command
// prints, that is compared; a line of ... stands for any lines. Elsewhere a
// command may find problems (exit code 3), but has to be right.
func TestExamples(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "ibkit")); err != nil {
		t.Fatal(err)
	}
	sysfs := testenv.UnpackTree(t, "../cmd/testdata/devinfo/mlx5-ib.txtar")
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, c := range commands(string(text)) {
			shell := exec.Command("sh", "-c", c.line)
			shell.Dir = dir
			shell.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "IBKIT_SIM=demo", "IBKIT_SYSFS="+sysfs)
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
		pattern.WriteString(regexp.QuoteMeta(strings.TrimRight(line, " ")) + ` *\n`)
	}
	return regexp.MustCompile(pattern.String() + `$`).MatchString(printed)
}

var link = regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)

// TestLinks looks for the files that pages lead to.
func TestLinks(t *testing.T) {
	for _, page := range append(pages(t), "../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s leads to %s, which is not there", page, m[1])
			}
		}
	}
}

var flagName = regexp.MustCompile(`--[a-zA-Z][-_a-zA-Z]*`)

// TestMigration holds the table of options against those that iblinkinfo takes.
func TestMigration(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("migration.md")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "iblinkinfo")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(name, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		option, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if flag := flagName.FindString(option); strings.HasPrefix(option, "-") && !strings.Contains(string(table), flag) {
			t.Errorf("migration.md says nothing of iblinkinfo's %s", flag)
		}
	}
}
