package ibsimtest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
)

// A recording is a txtar archive. The archive comment has the fabric and the package
// versions. Sections are:
//
//	-- test NAME --          the following results are from a subtest, or from the test
//	-- NODE$ TOOL ARGS --    a command line and its standard output
//	-- stderr --             error output of the last command line, if it has some
//	-- exit code N --        its exit code if it is not 0
//	-- file PATH --          a file that it wrote
//	-- stdout of LINE --     empty: the standard output is the last output of another line
//	-- stderr of LINE --     empty: the error output is the last output of another line
//
// A text that txtar cannot hold has a quoted string for each line, and its section has the
// prefix "quoted".
const (
	testSection   = "test "
	stderrSection = "stderr"
	codeSection   = "exit code "
	fileSection   = "file "
	sameStdout    = "stdout of "
	sameStderr    = "stderr of "
	quotedPrefix  = "quoted "
)

// title begins a recording's comment.
const title = "Results of Debian's tools, written by: "

const fabricTitle = "fabric: "

// save writes the recording. A server without results has no file.
func (r *recording) save() error {
	if len(r.results) == 0 {
		return nil
	}
	var a txtar.Archive
	comment := title + r.renewal() + "\n" + fabricTitle + r.fabric + "\n"
	for _, pkg := range slices.Sorted(maps.Keys(r.packages)) {
		comment += pkg + " " + r.packages[pkg] + "\n"
	}
	a.Comment = []byte(comment + "\n")
	test, stdout, stderr := "", newOutputs(), newOutputs()
	for _, result := range r.results {
		if result.test != test {
			test = result.test
			a.Files = append(a.Files, txtar.File{Name: testSection + test})
		}
		a.Files = append(a.Files, result.sections(stdout, stderr)...)
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(r.path, txtar.Format(&a), 0o644)
}

// outputs are the texts on a stream so far.
type outputs struct {
	lines map[string]string // that printed a text last
	texts map[string]string // that a line printed last
}

func newOutputs() *outputs { return &outputs{lines: map[string]string{}, texts: map[string]string{}} }

// earlier returns a line with text as its last output if text is longer than a reference,
// and notes text as the last output of line.
func (o *outputs) earlier(line, text string) (earlier string, found bool) {
	earlier, found = o.lines[text]
	found = found && o.texts[earlier] == text && len(text) > len(sameStdout+earlier)
	if !found {
		o.lines[text] = line
	}
	o.texts[line] = text
	return earlier, found
}

// sections returns a result's sections.
func (r *recorded) sections(stdout, stderr *outputs) (all []txtar.File) {
	if earlier, ok := stdout.earlier(r.line, r.result.Stdout); ok {
		all = append(all, section(r.line, ""), section(sameStdout+earlier, ""))
	} else {
		all = append(all, section(r.line, r.result.Stdout))
	}
	if earlier, ok := stderr.earlier(r.line, r.result.Stderr); ok {
		all = append(all, section(sameStderr+earlier, ""))
	} else if r.result.Stderr != "" {
		all = append(all, section(stderrSection, r.result.Stderr))
	}
	if r.result.Code != 0 {
		all = append(all, section(codeSection+strconv.Itoa(r.result.Code), ""))
	}
	for _, path := range slices.Sorted(maps.Keys(r.files)) {
		all = append(all, section(fileSection+path, r.files[path]))
	}
	return all
}

// section returns a section with a text, quoted if txtar would change it.
func section(name, text string) txtar.File {
	f := txtar.File{Name: name, Data: []byte(text)}
	again := txtar.Parse(txtar.Format(&txtar.Archive{Files: []txtar.File{f}}))
	if len(again.Files) == 1 && bytes.Equal(again.Files[0].Data, f.Data) && printable(text) {
		return f
	}
	var quoted strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintln(&quoted, strconv.Quote(line))
	}
	return txtar.File{Name: quotedPrefix + name, Data: []byte(quoted.String())}
}

// printable reports whether a text has no control characters except line ends and tabs.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c == '\uFFFD' || c < ' ' && c != '\n' && c != '\t' || c == 0x7f })
}

// load reads the recording.
func (r *recording) load() error {
	text, err := os.ReadFile(r.path)
	if err != nil {
		return err
	}
	a := txtar.Parse(text)
	if err := r.parseComment(string(a.Comment)); err != nil {
		return fmt.Errorf("read %s: %w", r.path, err)
	}
	test := ""
	for _, f := range a.Files {
		name, quoted := strings.CutPrefix(f.Name, quotedPrefix)
		text := string(f.Data)
		if quoted {
			if text, err = unquote(text); err != nil {
				return fmt.Errorf("read %s: section %q: %w", r.path, f.Name, err)
			}
		}
		if subtest, ok := strings.CutPrefix(name+" ", testSection); ok {
			test = strings.TrimSpace(subtest)
		} else if err := r.parse(test, name, text); err != nil {
			return fmt.Errorf("read %s: section %q: %w", r.path, f.Name, err)
		}
	}
	return nil
}

// parseComment reads a recording's comment.
func (r *recording) parseComment(comment string) error {
	for line := range strings.Lines(comment) {
		line = strings.TrimSuffix(line, "\n")
		if fabric, ok := strings.CutPrefix(line, fabricTitle); ok {
			if fabric != r.fabric {
				return fmt.Errorf("got the fabric %q, want %q (renew with: %s)", fabric, r.fabric, r.renewal())
			}
		} else if pkg, version, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, title) {
			r.packages[pkg] = version
		}
	}
	return nil
}

// parse reads a single section of a result.
func (r *recording) parse(test, name, text string) error {
	if line, ok := strings.CutPrefix(name, sameStdout); ok {
		return r.repeat(line, func(to, from *Result) { to.Stdout = from.Stdout })
	}
	if line, ok := strings.CutPrefix(name, sameStderr); ok {
		return r.repeat(line, func(to, from *Result) { to.Stderr = from.Stderr })
	}
	if strings.Contains(name, "$ ") && !strings.HasPrefix(name, fileSection) {
		r.results = append(r.results, &recorded{test: test, line: name, result: Result{Stdout: text}})
		return nil
	}
	if len(r.results) == 0 {
		return errors.New("want a command line before it")
	}
	last := r.results[len(r.results)-1]
	if path, ok := strings.CutPrefix(name, fileSection); ok {
		if last.files == nil {
			last.files = map[string]string{}
		}
		last.files[path] = text
		return nil
	}
	if name == stderrSection {
		last.result.Stderr = text
		return nil
	}
	if digits, ok := strings.CutPrefix(name, codeSection); ok {
		var err error
		last.result.Code, err = strconv.Atoi(digits)
		return err
	}
	return errors.New("unknown")
}

// repeat copies an output from the last result for a line to the result that is being read.
func (r *recording) repeat(line string, copyOutput func(to, from *Result)) error {
	for i := len(r.results) - 2; i >= 0; i-- {
		if r.results[i].line == line {
			copyOutput(&r.results[len(r.results)-1].result, &r.results[i].result)
			return nil
		}
	}
	return errors.New("no such line before it")
}

// unquote joins the lines of a quoted section.
func unquote(text string) (string, error) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		s, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return "", fmt.Errorf("got %q, want a quoted string", line)
		}
		b.WriteString(s)
	}
	return b.String(), nil
}
