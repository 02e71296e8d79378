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

// A section of migration.md: the classic names, the native one, and the flags in
// the first and in the second column of its table. Lacks are those of the first
// that are in no command of ours.
type migration struct {
	classic              []string
	native               string
	flags, become, lacks map[string]bool
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
		m := migration{strings.Split(page[h[2]:h[3]], ", "), page[h[4]:h[5]], map[string]bool{}, map[string]bool{}, map[string]bool{}}
		for line := range strings.Lines(page[h[1]:end]) {
			columns := strings.Split(strings.ReplaceAll(line, `\|`, ""), "|")
			if len(columns) < 4 {
				continue
			}
			if strings.TrimSpace(columns[2]) == "not supported" {
				maps.Copy(m.lacks, flagsIn(columns[1]))
				continue
			}
			maps.Copy(m.flags, flagsIn(columns[1]))
			maps.Copy(m.become, flagsIn(columns[2]))
			if strings.HasPrefix(strings.TrimSpace(columns[2]), "the same") {
				maps.Copy(m.become, flagsIn(columns[1]))
			}
		}
		sections = append(sections, m)
	}
	return sections
}

// flagsIn returns the flags in the quotations of a cell.
func flagsIn(cell string) map[string]bool {
	flags := map[string]bool{}
	for _, q := range quoted.FindAllString(cell, -1) {
		for _, m := range flagName.FindAllStringSubmatch(strings.Trim(q, "`"), -1) {
			flags[m[1]] = true
		}
	}
	return flags
}

// helpFlags returns the flags that the help of a command lists.
func helpFlags(help string) map[string]bool {
	flags := map[string]bool{}
	for line := range strings.Lines(help) {
		line = strings.TrimSpace(line)
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

// help has this binary print the help of a command.
func help(t *testing.T, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(self, append(args, "-h")...)
	run.Args[0] = "ibkit"
	run.Env = append(os.Environ(), "IBKIT_SYSFS="+t.TempDir())
	out, _ := run.CombinedOutput() // ibv_devinfo knows no -h, and shows its options
	return string(out)
}

// TestMigration holds the tables against the commands: each classic name has one,
// with all its flags and no others, and what they become is there.
func TestMigration(t *testing.T) {
	sections := migrations(t)
	pages, err := filepath.Glob("../man/*.1")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, section := range sections {
		takes := map[string]bool{}
		for _, name := range section.classic {
			told[name] = true
			flags := helpFlags(help(t, name))
			for _, flag := range missing(flags, section.flags) {
				t.Errorf("migration.md says nothing of %s's %s", name, flag)
			}
			maps.Copy(takes, flags)
		}
		for _, flag := range missing(section.flags, takes) {
			t.Errorf("migration.md: %v has no %s", section.classic, flag)
		}
		for flag := range section.lacks {
			if takes[flag] {
				t.Errorf("migration.md: %s is there in %v", flag, section.classic)
			}
		}
		native := helpFlags(help(t, section.native))
		for _, flag := range missing(section.become, native) {
			t.Errorf("migration.md: ibkit %s has no %s", section.native, flag)
		}
	}
	classic := regexp.MustCompile(`in the place of (\w+)`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if m := classic.FindSubmatch(text); m != nil && !told[string(m[1])] {
			t.Errorf("migration.md says nothing of %s", m[1])
		}
	}
}

// missing returns what is in a and not in b.
func missing(a, b map[string]bool) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if !b[name] {
			list = append(list, name)
		}
	}
	return list
}
