package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
)

// manualDate is the date in the footer of the pages. It is constant, so that the same
// commands result in the same pages.
const manualDate = "2026-11-21"

// A manualPage is a manual page: the help of a command, and the sections in NAME.man
// beside its source, in the language of man(7).
type manualPage struct {
	name string         // of the page
	cmd  *cobra.Command // nil: a classic tool

	tool   *getopt.Tool // nil: a native command
	native string       // the native command with the same task

	out bytes.Buffer
}

func (m *manualPage) write(t *testing.T) []byte {
	t.Helper()
	text := m.text(t, m.name)
	m.line(`.\" Made by make man from the commands and cmd/**/*.man: change those.`)
	m.line(`.TH %s 1 %s "ibkit" "ibkit manual"`, strings.ToUpper(roff(m.name)), manualDate)
	m.section("NAME")
	m.line(`%s \- %s`, roff(m.name), roff(m.short()))
	m.section("SYNOPSIS")
	m.synopsis()
	m.section("DESCRIPTION")
	m.description()
	m.out.WriteString(text["DESCRIPTION"])
	m.options()
	for _, title := range m.ownTitles(t) {
		m.section(title)
		m.out.WriteString(text[title])
	}
	for _, title := range lastTitles {
		part := text[title]
		switch {
		case title == "EXAMPLES" && m.cmd != nil && m.cmd.HasExample():
			part = verbatim(m.example()) + part
		case part == "":
			part = m.common(t, title)
		}
		if part != "" {
			m.section(title)
			m.out.WriteString(part)
		}
	}
	m.seeAlso(text[seeAlso])
	return m.out.Bytes()
}

// lastTitles are the sections after those of the command itself, in their order on all pages.
var lastTitles = []string{"DIFFERENCES", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"}

// seeAlso is the section with references, at the end.
const seeAlso = "SEE ALSO"

// ownTitles returns the titles of the sections that only this page has, in the order of its
// hand-written part.
func (m *manualPage) ownTitles(t *testing.T) []string {
	t.Helper()
	var titles []string
	for part := range strings.SplitSeq("\n"+string(m.source(t, m.name)), "\n.SH ") {
		title, _, _ := strings.Cut(part, "\n")
		if title != "" && title != "DESCRIPTION" && title != seeAlso && !slices.Contains(lastTitles, title) {
			titles = append(titles, title)
		}
	}
	return titles
}

func (m *manualPage) line(format string, args ...any) { fmt.Fprintf(&m.out, format+"\n", args...) }

func (m *manualPage) section(title string) { m.line(".SH %s", title) }

func (m *manualPage) short() string {
	if m.tool != nil {
		return "ibkit in the place of " + m.tool.Name
	}
	return strings.ToLower(m.cmd.Short[:1]) + m.cmd.Short[1:]
}

func (m *manualPage) synopsis() {
	switch {
	case m.tool != nil:
		m.line(".B ibkit %s", m.tool.Name)
		m.line(".RI [ options ]\n.RI [ argument ...]")
		return
	case m.cmd.HasSubCommands() && !cmdutil.IsOperation(m.cmd):
		m.line(".B %s\n.I command\n.RI [ argument ...]", roff(m.cmd.CommandPath()))
		return
	}
	_, operands, _ := strings.Cut(m.cmd.Use, " ")
	operands = strings.TrimSpace(strings.ReplaceAll(operands, "[flags]", ""))
	m.line(".B %s", roff(m.cmd.CommandPath()))
	m.line(".RI [ options ]")
	if m.cmd.HasSubCommands() {
		m.line(".br\n.B %s\n.I command\n.RI [ argument ...]", roff(m.cmd.CommandPath()))
	}
	if operands != "" {
		m.line("%s", roff(operands))
	}
}

func (m *manualPage) description() {
	if m.tool != nil {
		m.line("Under the name %s, as a symbolic link or as\n.BR \"ibkit %[1]s\" ,", roff(m.tool.Name))
		m.line("ibkit has the options, the output and the exit codes of %s.", roff(m.tool.Name))
		m.line("The corresponding native command is\n.BR ibkit\\-%s (1).", roff(m.native))
		return
	}
	m.paragraphs(m.cmd.Long)
}

// paragraphs writes a help text. Indented lines are verbatim.
func (m *manualPage) paragraphs(text string) {
	for i, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			m.line(".PP")
		}
		if strings.Contains("\n"+p, "\n ") {
			m.out.WriteString(verbatim(p))
		} else {
			m.line("%s", roff(p))
		}
	}
}

func (m *manualPage) options() {
	if m.tool != nil {
		m.toolOptions("OPTIONS", false)
		m.toolOptions(`"OPTIONS OF IBKIT"`, true)
		return
	}
	if m.cmd.HasSubCommands() {
		m.section("COMMANDS")
		for _, c := range m.cmd.Commands() {
			if c.IsAvailableCommand() {
				m.line(".TP\n.B %s\n%s.", roff(c.Name()), roff(c.Short))
			}
		}
	}
	for _, g := range cmdutil.FlagGroups(m.cmd) {
		if g.Heading == "Flags" {
			m.section("OPTIONS")
		} else {
			m.section(`"` + strings.ToUpper(g.Heading) + `"`)
		}
		for _, f := range g.Flags {
			value, usage := pflag.UnquoteUsage(f)
			if f.NoOptDefVal != "" {
				value = ""
			}
			m.option(f.Shorthand, f.Name, value, usage)
		}
	}
}

