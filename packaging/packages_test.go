//go:build packages

// Package packaging has what the packages hold beside the binary, and tests
// what goreleaser made of it.
package packaging

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dist and before are where make package built the same commit twice.
const (
	dist   = "../build/dist"
	before = "../build/dist-before"
)

// one returns the file that a pattern stands for.
func one(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dist, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("found %q for %s: %v", found, pattern, err)
	}
	return found[0]
}

// command runs a program and returns what it printed.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// TestReproducible compares the checksums of all archives, packages and bills.
func TestReproducible(t *testing.T) {
	now, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	then, err := os.ReadFile(filepath.Join(before, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now, then) {
		t.Errorf("the same commit made other bytes:\n%s\n%s", then, now)
	}
	// For each of 5 architectures: an archive, a deb, an rpm, a bill.
	if n := bytes.Count(now, []byte("\n")); n != 20 {
		t.Errorf("%d files have a checksum:\n%s", n, now)
	}
}

func TestLintian(t *testing.T) {
	out, err := exec.Command("lintian", "--allow-root", "--fail-on", "error", one(t, "*_amd64.deb")).CombinedOutput()
	if err != nil {
		t.Errorf("lintian: %v\n%s", err, out)
	}
}

// TestRPM has rpm read the package.
func TestRPM(t *testing.T) {
	out := command(t, "rpm", "-qlp", one(t, "*_amd64.rpm"))
	for _, path := range []string{"/usr/bin/ibkit", "/usr/lib/ibkit/bin/iblinkinfo", "/usr/share/man/man1/ibkit.1.gz"} {
		if !strings.Contains(out, path+"\n") {
			t.Errorf("%s is not in the package:\n%s", path, out)
		}
	}
}

// TestInstall installs the deb in a root that has a shell and nothing else, runs
// it there by a classic name, and removes it.
func TestInstall(t *testing.T) {
	root := scratchRoot(t)
	files := tree(t, root)
	command(t, "dpkg", "--root="+root, "--force-depends", "-i", one(t, "*_amd64.deb"))
	group, err := os.ReadFile(filepath.Join(root, "etc/group"))
	if err != nil || !regexp.MustCompile(`(?m)^rdma:`).Match(group) {
		t.Errorf("there is no group rdma: %q, %v", group, err)
	}
	names, err := os.ReadDir(filepath.Join(root, "usr/lib/ibkit/bin"))
	if err != nil || len(names) == 0 {
		t.Fatalf("there are no classic names: %v", err)
	}
	for _, name := range names {
		if out, err := exec.Command("chroot", root, "/usr/bin/test", "-x", "/usr/lib/ibkit/bin/"+name.Name()).CombinedOutput(); err != nil {
			t.Errorf("%s leads nowhere: %v %s", name.Name(), err, out)
		}
	}
	out := command(t, "chroot", root, "/usr/lib/ibkit/bin/iblinkinfo", "--sim", "demo")
	if !strings.Contains(out, `Switch: 0x`) || !strings.Contains(out, "Could be") {
		t.Errorf("iblinkinfo shows no links:\n%s", out)
	}
	command(t, "dpkg", "--root="+root, "--purge", "ibkit")
	if now := tree(t, root); now != files {
		t.Errorf("something is left:\n%s", now)
	}
}

// scratchRoot makes a root with busybox and what dpkg needs to begin with.
func scratchRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"usr/bin", "etc", "tmp", "var/lib/dpkg/info", "var/lib/dpkg/updates"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	busybox, err := os.ReadFile("/bin/busybox")
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string]string{
		"usr/bin/busybox":         string(busybox),
		"usr/bin/groupadd":        "#!/bin/sh\necho \"$2:x:999:\" >>/etc/group\n",
		"etc/group":               "root:x:0:\n",
		"etc/passwd":              "root:x:0:0:root:/:/bin/sh\n",
		"var/lib/dpkg/status":     "",
		"var/lib/dpkg/arch":       "amd64\n",
		"var/lib/dpkg/diversions": "",
	} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(data), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sh", "grep", "test", "rm"} {
		if err := os.Symlink("busybox", filepath.Join(root, "usr/bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("usr/bin", filepath.Join(root, "bin")); err != nil {
		t.Fatal(err)
	}
	return root
}

// tree lists the files of a root but for dpkg's own and those that groups are in.
func tree(t *testing.T, root string) string {
	t.Helper()
	var list strings.Builder
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == "var/lib/dpkg", path == "var/log":
			return fs.SkipDir
		case strings.HasPrefix(path, "etc/group"), strings.HasPrefix(path, "etc/gshadow"), path == "var":
			return nil
		}
		list.WriteString(path + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.String()
}
