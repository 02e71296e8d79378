//go:build packages

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestLintian(t *testing.T) {
	out, err := exec.Command("lintian", "--allow-root", "--fail-on", "error,warning", one(t, "ibkit_*_amd64.deb"), one(t, "ibkit-cuda_*_amd64.deb")).CombinedOutput()
	if err != nil {
		t.Errorf("lintian: %v\n%s", err, out)
	}
}

// TestRPMLint checks the packages for amd64. rpmlint unpacks it with cpio, and nfpm packages
// have absolute names: without the option below, cpio would write to /.
func TestRPMLint(t *testing.T) {
	cpio, err := exec.LookPath("cpio")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := "#!/bin/sh\nexec " + cpio + " --no-absolute-filenames \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "cpio"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	lint := exec.Command("rpmlint", "--strict", "--config", "rpmlint.toml", one(t, "ibkit-[0-9]*.x86_64.rpm"), one(t, "ibkit-cuda-*.x86_64.rpm"))
	lint.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := lint.CombinedOutput(); err != nil {
		t.Errorf("rpmlint: %v\n%s", err, out)
	}
}
