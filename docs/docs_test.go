// Package docs tests the documentation: it runs the commands, compares their output
// with the pages, and checks links.
package docs

import (
	"bufio"
	"errors"
	"fmt"
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

// TestMain runs ibkit if the test binary is started under its name.
func TestMain(m *testing.M) {
	testenv.SetEtc(testenv.NoEtc)
	if strings.HasPrefix(filepath.Base(os.Args[0]), "ib") {
		os.Exit(cmd.Main())
	}
	// Most commands wait for replies, not for a processor.
	testenv.SetParallel(8)
	os.Exit(m.Run())
}

// binDir creates a directory for PATH that contains the test binary as ibkit.
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
		t.Fatalf("got no pages, error %v", err)
	}
	return append(found, "../README.md")
}

// A command is a line after a $ in a console block, with continuation lines after >,
// followed by the expected output. The command runs on a host from internal/testenv/hosts
// and on the fabric demo, which the page selects in HTML comments: it is served, or new for
// each command.
type command struct {
	host, line string
	served     bool
	output     []string
}

var consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$|^<!-- (host|fabric): (\\S+) -->$")

func commands(text string) []command {
	var list []command
	host, served := "mlx5-ib", false
	for _, block := range consoleBlock.FindAllStringSubmatch(text, -1) {
		switch block[2] {
		case "host":
			host = block[3]
		case "fabric":
			served = block[3] == "served"
		}
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			switch c, isCommand := strings.CutPrefix(line, "$ "); {
			case isCommand:
				list = append(list, command{host: host, line: c, served: served})
			case len(list) > 0 && strings.HasPrefix(line, ">") && len(list[len(list)-1].output) == 0:
				list[len(list)-1].line += "\n" + strings.TrimPrefix(line[1:], " ")
			case len(list) > 0:
				last := &list[len(list)-1]
				last.output = append(last.output, line)
			}
		}
	}
	return list
}

// simulated returns the fabric setting for a command: demo, served or not, except for
// commands that the page runs on a host.
func (c command) simulated() string {
	switch {
	case strings.HasPrefix(c.line, "ibkit devinfo"), strings.HasPrefix(c.line, "ibkit doctor"):
		return "IBKIT_SIM="
	case c.served:
		return "IBKIT_SIM=ibsim"
	}
	return "IBKIT_SIM=demo"
}

// serve serves the fabric demo until the test ends, and returns the setting that selects
// the server.
func serve(t *testing.T, bin, page string) string {
	t.Helper()
	name := fmt.Sprintf("IBSIM_SOCKNAME=docs-%d-%s", os.Getpid(), filepath.Base(page))
	server := exec.CommandContext(t.Context(), filepath.Join(bin, "ibkit"), "sim", "serve", "demo")
	server.Env = append(os.Environ(), name)
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Wait() }) // the end of the context has killed it
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "Network simulator ready.\n" {
		t.Fatalf("sim serve: got %q, error %v", line, err)
	}
	return name
}

// TestExamples runs the commands on each page in order, on the fabric demo, and compares
// the output with the page. A line "..." matches any lines, and ... at a line end matches
// the rest of the line. A command without output on the page must exit with 0 or 3
// (problems found).
func TestExamples(t *testing.T) {
	bin := binDir(t)
	for _, page := range pages(t) {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			hosts, server := map[string]string{}, "IBSIM_SOCKNAME="
			for _, c := range commands(string(text)) {
				if hosts[c.host] == "" {
					hosts[c.host] = testenv.Host(t, c.host)
				}
				if c.served && server == "IBSIM_SOCKNAME=" {
					server = serve(t, bin, page)
				}
				shell := exec.Command("sh", "-c", c.line)
				shell.Dir = dir
				shell.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), c.simulated(), server, "IBKIT_SYSFS="+hosts[c.host])
				out, err := shell.CombinedOutput()
				checkExample(t, c, string(out), err)
			}
		})
	}
}

// checkExample compares command output with the output on the page.
func checkExample(t *testing.T, c command, out string, err error) {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case len(c.output) > 0:
		if !matches(c.output, out) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.line, out, strings.Join(c.output, "\n"))
		}
	case errors.As(err, &exit) && exit.ExitCode() == 3:
	case err != nil:
		t.Errorf("%s: got %v, want exit code 0 or 3\n%s", c.line, err, out)
	}
}

// matches reports whether output matches the output on a page.
func matches(shown []string, printed string) bool {
	var pattern strings.Builder
	pattern.WriteString(`^`)
	for _, line := range shown {
		if line == "..." {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		line, isPrefix := strings.CutSuffix(line, "...")
		pattern.WriteString(regexp.QuoteMeta(strings.TrimRight(line, " ")))
		if isPrefix {
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

// TestLinks checks that linked files and headings exist. External links must lead to a few
// stable sites.
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
					t.Errorf("%s links to %s, which is not on the list of sites", page, to)
				}
				continue
			}
			target := page
			if to != "" {
				target = filepath.Join(filepath.Dir(page), to)
			}
			if anchor == "" {
				// To open a directory would make the cached result depend on all its files.
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s links to %s, which does not exist", page, to)
				}
				continue
			}
			linked, err := os.ReadFile(target)
			if err != nil || !slices.Contains(anchors(string(linked)), anchor) {
				t.Errorf("%s links to %s#%s, but this heading does not exist", page, to, anchor)
			}
		}
	}
}

// anchors returns heading names as they appear in links, as generated by GitHub.
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

// TestOrphans checks that each page is linked from another page.
func TestOrphans(t *testing.T) {
	linked := map[string]bool{}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			// All pages but the README are in this directory.
			linked[strings.TrimPrefix(filepath.Join(filepath.Dir(page), m[1]), "../docs/")] = true
		}
	}
	for _, page := range pages(t) {
		if page != "../README.md" && !linked[page] {
			t.Errorf("no page links to %s", page)
		}
	}
}

// TestJSONTypes checks that json.md names an exported type for each document.
func TestJSONTypes(t *testing.T) {
	text, err := os.ReadFile("json.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (.*--json.*) \| \[.*\]\(.*\) \| (.*)\|$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) < 30 {
		t.Fatalf("got %d documents, want at least 30", len(rows))
	}
	for _, row := range rows {
		t.Run(row[1], func(t *testing.T) {
			types := regexp.MustCompile("`([a-z]+)\\.([A-Z][A-Za-z]*)`").FindAllStringSubmatch(row[2], -1)
			if len(types) == 0 {
				t.Error("got no Go type")
			}
			for _, name := range types {
				if !declares(t, name[1], name[2]) {
					t.Errorf("got the type %s, which does not exist", name[0])
				}
			}
		})
	}
}

// declares reports whether the named package declares a structure. It does not list the module
// directory: the cached test result would depend on .git, which each Git command changes.
func declares(t *testing.T, name, structure string) bool {
	t.Helper()
	for _, pattern := range []string{"../" + name + "/*.go", "../fabric/" + name + "/*.go", "../internal/tool/" + name + "/*.go", "../internal/tool/mesh/" + name + "/*.go", "../internal/tool/perf/" + name + "/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "\ntype "+structure+" struct {") {
				return true
			}
		}
	}
	return false
}