// toolOptions writes a classic tool's options: the original's, or the extensions.
func (m *manualPage) toolOptions(title string, extensions bool) {
	for _, o := range m.tool.Options {
		if o.Extension != extensions || o.Unlisted {
			continue
		}
		if title != "" {
			m.section(title)
			title = ""
		}
		short := ""
		if o.Short != 0 {
			short = string(o.Short)
		}
		m.option(short, o.Long, strings.Trim(o.Arg, "<>"), o.Help)
	}
}

// option writes an option with its description.
func (m *manualPage) option(short, long, value, usage string) {
	m.line(".TP")
	option := `\fB` + roff("--"+long) + `\fR`
	if short != "" {
		option = `\fB` + roff("-"+short) + `\fR, ` + option
	}
	if value != "" {
		option += ` \fI` + roff(value) + `\fR`
	}
	m.line("%s", option)
	m.line("%s", roff(strings.ReplaceAll(usage, "\n", " ")))
}

func (m *manualPage) example() string {
	lines := strings.Split(m.cmd.Example, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

// common returns a section that applies to several native commands, or "" if it does not
// apply to this one.
func (m *manualPage) common(t *testing.T, title string) string {
	t.Helper()
	if m.tool != nil {
		return ""
	}
	sendsMADs := m.cmd.Flags().Lookup("sim") != nil && m.cmd.Flags().Lookup("Ca") != nil
	switch {
	case title == "EXIT STATUS":
		return m.text(t, "exit")[title]
	case sendsMADs && title == "ENVIRONMENT":
		return m.text(t, "environment")[title]
	case sendsMADs && title == "FILES":
		return m.text(t, "files")[title]
	}
	return ""
}

// textPatterns matches the hand-written parts: those beside a command, and in manual/
// those for several commands.
var textPatterns = []string{"*/%s.man", "classic/*/%s.man"}

// text reads a hand-written part. It returns the sections by title.
func (m *manualPage) text(t *testing.T, name string) map[string]string {
	t.Helper()
	sections := map[string]string{}
	for part := range strings.SplitSeq("\n"+string(m.source(t, name)), "\n.SH ") {
		title, body, _ := strings.Cut(part, "\n")
		sections[title] = strings.TrimRight(body, "\n") + "\n"
	}
	delete(sections, "")
	return sections
}

// source returns a hand-written part.
func (m *manualPage) source(t *testing.T, name string) []byte {
	t.Helper()
	var text []byte
	for _, pattern := range textPatterns {
		paths, err := filepath.Glob(fmt.Sprintf(pattern, name))
		if err == nil && len(paths) > 0 {
			text, err = os.ReadFile(paths[0])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// reference is a page in a hand-written section with references.
var reference = regexp.MustCompile(`(?m)^\.BR ([^ ]+ \([1-8]\))`)

// seeAlso writes references to the parent page, the subcommands, related commands and the
// pages in a hand-written section.
func (m *manualPage) seeAlso(written string) {
	var pages []string
	for _, match := range reference.FindAllStringSubmatch(written, -1) {
		pages = append(pages, strings.TrimSuffix(strings.ReplaceAll(match[1], `\-`, "-"), " (1)"))
	}
	above, _ := strings.CutSuffix(m.name, "-"+m.name[strings.LastIndexByte(m.name, '-')+1:])
	if above != m.name && m.name != "ibkit" {
		pages = append(pages, above)
	}
	if m.tool != nil {
		pages = append(pages, "ibkit-"+m.native)
	} else {
		for other := range strings.SplitSeq(m.cmd.Annotations[cmdutil.SeeAlso], ", ") {
			if other != "" {
				pages = append(pages, strings.ReplaceAll(other, " ", "-"))
			}
		}
		for _, c := range m.cmd.Commands() {
			if c.Hidden {
				continue
			}
			pages = append(pages, m.name+"-"+c.Name())
		}
		for name, e := range registry {
			if e.native != "" && (e.native == m.cmd.Name() || m.name == "ibkit") {
				pages = append(pages, "ibkit-"+name)
			}
		}
	}
	if len(pages) == 0 {
		return
	}
	slices.Sort(pages)
	pages = slices.Compact(pages)
	m.section(`"SEE ALSO"`)
	for i, p := range pages {
		comma := ","
		if i == len(pages)-1 {
			comma = ""
		}
		if !strings.HasSuffix(p, ")") {
			p += " (1)"
		}
		m.line(".BR %s%s", roff(p), comma)
	}
}

// verbatim is a text whose lines stay as they are.
func verbatim(text string) string {
	return ".nf\n" + roff(strings.TrimRight(expand(text), "\n")) + "\n.fi\n"
}

// expand replaces tabs, which stand for different widths in different places.
func expand(text string) string { return strings.ReplaceAll(text, "\t", "    ") }

// roff escapes a text for man(7). Characters outside ASCII become escapes, which all
// output devices of groff know.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`, "`", `\(ga`, `'`, `\(aq`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		line = strings.TrimRight(line, " ")
		if strings.HasPrefix(line, ".") {
			b.WriteString(`\&`)
		}
		for _, c := range line {
			if c > unicode.MaxASCII {
				fmt.Fprintf(&b, `\[u%04X]`, c)
			} else {
				b.WriteRune(c)
			}
		}
	}
	return b.String()
}
