//go:build oracle

package docs

import (
	"os/exec"
	"testing"
)

// notInDebian are the classic names that Debian does not install.
var notInDebian = map[string]bool{
	"ibcheckerrors": true, "ibcheckerrs": true, "ibclearcounters": true, "ibclearerrors": true,
	"ibdatacounters": true, "ibdatacounts": true, "ibswportwatch": true,
}

// TestMigration_Debian checks that the tables contain each flag of Debian's tools.
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
			out, _ := exec.Command(path, "-h").CombinedOutput() // the exit code of -h is 1 or 255
			flags := helpFlags(string(out))
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
