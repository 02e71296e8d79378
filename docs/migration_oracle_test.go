//go:build oracle

package docs

import (
	"os/exec"
	"testing"
)

// TestMigrationOfDebian looks in the tables for each flag that Debian's tools list.
func TestMigrationOfDebian(t *testing.T) {
	for _, section := range migrations(t) {
		for _, name := range section.classic {
			path, err := exec.LookPath(name)
			if err != nil {
				t.Error(err)
				continue
			}
			out, _ := exec.Command(path, "-h").CombinedOutput() // -h ends with 1 or 255
			flags := helpFlags(string(out))
			if len(flags) == 0 && name != "ibv_devices" {
				t.Errorf("%s -h lists no flags:\n%s", name, out)
			}
			for _, flag := range missing(flags, section.flags) {
				if !section.lacks[flag] {
					t.Errorf("migration.md says nothing of %s's %s", name, flag)
				}
			}
		}
	}
}
