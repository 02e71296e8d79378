//go:build oracle

package docs

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/test/releases"
)

// notInDebian are the classic names that Debian does not install.
var notInDebian = map[string]bool{
	"ibcheckerrors": true, "ibcheckerrs": true, "ibclearcounters": true, "ibclearerrors": true,
	"ibdatacounters": true, "ibdatacounts": true, "ibswportwatch": true, "ibsendtrap": true, "mcm_rereg_test": true,
}

// TestMigration_Debian checks that the tables contain each flag in Debian's tools.
func TestMigration_Debian(t *testing.T) {
	for _, section := range migrations(t) {
		for _, name := range section.classic {
			if notInDebian[name] {
				continue
			}
			path, err := exec.LookPath(name)
			if err != nil {
				t.Error(err)
				continue
			}
			out, _ := ibsimtest.Command(t, path, "-h").CombinedOutput() // -h exits with 1 or 255
			flags := helpFlags(releases.Upgrade(name, strings.ReplaceAll(string(out), path, name)))
			if len(flags) == 0 && len(section.flags) > 0 {
				t.Errorf("%s -h: got no flags in\n%s", name, out)
			}
			for _, flag := range missing(flags, section.flags) {
				if !section.unsupported[flag] {
					t.Errorf("migration.md does not list %s of %s", flag, name)
				}
			}
		}
	}
}

// TestMigration_DebianPrograms checks that the program list matches Debian's package, and
// that each program is a classic name.
func TestMigration_DebianPrograms(t *testing.T) {
	files, err := ibsimtest.Command(t, "dpkg", "-L", "infiniband-diags").Output()
	if err != nil {
		t.Fatal(err)
	}
	installed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^/usr/s?bin/([\w-]+)$`).FindAllStringSubmatch(string(files), -1) {
		installed[m[1]] = true
	}
	text, err := os.ReadFile("migration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "\n## Programs of infiniband-diags\n")
	list, _, _ = strings.Cut(list, "\n## ")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([\\w-]+)` \\| `ibkit ([a-z ]+)` \\|$").FindAllStringSubmatch(list, -1) {
		listed[m[1]] = true
		if out := help(t, m[1]); out == "" || strings.Contains(out, "unknown command") {
			t.Errorf("%s is not a classic name: %s", m[1], out)
		}
		if out := help(t, strings.Fields(m[2])...); !strings.Contains(out, "ibkit "+m[2]) {
			t.Errorf("%s: there is no command ibkit %s", m[1], m[2])
		}
	}
	for _, name := range missing(installed, listed) {
		t.Errorf("migration.md does not list %s", name)
	}
	for _, name := range missing(listed, installed) {
		t.Errorf("migration.md lists %s, which is not in the package", name)
	}
}
