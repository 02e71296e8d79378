package docs

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A migration is a migration.md section with a flag table.
type migration struct {
	classic []string // classic names
	native  string   // native command

	flags       map[string]bool // supported classic flags
	replacement map[string]bool // native flags
	unsupported map[string]bool // C tool flags that ibkit does not support
}

var (
	migrationHead = regexp.MustCompile(`(?m)^## (\w+(?:, \w+)*) → ibkit (\w+)$`)
	quoted        = regexp.MustCompile("`[^`]*`")
	flagName      = regexp.MustCompile(`(?:^|[\s,])(--[a-zA-Z][-\w]*|-[a-zA-Z])`)
)

func migrations(t *testing.T) []migration {
	t.Helper()
	text, err := os.ReadFile("migration.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	heads := migrationHead.FindAllStringSubmatchIndex(page, -1)
	var sections []migration
	for i, h := range heads {
		end := len(page)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		m := migration{
			classic: strings.Split(page[h[2]:h[3]], ", "), native: page[h[4]:h[5]],
			flags: map[string]bool{}, replacement: map[string]bool{}, unsupported: map[string]bool{},
		}
		for line := range strings.Lines(page[h[1]:end]) {
			columns := strings.Split(strings.ReplaceAll(line, `\|`, ""), "|")
			if len(columns) < 4 {
				continue
			}
			if strings.TrimSpace(columns[2]) == "not supported" || strings.HasPrefix(strings.TrimSpace(columns[3]), "refused") {
				maps.Copy(m.unsupported, flagsIn(columns[1]))
				continue
			}
			maps.Copy(m.flags, flagsIn(columns[1]))
			maps.Copy(m.replacement, flagsIn(columns[2]))
			if strings.HasPrefix(strings.TrimSpace(columns[2]), "the same") {
				// Native flags have dashes in their names, and accept underscores.
				maps.Copy(m.replacement, flagsIn(strings.ReplaceAll(columns[1], "_", "-")))
			}
		}
		sections = append(sections, m)
	}
	return sections
}

// flagsIn returns the flags in a table cell's inline code.
func flagsIn(cell string) map[string]bool {
	flags := map[string]bool{}
	for _, q := range quoted.FindAllString(cell, -1) {
		for _, m := range flagName.FindAllStringSubmatch(strings.Trim(q, "`"), -1) {
			flags[m[1]] = true
		}
	}
	return flags
}

// helpFlags returns the flags in a command's help text.
func helpFlags(help string) map[string]bool {
	flags := map[string]bool{}
	for line := range strings.Lines(help) {
		line = strings.TrimLeft(strings.TrimSpace(line), "[") // librdmacm programs print brackets
		if !strings.HasPrefix(line, "-") {
			continue
		}
		option, _, _ := strings.Cut(strings.ReplaceAll(line, ":\t", "  "), "  ")
		for _, m := range flagName.FindAllStringSubmatch(option, -1) {
			flags[m[1]] = true
		}
	}
	return flags
}

// help returns the help text for a command.
func help(t *testing.T, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(self, append(args, "-h")...)
	run.Args[0] = "ibkit"
	run.Env = append(os.Environ(), "IBKIT_SYSFS="+t.TempDir())
	out, _ := run.CombinedOutput() // ibv_devinfo rejects -h and prints its options
	return string(out)
}

// TestMigration compares the tables with the commands: each classic name has a table
// with exactly its flags, and their replacements exist.
func TestMigration(t *testing.T) {
	t.Parallel()
	sections := migrations(t)
	pages, err := filepath.Glob("../man/*.1")
	if err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, section := range sections {
		accepted := map[string]bool{}
		for _, name := range section.classic {
			covered[name] = true
			flags := helpFlags(help(t, name))
			for _, flag := range missing(flags, section.flags) {
				t.Errorf("migration.md does not list %s of %s", flag, name)
			}
			maps.Copy(accepted, flags)
		}
		for _, flag := range missing(section.flags, accepted) {
			t.Errorf("migration.md: %v do not support %s", section.classic, flag)
		}
		for flag := range section.unsupported {
			if accepted[flag] {
				t.Errorf("migration.md: %s is not unsupported in %v", flag, section.classic)
			}
		}
		native := helpFlags(help(t, section.native))
		for _, flag := range missing(section.replacement, native) {
			t.Errorf("migration.md: ibkit %s does not support %s", section.native, flag)
		}
	}
	classic := regexp.MustCompile(`in the place of (\w+)`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if m := classic.FindSubmatch(text); m != nil && !covered[string(m[1])] {
			t.Errorf("migration.md does not mention %s", m[1])
		}
	}
}

// missing returns the sorted elements that are in a but not in b.
func missing(a, b map[string]bool) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if !b[name] {
			list = append(list, name)
		}
	}
	return list
}
